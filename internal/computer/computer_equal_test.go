package computer_test

import (
	"maps"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// An empty list equals none, and a URL equals itself with ".git" or a slash at the end.
func TestComputer_equalReposDoNotReplace(t *testing.T) {
	t.Parallel()
	repo := func(urls ...any) []any { return urls }
	for name, tc := range map[string]struct {
		before, after []any
		want          string
	}{
		"none, then empty":    {nil, []any{}, "update"},
		"empty, then none":    {[]any{}, nil, "update"},
		"with .git":           {repo("https://git.example/acme/app"), repo("https://git.example/acme/app.git"), "none"},
		"without the slash":   {repo("https://git.example/acme/app/"), repo("https://git.example/acme/app"), "none"},
		"another":             {repo("https://git.example/acme/app"), repo("https://git.example/acme/app2"), "replace"},
		"one more":            {repo("https://git.example/acme/app"), repo("https://git.example/acme/app", "https://git.example/acme/tools"), "replace"},
		"first, where none":   {[]any{}, repo("https://git.example/acme/app"), "replace"},
		"none where was one":  {repo("https://git.example/acme/app"), []any{}, "replace"},
		"in a different case": {repo("https://git.example/acme/app"), repo("https://git.example/acme/App"), "replace"},
	} {
		for typeName, config := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(1)} {
			t.Run(typeName+"/"+name, func(t *testing.T) {
				t.Parallel()
				with := func(repos []any) acctest.Values {
					c := maps.Clone(config)
					if repos != nil {
						c["repos"] = repos
					}
					return c
				}
				e := acctest.New(t)
				p, i := e.Created(t, typeName, with(tc.before))
				p.Plan(i, with(tc.after)).MustDo(t, tc.want)
				if tc.want != "update" {
					return
				}
				e.Journal().Reset()
				p.Apply(i, with(tc.after)).MustDo(t, "update")
				p.Plan(i, with(tc.after)).MustDo(t, "none")
				for _, entry := range e.Journal().Entries() {
					if entry.Method != "GET" {
						t.Errorf("%s was sent", entry.Operation)
					}
				}
			})
		}
	}
}
