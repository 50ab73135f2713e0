package ci

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

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
		"not blank": {isNotBlank, []string{"a", " a"}, []string{"", " ", "\t\n"}},
	} {
		for _, s := range tc.good {
			check.Is(t, name+" accepts "+s, tc.accepts(s), true)
		}
		for _, s := range tc.bad {
			check.Is(t, name+" accepts "+s, tc.accepts(s), false)
		}
	}
}
