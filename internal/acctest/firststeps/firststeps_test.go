// Package firststeps checks a newcomer's first steps: install, follow the README, and test a module.
package firststeps

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// cliCommand matches the CLI's name where the README uses it as a command.
	cliCommand = regexp.MustCompile(`(?m)(^|-- )terraform `)
)

// commands returns the README's commands, from the installation to its end, by block.
func commands(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(project(t), "README.md"))
	check.Must(t, err)
	_, rest, found := strings.Cut(string(readme), "\n## Quick start with the emulator\n")
	if !found {
		t.Fatal("the README has no quick start")
	}
	var blocks []string
	for _, match := range shellBlock.FindAllStringSubmatch(rest, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// The README works as written, from top to bottom, right after a clone.
func TestAccREADME_quickStart_everyCLI(t *testing.T) {
	t.Parallel()
	m, cli := newMachineWithCLI(t)
	tree := checkout(t)
	m.run(tree, "git init -q && git add -A")
	wants := []string{"Plan: 3 to add", "Apply complete! Resources: 3 added", "Destroy complete! Resources: 3 destroyed", "Removed "}
	if acctest.HasTestFiles(t) {
		wants = append(wants, "Success! 5 passed, 0 failed.")
	}
	var script strings.Builder
	for _, block := range commands(t) {
		if strings.Contains(block, "terraform test") && !acctest.HasTestFiles(t) {
			continue
		}
		script.WriteString(cliCommand.ReplaceAllString(block, "${1}"+cli+" "))
		// The files left in the tree contain a key, so Git must ignore them.
		script.WriteString("\nif git -C '" + tree + "' status --porcelain -uall | grep '^??'; then echo 'not ignored by git'; exit 9; fi\n")
	}
	out := m.run(tree, script.String())
	check.Says(t, out, wants...)
	// The tree and the home folder are as before, except for files of Go and the CLI.
	check.Is(t, "left in the tree", m.run(tree, "git status --porcelain -uall --ignored | grep -v '^A ' || true"), "")
	for _, path := range files(t, m.home) {
		check.Lacks(t, path, "agentyard")
	}
}

// The module's tests pass with the commands in its README, after what make install does.
func TestAccAgentPool_tests_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsTestFiles(t)
	m, cli := newMachineWithModules(t)
	pool, readme := agentPool(t)
	block := shellBlock.FindStringSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no commands")
	}
	out := m.run(pool, withEmulator+cliCommand.ReplaceAllString(block[1], "${1}"+cli+" "))
	check.Says(t, out, "Success! 20 passed, 0 failed.")
}

// The example in the module's README works unchanged, except for the module's path.
func TestAccAgentPool_README(t *testing.T) {
	t.Parallel()
	m, cli := newMachineWithModules(t)
	pool, readme := agentPool(t)
	block := regexp.MustCompile("(?s)```terraform\n(.*?)```").FindStringSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no example")
	}
	config := regexp.MustCompile(`source = "github[^"]*"`).ReplaceAllLiteralString(block[1], `source = "./pool"`)
	root := t.TempDir()
	script := cli + " apply -auto-approve\n" + cli + " plan -detailed-exitcode\n"
	for _, member := range []string{"avery", "blake"} {
		script = "agentyard-emulator control POST humans '{\"email\":\"" + member + "@agentyard.example\",\"role\":\"user\"}'\n" + script
	}
	for name, text := range map[string]string{"main.tf": config, "run.sh": script} {
		check.Must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	check.Must(t, os.Symlink(pool, filepath.Join(root, "pool")))
	out := m.run(root, withEmulator+cli+" init\nagentyard-emulator -- bash -eu run.sh")
	check.Says(t, out, "Apply complete! Resources: 6 added")
	for name, pattern := range map[string]string{"variables.tf": `variable "(\w+)"`, "outputs.tf": `output "(\w+)"`} {
		text, err := os.ReadFile(filepath.Join(pool, name))
		check.Must(t, err)
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			check.Says(t, readme, "| `"+match[1]+"` |")
		}
	}
}

