package firststeps

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module, release = "github.com/agentyard/terraform-provider-agentyard", "v0.1.0"

// releaseTo adds the project to a file-based module proxy, as a public proxy would have it after a release.
func releaseTo(t *testing.T, proxy string) {
	t.Helper()
	tree := checkout(t)
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, release+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	writer := zip.NewWriter(archive)
	err = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != tree {
				return fs.SkipDir // A separate module.
			}
			return nil
		}
		name, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := writer.Create(module + "@" + release + "/" + filepath.ToSlash(name))
		if err == nil {
			_, err = file.Write(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list": release + "\n", release + ".mod": string(mod), release + ".info": `{"Version":"` + release + `","Time":"2026-03-01T12:00:00Z"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var goInstall = regexp.MustCompile(`module=\S+\ngo install \S+@latest`)

// The lines in the READMEs and pages install the emulator without a checkout.
func TestGoInstall_emulator(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, name := range []string{"README.md", filepath.Join("internal", "emulator", "README.md"), filepath.Join("docs", "index.md"), filepath.Join("docs", "guides", "getting-started.md")} {
		text, err := os.ReadFile(filepath.Join(project(t), name))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, goInstall.FindAllString(strings.ReplaceAll(string(text), "\n    ", "\n"), -1)...)
	}
	if len(lines) != 4 || len(slices.Compact(slices.Clone(lines))) != 1 {
		t.Fatalf("the READMEs and pages say %q, want the same lines once in each", lines)
	}
	proxy := t.TempDir()
	releaseTo(t, proxy)
	m := newMachine(t)
	fetched := strings.TrimSpace(m.run(t.TempDir(), "go env GOMODCACHE")) + "/cache/download"
	// A separate module cache, so that the user's cache never contains a fake release. Trimmed paths let Go reuse the build.
	m.env = append(m.env, "GOPROXY=file://"+proxy+",file://"+fetched, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off")
	out := m.run(t.TempDir(), lines[0]+"\n\"$HOME/go/bin/agentyard-emulator\" -version\n\"$HOME/go/bin/agentyard-emulator\" -- env")
	if !strings.Contains(out, "agentyard-emulator 0.1.0\n") || !strings.Contains(out, "\nAGENTYARD_BASE_URL=http://127.0.0.1:") {
		t.Errorf("the installed emulator:\n%s", out)
	}
}
