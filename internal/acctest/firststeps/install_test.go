package firststeps

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

const providers = `terraform {
  required_providers {
    agentyard = {
      source = "agentyard/agentyard"
    }
  }
}
`

// The installed provider is found without settings or network, and in child modules too. Uninstalling leaves all other
// files.
func TestAccInstall_initOfOnesOwnModules_everyCLI(t *testing.T) {
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
		check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.Must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	before := append(files(t, data), files(t, filepath.Join(m.home, "go"))...)

	m.run(project(t), "make install")
	out := m.run(module, cli+" init -input=false && PATH=$PATH:$(go env GOPATH)/bin && agentyard-emulator -version && agentyard-emulator -- "+cli+" apply -auto-approve -input=false")
	check.Says(t, out, "agentyard v2.3.4", "agentyard-emulator 2.3.4", "1 added, 0 changed, 0 destroyed")
	// Another build of the same version has a different checksum than the lock file.
	m.run(project(t), "GOFLAGS=-tags=again make install")
	m.run(module, "! "+cli+" init -input=false && rm .terraform.lock.hcl && "+cli+" init -input=false")
	m.run(project(t), "make uninstall")
	check.Is(t, "left after make uninstall", append(files(t, data), files(t, filepath.Join(m.home, "go"))...), before)
}

// Installing over the user's files fails as a whole. Uninstalling removes neither these files nor a folder that existed
// before, even if it is empty.
func TestInstall_leavesWhatItDidNotMake_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	m := newMachine(t, "XDG_CONFIG_HOME="+t.TempDir()) // Go stores counters there.
	tree := project(t)
	emulator := filepath.Join(m.home, "go", "bin", "agentyard-emulator")
	share := filepath.Join(m.home, ".local", "share")
	mirrored := filepath.Join(share, "terraform", "plugins", "registry.opentofu.org", "agentyard", "agentyard", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-agentyard")
	unchanged := func(before []string, what string) {
		t.Helper()
		check.Is(t, what+" leaves", files(t, m.home), before)
	}
	says := func(out, want string) {
		t.Helper()
		check.Says(t, out, want)
	}

	before := files(t, m.home)
	m.run(tree, "make install uninstall")
	unchanged(before, "an empty home")
	says(m.run(tree, "make uninstall"), "Nothing is installed")

	for _, mine := range []string{emulator, mirrored} {
		check.Must(t, os.MkdirAll(filepath.Dir(mine), 0o700))
		check.Must(t, os.WriteFile(mine, []byte("mine"), 0o600))
		before = files(t, m.home)
		out := m.run(tree, "! make install")
		says(out, mine+" exists")
		says(out, "Nothing was installed. Move")
		m.run(tree, "make uninstall")
		unchanged(before, "a refused installation")
		if content, err := os.ReadFile(mine); err != nil || string(content) != "mine" {
			t.Errorf("%s is %q %v", mine, content, err)
		}
		check.Must(t, os.Remove(mine))
	}

	// Existing empty folders, and an identical emulator that the user installed.
	m.run(tree, "rm -r "+share+"/terraform && go build -trimpath -ldflags '-s -w -X main.version=0.1.0' -o "+emulator+" ./internal/emulator/cmd/agentyard-emulator")
	before = files(t, m.home)
	says(m.run(tree, "make install uninstall"), emulator+" is up to date")
	unchanged(before, "an emulator of the user's own")

	// The tag changes the binaries.
	out := m.run(tree, "rm "+emulator+" && make install && GOFLAGS=-tags=again make install")
	check.Is(t, "installations of the emulator", strings.Count(out, "Installed "+emulator), 2)
	says(m.run(tree, "echo mine >"+emulator+" && make uninstall"), "Kept "+emulator)
	unchanged(before, "an emulator that the user has changed")
}
