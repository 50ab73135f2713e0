package ci

import (
	"strings"
	"testing"
)

const someFile = ".github/workflows/a.yml"

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		accepts   func(string) bool
		good, bad []string
	}{
		"repository": {isRepository, []string{"acme/api", "Acme-1/my.repo_2", "a/b"}, []string{
			"", "acme", "acme/", "/api", "acme/api/web", "acme//api", "acme/ api", "acme/api ", " acme/api", "acme/a\tb", "acme/..", "../api", "acme/a..b", "acme/api?x=1", "acme/api%2fweb", "acme/api#a", `acme\api/x`, "acme/a\x00", "acme/a\u00a0b",
			"https://code.example/acme/api",
		}},
		"workflow": {isWorkflow, []string{someFile, ".github/workflows/a.yaml", ".github/workflows/" + strings.Repeat("a", 1002) + ".yml", ".github/workflows/a/b.yml", ".github/workflows/a b.yml"}, []string{
			"", "a.yml", "/.github/workflows/a.yml", ".github/workflows/", ".github/workflows/a", ".github/workflows/a.yml/", ".github/workflows/a.YML", ".github/workflows/a.json", ".github/workflows/../a.yml", ".github/workflows/a..yml",
			".github/a.yml", "x/.github/workflows/a.yml", ".github/workflows//a.yml", ".github/workflows/./a.yml", ".github/workflows/a\n.yml", ".github/workflows/.yml", ".github/workflows/a/.yaml", ".github/workflows/v1..2.yml", ".github/workflows/" + strings.Repeat("a", 1003) + ".yml", " .github/workflows/a.yml", ".github/workflows/a.yml ",
		}},
		"schedule":  {schedule.MatchString, []string{"", "* * * * *", "0 6 * * 1", "*/5 0-12/2 1,15 JAN-mar MON", "0  6 * * 1"}, []string{" ", " 0 6 * * 1", "0 6 * * 1 ", "0 6 * * 1\n", "0\t6 * * 1", "0 6 * *", "0 6 * * 1 2026", "@daily", "0 6 ? * 1", "every monday at six o'clock", "0 1.5 * * *"}},
		"UUID":      {isUUID, []string{"1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1B4E28BA-2FA1-41D2-883F-0016D3CCA427"}, []string{"", "1b4e28ba", "urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1b4e28ba-2fa1-41d2-883f-0016d3cca42g"}},
		"not blank": {isNotBlank, []string{"a", " a"}, []string{"", " ", "\t\n"}},
	} {
		for _, s := range tc.good {
			if !tc.accepts(s) {
				t.Errorf("%s: %q is refused", name, s)
			}
		}
		for _, s := range tc.bad {
			if tc.accepts(s) {
				t.Errorf("%s: %q is accepted", name, s)
			}
		}
	}
}
