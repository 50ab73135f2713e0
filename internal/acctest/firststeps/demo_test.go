package firststeps

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Building a CLI takes minutes, so the demo must print a message first. A failing go command ends the demo there.
func TestDemo_saysThatItBuildsACLI(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	for name, says := range map[string]string{"go": "exit 1", "terraform": "echo Terraform v1.4.9", "tofu": "echo OpenTofu v1.5.9"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+says+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tree := checkout(t)
	for name, tc := range map[string]struct {
		cli  string
		says bool
	}{
		"nothing that is new enough": {"", true},
		"a CLI by its path":          {filepath.Join(programs, "terraform"), false},
	} {
		cmd := exec.CommandContext(t.Context(), "scripts/demo.sh")
		cmd.Dir = tree
		cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "AGENTYARD_TOOLS_CACHE="+t.TempDir(), "TF_ACC_TERRAFORM_PATH="+tc.cli)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s: the demo ran without go:\n%s", name, out)
		}
		said := strings.Contains(string(out), "Building terraform-1.") && strings.Contains(string(out), "minutes on two cores") && strings.Contains(string(out), "TF_ACC_TERRAFORM_PATH")
		if said != tc.says {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
