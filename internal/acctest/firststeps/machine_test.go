// Package firststeps checks a newcomer's first steps: install, follow the README, and test a module.
package firststeps

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

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
	acctest.Must(t, os.Symlink(path, filepath.Join(programs, cli)))
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
		acctest.Must(t, err)
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
	acctest.Must(t, err)
	return all
}

// project returns the project's folder.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	acctest.Must(t, err)
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
	acctest.Must(t, err)
	return to
}
