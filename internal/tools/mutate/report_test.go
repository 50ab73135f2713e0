package main

import (
	"slices"
	"strings"
	"testing"
)

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
