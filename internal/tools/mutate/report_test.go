package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, line string
		column     int
		want       string
	}{
		"a boundary":              {"CONDITIONALS_BOUNDARY", "\tif a <= b {", 7, "if a < b {"},
		"a shorter operator":      {"CONDITIONALS_BOUNDARY", "\tif a < b {", 7, "if a <= b {"},
		"a negation":              {"CONDITIONALS_NEGATION", "\tif a == b && c == d {", 17, "if a == b && c != d {"},
		"beside letters in UTF-8": {"ARITHMETIC_BASE", `x := "ä" + y`, 11, `x := "ä" - y`},
		"a step":                  {"INCREMENT_DECREMENT", "\t\ti++", 4, "i--"},
	} {
		if got, err := change(tc.kind, tc.line, tc.column); err != nil || got != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tc.want)
		}
	}
	if got, err := change("INVERT_LOGICAL", "a && b", 3); err == nil {
		t.Errorf("a change that is not known became %q", got)
	}
}

func TestParseSurvivors(t *testing.T) {
	t.Parallel()
	const one = "internal/a/a.go\n- if x > 0 {\n+ if x >= 0 {\nNothing follows\nfrom it."
	got, err := parseSurvivors("# What this is.\n\n" + one + "\n\n" + one + "\n")
	if want := (mutant{file: "internal/a/a.go", before: "if x > 0 {", after: "if x >= 0 {"}); err != nil || !slices.Equal(got, []mutant{want, want}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{
		"internal/a/a.go\n- if x > 0 {\n+ if x >= 0 {",
		"internal/a/a.go\nif x > 0 {\n+ if x >= 0 {\nWhy.",
		"internal/a/a.go\n- if x > 0 {\nif x >= 0 {\nWhy.",
	} {
		if got, err := parseSurvivors(text); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
	if _, err := parseSurvivors(survivors); err != nil {
		t.Errorf("survivors.txt: %v", err)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	a := mutant{file: "internal/p/a.go", before: "if x > 0 {", after: "if x >= 0 {"}
	b := mutant{file: "internal/p/a.go", before: "if y > 0 {", after: "if y <= 0 {"}
	with := func(status string, times int, m mutant) []mutant {
		m.status = status
		return slices.Repeat([]mutant{m}, times)
	}
	for name, tc := range map[string]struct {
		found  [][]mutant
		listed []mutant
		ok     bool
		says   []string
	}{
		"all are killed":               {[][]mutant{with(killed, 20, b)}, nil, true, []string{"20 killed, 0 survived, 0 timed out: 100.0 % of 20 killed. 0 do not compile."}},
		"one survived as listed":       {[][]mutant{with(killed, 19, b), with("LIVED", 1, a)}, []mutant{a}, true, []string{"19 killed, 1 survived, 0 timed out: 95.0 % of 20"}},
		"one survived and another":     {[][]mutant{with(killed, 19, b), with("LIVED", 1, a)}, []mutant{b}, false, []string{"Survived and is not listed: internal/p/a.go\n- if x > 0 {\n+ if x >= 0 {\n", "Listed and did not survive: internal/p/a.go\n- if y"}},
		"two are listed, one survived": {[][]mutant{with(killed, 99, b), with("LIVED", 1, a)}, []mutant{a, a}, false, []string{"Listed and did not survive"}},
		"one was met by no test":       {[][]mutant{with(killed, 99, b), with("NOT COVERED", 1, a)}, nil, false, []string{"1 survived", "Survived and is not listed"}},
		"too many are listed":          {[][]mutant{with(killed, 18, b), with("LIVED", 1, a)}, []mutant{a}, false, []string{"94.7 %", "p: fewer than 95 % are killed."}},
		"some do not compile":          {[][]mutant{with(killed, 19, b), with(notViable, 9, a)}, nil, true, []string{"100.0 % of 19 killed. 9 do not compile."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if ok := report(&out, "p", slices.Concat(tc.found...), tc.listed); ok != tc.ok {
				t.Errorf("report is %t, want %t", ok, tc.ok)
			}
			for _, want := range tc.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q lacks %q", out.String(), want)
				}
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"p/a.go":      "package p\n\n\tif x > 0 {\n",
		"result.json": `{"files": [{"file_name": "a.go", "mutations": [{"type": "CONDITIONALS_BOUNDARY", "status": "LIVED", "line": 3, "column": 7}]}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read("result.json", "p")
	if want := (mutant{file: "p/a.go", before: "if x > 0 {", after: "if x >= 0 {", status: "LIVED"}); err != nil || !slices.Equal(got, []mutant{want}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The go command that gremlins finds answers it as gremlins expects.
func TestShim(t *testing.T) {
	t.Parallel()
	shim, err := filepath.Abs("path")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) int {
		cmd := exec.CommandContext(t.Context(), filepath.Join(shim, "go"), args...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "PATH="+shim+":"+os.Getenv("PATH"), "GOFLAGS=", "GOWORK=off")
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("m_test.go", "package m\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fail()\n\t}\n}\n")

	write("m.go", "package m\n\nfunc one() int { return 1 }\n")
	profile := filepath.Join(module, "profile")
	if code := run("test", "-cover", "-coverprofile", profile, "./..."); code != 0 {
		t.Errorf("with a profile: exit code %d", code)
	}
	if got, err := os.ReadFile(profile); err != nil || string(got) != "mode: set\nm/m.go:1.1,1000000.1 1 1\n" {
		t.Errorf("the profile is %q, %v", got, err)
	}
	if code := run("test", "m"); code != 0 {
		t.Errorf("tests that pass: exit code %d", code)
	}
	write("m.go", "package m\n\nfunc one() int { return 2 }\n")
	if code := run("test", "m"); code != 1 {
		t.Errorf("a test that fails: exit code %d", code)
	}
	write("m.go", "package m\n\nfunc one() int { return \"1\" }\n")
	if code := run("test", "m"); code != 2 {
		t.Errorf("code that does not compile: exit code %d", code)
	}
	if code := run("version"); code != 0 {
		t.Errorf("another command: exit code %d", code)
	}
}
