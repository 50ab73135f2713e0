package acctest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Mirror installs the provider in these versions in a new folder, for Terraform and OpenTofu. It returns the path of a CLI
// configuration that allows no other installation source.
func Mirror(t testing.TB, versions ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		for _, version := range versions {
			dir := filepath.Join(root, host, "agentyard", "agentyard", version, runtime.GOOS+"_"+runtime.GOARCH)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(ProviderBinary(t), filepath.Join(dir, "terraform-provider-agentyard")); err != nil {
				t.Fatal(err)
			}
		}
	}
	config := filepath.Join(root, "cli.tfrc")
	if err := os.WriteFile(config, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+root+"\"\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// Shell runs a script in the working folder, like a user who types it and answers every question with yes. The CLI is
// available as terraform, and OpenTofu also as tofu. Programs are the paths of additional programs.
func (c *CLI) Shell(script string, programs ...string) Result {
	c.t.Helper()
	bin := c.t.TempDir()
	links := map[string]string{"terraform": c.path}
	if IsOpenTofu() {
		links["tofu"] = c.path
	}
	for _, program := range programs {
		links[filepath.Base(program)] = program
	}
	for name, program := range links {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			c.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), cliTimeout)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Stdin = yes{}
	cmd.Env = append(append([]string{}, c.env...), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return c.start(cmd, cancel).Wait()
}

// yes answers every question.
type yes struct{}

func (yes) Read(p []byte) (int, error) { return copy(p, "yes\n"), nil }
