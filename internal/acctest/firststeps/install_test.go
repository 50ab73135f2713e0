package firststeps

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const providers = `terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}
`

// What is installed is found without a setting, without network, and for child modules too. Uninstalling it leaves what
// else is there.
func TestAccInstall_initOfOnesOwnModules(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	m, cli := newMachineWithCLI(t, "XDG_DATA_HOME="+data, "VERSION=2.3.4")
	others := []string{
		filepath.Join(data, "terraform", "plugins", "registry.terraform.io", "agentyard", "agentyard", "0.0.9", "linux_amd64", "terraform-provider-agentyard"),
		filepath.Join(m.home, "go", "bin", "another-program"),
	}
	module := t.TempDir()
	child := filepath.Join(module, "modules", "robot")
	for path, content := range map[string]string{
		others[0]: "another version", others[1]: "another program",
		filepath.Join(child, "main.tf"):  providers + "variable \"name\" {}\nresource \"agentyard_service_account\" \"robot\" {\n  name = var.name\n}\n",
		filepath.Join(module, "main.tf"): strings.Replace(providers, `"agentyard/agentyard"`, "\"agentyard/agentyard\"\n      version = \"~> 2.3\"", 1) + "module \"robot\" {\n  source = \"./modules/robot\"\n  name   = \"ada\"\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := append(files(t, data), files(t, filepath.Join(m.home, "go"))...)

	m.run(project(t), "make install")
	out := m.run(module, cli+" init -input=false && PATH=$PATH:$(go env GOPATH)/bin agentyard-emulator -- "+cli+" apply -auto-approve -input=false")
	for _, want := range []string{"agentyard v2.3.4", "1 added, 0 changed, 0 destroyed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not contain %q:\n%s", want, out)
		}
	}
	m.run(project(t), "make uninstall")
	if after := append(files(t, data), files(t, filepath.Join(m.home, "go"))...); !slices.Equal(after, before) {
		t.Errorf("left after make uninstall:\n%s\nwant:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}