// agentPool returns a copy of the module and its README.
func agentPool(t *testing.T) (folder, readme string) {
	t.Helper()
	folder = filepath.Join(checkout(t), "examples", "modules", "agent-pool")
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	check.Must(t, err)
	return folder, string(text)
}

// withEmulator adds the emulator that newMachineWithModules installed to a script's PATH.
const withEmulator = "export PATH=$PATH:$HOME/go/bin\n"

// newMachineWithModules returns a machine with the provider, the emulator, and a CLI.
func newMachineWithModules(t *testing.T) (m *machine, cli string) {
	t.Helper()
	mirror := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		dir := filepath.Join(mirror, host, "agentyard", "agentyard", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH)
		check.Must(t, os.MkdirAll(dir, 0o700))
		check.Must(t, os.Symlink(acctest.ProviderBinary(t), filepath.Join(dir, "terraform-provider-agentyard")))
	}
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	check.Must(t, os.WriteFile(config, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n"), 0o600))
	m, cli = newMachineWithCLI(t, "TF_CLI_CONFIG_FILE="+config)
	m.run(project(t), "go install ./internal/emulator/cmd/agentyard-emulator")
	return m, cli
}

// patience stops a command that hangs, so that the test fails with its output.
const patience = 8 * time.Minute

// machine is a user's computer that has only what Go has already downloaded and built. It has no network, so any request for
// a registry or another module fails.
type machine struct {
	t    *testing.T
	home string
	env  []string
}

// newMachineWithCLI returns a machine with the CLI under test, and the CLI's name on the PATH.
func newMachineWithCLI(t *testing.T, env ...string) (m *machine, cli string) {
	t.Helper()
	path := os.Getenv(acctest.EnvCLI)
	if path == "" {
		t.Fatalf("%s is not set; run the tests with `make test`, which builds the CLIs", acctest.EnvCLI)
	}
	cli = "terraform"
	if acctest.IsOpenTofu() {
		cli = "tofu"
	}
	programs := t.TempDir()
	check.Must(t, os.Symlink(path, filepath.Join(programs, cli)))
	return newMachine(t, append(env, "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))...), cli
}

func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	m := &machine{t: t, home: t.TempDir()}
	m.env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		for _, prefix := range []string{"AGENTYARD_", "TF_", "XDG_", "GOBIN=", "GOPATH=", "HOME="} {
			if strings.HasPrefix(variable, prefix) {
				return true
			}
		}
		return false
	})
	m.env = append(m.env, "HOME="+m.home, "CHECKPOINT_DISABLE=1", "TF_CLI_ARGS=-no-color", "HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "GOPROXY=off", "GOTELEMETRY=off")
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		check.Must(t, err)
		m.env = append(m.env, name+"="+strings.TrimSpace(string(value)))
	}
	m.env = append(m.env, env...)
	return m
}

// run runs a script in a folder and returns its output.
func (m *machine) run(dir, script string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, m.env
	cmd.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("%s\n%v\n%s", script, err, output.String())
	}
	return output.String()
}

// files lists all files and folders in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	check.Must(t, err)
	return all
}

// project returns the project's folder.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	check.Must(t, err)
	return dir
}

// checkout copies the project without build and test output.
func checkout(t *testing.T) string {
	t.Helper()
	from, to := project(t), t.TempDir()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && !entry.IsDir(): // The file in a work tree.
			return nil
		case entry.IsDir() && slices.Contains([]string{".git", ".terraform", "acceptance-report", "acceptance-report-emulator", "bin", "dist", "stubs"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !entry.Type().IsRegular() || strings.Contains(name, ".tfstate") || strings.Contains(name, ".lock.hcl"):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, info.Mode())
	})
	check.Must(t, err)
	return to
}

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
