package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// layers are the packages from top to bottom. A package imports only what is in a lower layer, so there is no cycle. One that fits several
// patterns is in the lowest layer.
var layers = [][]string{
	{"."},
	{"internal/provider"},
	{"internal/service/*"},
	{"internal/framework/crud", "internal/framework/wait"},
	{"internal/framework/apierror", "internal/framework/modifier", "internal/framework/results"},
	{"internal/framework/privatestate"},
	{"internal/framework/value"},
	{"internal/framework/phrase"},
	{"internal/client"},
	{"internal/client/*"},
	{"internal/client/serviceaccounts"}, // Its accounts own computers.
	{"internal/client/create"},
	{"internal/client/collection"},
	{"internal/client/transport"},
	{"internal/client/memo", "internal/client/wire"},
	{"internal/contract", "internal/clock", "internal/runreport"},
}

// layerOf returns the layer of a package in layers, or -1 for a tool or a package for tests, which may import everything.
func layerOf(folder string) int {
	for i, layer := range slices.Backward(layers) {
		if slices.ContainsFunc(layer, func(pattern string) bool { ok, _ := path.Match(pattern, folder); return ok }) {
			return i
		}
	}
	return -1
}

func TestLayout_importsGoDown(t *testing.T) {
	t.Parallel()
	const module = "github.com/agentyard/terraform-provider-agentyard"
	eachFile(t, func(file string, _ []byte) {
		folder := path.Dir(file)
		from := layerOf(folder)
		if from < 0 || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		check.Must(t, err)
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			check.Must(t, err)
			inside, ok := strings.CutPrefix(imported, module+"/")
			if to := layerOf(inside); ok && to <= from {
				t.Errorf("%s imports %s, which is not in a lower layer", file, inside)
			}
		}
	})
}

// What runs against a real service must not know the emulator, not even through a helper.
func TestLayout_acceptanceWithoutEmulator(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "./internal/acctest/acceptance").Output()
	check.Must(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "/internal/emulator") {
			t.Errorf("internal/acctest/acceptance depends on %s", strings.TrimSpace(line))
		}
	}
}

func TestLayout_sizes(t *testing.T) {
	t.Parallel()
	packages := map[string]int{}
	eachFile(t, func(file string, text []byte) {
		lines, most := bytes.Count(text, []byte("\n")), 500
		inClient := strings.HasPrefix(file, "internal/client/") && !strings.HasSuffix(file, "_test.go")
		if inClient {
			packages[path.Dir(file)] += lines
			most = 400
		}
		if lines > most {
			t.Errorf("%s has %d lines, want at most %d", file, lines, most)
		}
	})
	for folder, lines := range packages {
		if lines > 2000 {
			t.Errorf("%s has %d lines, want at most 2000", folder, lines)
		}
	}
}

// eachFile visits the Go files of the project.
func eachFile(t *testing.T, visit func(file string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(file), text)
		return nil
	})
	check.Must(t, err)
}

// Whoever copies an example gets the newest version of the provider.
func TestLayout_examplesAcceptTheVersion(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("GNUmakefile")
	check.Must(t, err)
	version := regexp.MustCompile(`(?m)^VERSION \?= (\d+\.\d+)\.`).FindSubmatch(makefile)
	constraint := regexp.MustCompile(`source\s+= "agentyard/agentyard"\n(?:\s+version = "~> (\d+\.\d+)(?:\.0)?"\n)?`)
	examples := 0
	err = filepath.WalkDir("examples", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".tf" {
			return err
		}
		text, err := os.ReadFile(file)
		if found := constraint.FindSubmatch(text); found != nil {
			examples++
			if !bytes.Equal(found[1], version[1]) {
				t.Errorf("%s accepts version %q, but not %s", file, found[1], version[1])
			}
		}
		return err
	})
	if err != nil || examples < 20 {
		t.Errorf("%d examples with a constraint: %v", examples, err)
	}
}

func TestLayout_goInstallIsPossible(t *testing.T) {
	t.Parallel()
	if text, err := os.ReadFile("go.mod"); err != nil || bytes.Contains(text, []byte("\nreplace ")) {
		t.Error("`go install` refuses a module that replaces another", err)
	}
}
