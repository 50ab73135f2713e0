package computer_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// An empty list equals none, a URL equals itself with ".git" or a slash at the end, and the order has no meaning.
func TestComputer_equalReposDoNotReplace(t *testing.T) {
	t.Parallel()
	repo := func(urls ...any) []any { return urls }
	for name, tc := range map[string]struct {
		before, after []any
		want          acctest.Action
	}{
		"none, then empty":   {nil, []any{}, "update"},
		"with .git":          {repo("https://git.example/acme/app"), repo("https://git.example/acme/app.git"), "none"},
		"in another order":   {repo("https://git.example/acme/app", "https://git.example/acme/tools"), repo("https://git.example/acme/tools.git", "https://git.example/acme/app/"), "none"},
		"another":            {repo("https://git.example/acme/app"), repo("https://git.example/acme/app2"), "replace"},
		"none where was one": {repo("https://git.example/acme/app"), []any{}, "replace"},
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
				p.Apply(i, with(tc.after)).MustDo(t, acctest.ActionUpdate)
				p.Plan(i, with(tc.after)).MustDo(t, acctest.ActionNone)
				for _, entry := range e.Journal().Entries() {
					if entry.Method != "GET" {
						t.Errorf("%s was sent", entry.Operation)
					}
				}
			})
		}
	}
}

// UUIDs are equal without case. The service returns lower case; the state keeps the configured spelling.
func TestComputer_idsInCapitals(t *testing.T) {
	t.Parallel()
	upper := strings.ToUpper
	original := func(e *acctest.Env) string { return makeComputer(e, map[string]any{"name": "original"}).ID }
	source := func(id string) acctest.Values {
		return acctest.Values{"name": "a", "source": map[string]any{"kind": "computer", "source_computer_id": id}}
	}
	draft := func(a, b string) acctest.Values {
		return acctest.Values{"name": "a", "source": map[string]any{"kind": "template", "template_id": "template-base", "is_listed": true,
			"software_draft": map[string]any{"workstream_id": a, "creation_session_id": b, "first_turn_id": a}}}
	}
	own := func(host string) acctest.Values {
		return acctest.Values{"name": "a", "provider_type": "byom", "host_id": host}
	}
	for name, of := range map[string]func(e *acctest.Env) (before, after, other acctest.Values){
		"host_id": func(*acctest.Env) (_, _, _ acctest.Values) { return own(upper(hostA)), own(hostA), own(hostB) },
		"source_computer_id": func(e *acctest.Env) (_, _, _ acctest.Values) {
			id := original(e)
			return source(upper(id)), source(id), source(hostB)
		},
		"software_draft": func(*acctest.Env) (_, _, _ acctest.Values) {
			return draft(upper(hostA), upper(hostB)), draft(hostA, hostB), draft(hostA, hostA)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			before, after, other := of(e)
			p, i := e.Created(t, computerType, before)
			for _, config := range []acctest.Values{before, after} {
				p.Apply(i, config).MustDo(t, acctest.ActionNone)
			}
			if name == "host_id" && i.Attribute("host_id") != upper(hostA) {
				t.Errorf("the host ID is %s", i.Attribute("host_id"))
			}
			p.Plan(i, other).MustDo(t, acctest.ActionReplace)
		})
	}
}

// The service returns the ID in lower case.
func TestComputer_importInCapitals(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := newComputer(e, map[string]any{"name": "a", "provider": "byom"})
	i := e.NewInstance(t, computerType)
	acctest.NewProcess(t, e, nil).ImportByIdentity(e.NewInstance(t, computerType), acctest.Values{"id": strings.ToUpper(made.ID)}).MustSucceed(t)
	mustImport(t, e, i, strings.ToUpper(made.ID))
	for range 2 {
		e.Apply(t, i, acctest.Values{"name": "a", "provider_type": "byom"}).MustDo(t, acctest.ActionNone)
	}
	e.Apply(t, i, acctest.Values{"name": "b", "provider_type": "byom"}).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
}
