package organization_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// bootstrap is the email address of the manager that every emulator begins with.
const bootstrap = "manager@agentyard.example"

func runSteps(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, Steps: steps})
}

func readStep(e *acctest.Env, hcl string, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{Config: e.Config(hcl), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
}

func failingStep(e *acctest.Env, hcl, want string) resource.TestStep {
	return resource.TestStep{Config: e.Config(hcl), ExpectError: regexp.MustCompile(want)}
}

// join adds a member, a minute after whoever came before, and returns its ID and API key.
func join(t *testing.T, e *acctest.Env, h emulator.Human) (id, key string) {
	t.Helper()
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	id, key, err := e.AddHuman(h)
	if err != nil {
		t.Fatal(err)
	}
	return id, key
}

// joinMany adds so many members, m0@acme.example and so on.
func joinMany(t *testing.T, e *acctest.Env, n int) {
	t.Helper()
	for i := range n {
		join(t, e, emulator.Human{Email: fmt.Sprintf("m%d@acme.example", i)})
	}
}

// asKey is a configuration with another API key.
func asKey(e *acctest.Env, key, hcl string) string {
	return fmt.Sprintf("provider \"agentyard\" {\n  base_url = %q\n  api_key  = %q\n}\n%s", e.URL(), key, hcl)
}

// serviceAccountKey is an API key of a new service account.
func serviceAccountKey(e *acctest.Env) string {
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robots"}, &account)
	var minted struct{ APIKey struct{ Value string } }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "ci"}, &minted)
	return minted.APIKey.Value
}

// oneLine is the output of a CLI without frames and line breaks.
func oneLine(output string) string {
	return regexp.MustCompile(`[\s│╷╵]+`).ReplaceAllString(output, " ")
}

const allMembers = `data "agentyard_members" "x" {}`

func membersAre(checks ...knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.agentyard_members.x", tfjsonpath.New("members"), knownvalue.ListExact(checks))
}

func withEmails(emails ...string) statecheck.StateCheck {
	var checks []knownvalue.Check
	for _, email := range emails {
		checks = append(checks, knownvalue.ObjectPartial(map[string]knownvalue.Check{"email": knownvalue.StringExact(email)}))
	}
	return membersAre(checks...)
}

var anyUser = knownvalue.StringRegexp(regexp.MustCompile(`^user_`))

func TestAccMembers_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "Ada.O'Neil+ci@Acme.example", FirstName: "Ada", LastName: "O'Neil", Metadata: map[string]any{
		"team": "core", "level": 3, "lead": true, "tags": []string{"a", "b"}, "office": nil, "": "empty",
	}})
	join(t, e, emulator.Human{Email: "ben@acme.example"})
	if err := e.Invite("cho@acme.example", ""); err != nil {
		t.Fatal(err)
	}
	none := knownvalue.MapExact(map[string]knownvalue.Check{})
	runSteps(t, e, readStep(e, allMembers, membersAre(
		knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": anyUser, "email": knownvalue.StringExact(bootstrap), "last_sign_in_at": knownvalue.StringExact("2026-03-01T12:00:00Z"), "metadata": none}),
		knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringExact(id), "email": knownvalue.StringExact("Ada.O'Neil+ci@Acme.example"), "first_name": knownvalue.StringExact("Ada"), "last_name": knownvalue.StringExact("O'Neil"),
			"created_at": knownvalue.StringExact("2026-03-01T12:01:00Z"), "last_sign_in_at": knownvalue.Null(),
			"metadata": knownvalue.MapExact(map[string]knownvalue.Check{
				"team": knownvalue.StringExact("core"), "level": knownvalue.StringExact("3"), "lead": knownvalue.StringExact("true"), "tags": knownvalue.StringExact(`["a","b"]`),
				"office": knownvalue.StringExact("null"), "": knownvalue.StringExact("empty"),
			}),
		}),
		knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": anyUser, "email": knownvalue.StringExact("ben@acme.example"), "first_name": knownvalue.Null(), "last_name": knownvalue.Null(),
			"created_at": knownvalue.StringExact("2026-03-01T12:02:00Z"), "last_sign_in_at": knownvalue.Null(), "metadata": none,
		}),
	)))
}

// All pages are read, in the order of the service, and no more of them than max_results needs.
func TestAccMembers_pages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t) // Its pages hold two.
	joinMany(t, e, 6)
	all := []string{bootstrap, "m0@acme.example", "m1@acme.example", "m2@acme.example", "m3@acme.example", "m4@acme.example", "m5@acme.example"}
	for most, tc := range map[int]struct{ found, requests int }{0: {7, 4}, 1: {1, 1}, 2: {2, 1}, 3: {3, 2}, 6: {6, 3}, 7: {7, 4}, 100: {7, 4}, 1000: {7, 4}} {
		bound := ""
		if most > 0 {
			bound = fmt.Sprintf("  max_results = %d\n", most)
		}
		cli := acctest.NewCLI(t, e, "data \"agentyard_members\" \"x\" {\n"+bound+"}\noutput \"emails\" {\n  value = join(\" \", data.agentyard_members.x.members[*].email)\n}\n")
		e.Journal().Reset()
		r := cli.MustRun("plan", "-input=false")
		if want := `emails = "` + strings.Join(all[:tc.found], " ") + `"`; !strings.Contains(r.Output, want) {
			t.Errorf("max_results %d: want %s\n%s", most, want, r.Output)
		}
		if n := e.Journal().Count("listMembers"); n != tc.requests || len(e.Journal().Entries()) != n {
			t.Errorf("max_results %d: %d requests, want %d", most, n, tc.requests)
		}
		limit := fmt.Sprint("limit=", most)
		if most == 0 || most > 100 {
			limit = "limit=100"
		}
		for _, entry := range e.Journal().Entries() {
			if !strings.HasSuffix(entry.Query, limit) {
				t.Errorf("max_results %d: asked for %s", most, entry.Query)
			}
		}
	}
}

// What others do between two runs shows up in the next one.
func TestAccMembers_drift(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 2)
	first := readStep(e, allMembers, withEmails(bootstrap, "m0@acme.example", "m1@acme.example"))
	second := readStep(e, allMembers, withEmails(bootstrap, "m1@acme.example", "new@acme.example"))
	second.PreConfig = func() {
		e.API(http.MethodDelete, "/api/v0/organization/users?email=m0%40acme.example", nil, nil)
		join(t, e, emulator.Human{Email: "new@acme.example"})
	}
	runSteps(t, e, first, second)
}

func TestAccMembers_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	runSteps(t, e,
		failingStep(e, "data \"agentyard_members\" \"x\" {\n  max_results = 0\n}", `max_results\s+value\s+must\s+be\s+at\s+least\s+1`),
		failingStep(e, "data \"agentyard_members\" \"x\" {\n  max_results = -1\n}", `at\s+least\s+1`),
	)
	_, user := join(t, e, emulator.Human{Email: "user@acme.example"})
	for name, key := range map[string]string{"a user's": user, "a service account's": serviceAccountKey(e)} {
		for hcl, what := range map[string]string{
			allMembers: "Cannot list members",
			"data \"agentyard_member\" \"x\" {\n  email = \"m0@acme.example\"\n}": "Cannot read member",
			"data \"agentyard_enterprise_control_history\" \"x\" {\n}":            "Cannot read enterprise control history",
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				runSteps(t, e, resource.TestStep{Config: asKey(e, key, hcl), ExpectError: regexp.MustCompile(what + `(.|\n)*403(.|\n)*requires\s+the\s+API\s+key\s+of\s+a\s+human`)})
			})
		}
	}
	t.Run("an unknown key", func(t *testing.T) {
		t.Parallel()
		runSteps(t, e, resource.TestStep{Config: asKey(e, "fk-unknown", allMembers), ExpectError: regexp.MustCompile(`Cannot list members(.|\n)*401(.|\n)*AGENTYARD_API_KEY`)})
	})
}

// A listing that breaks off half-way is an error, and never a short list.
func TestAccMembers_brokenListing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault emulator.Fault
		want  string
	}{
		"a circle":         {emulator.Fault{Kind: emulator.FaultRepeatedCursor, Times: -1}, `leads\s+back\s+to\s+a\s+page`},
		"second page":      {emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1, Times: -1}, `500`},
		"not JSON":         {emulator.Fault{Kind: emulator.FaultNonJSON, After: 1, Times: -1}, `not\s+JSON`},
		"something else":   {emulator.Fault{Kind: emulator.FaultOtherServer, Status: 404, After: 1, Times: -1}, `not\s+in\s+the\s+service's\s+format`},
		"no members in it": {emulator.Fault{Kind: emulator.FaultOtherAnswer, Body: `{"pagination":{"hasMore":false,"nextCursor":null}}`, After: 1}, `has\s+no\s+users`},
	} {
		for _, hcl := range []string{allMembers, "data \"agentyard_member\" \"x\" {\n  email = \"nobody@acme.example\"\n}"} {
			t.Run(name+" "+strings.Fields(hcl)[1], func(t *testing.T) {
				t.Parallel()
				e := acctest.New(t)
				joinMany(t, e, 5)
				tc.fault.Operation = "listMembers"
				e.Faults().Add(tc.fault)
				runSteps(t, e, failingStep(e, hcl, `listMembers(.|\n)*`+tc.want))
			})
		}
	}
}

// Passing faults delay a listing, and nothing else.
func TestAccMembers_passingFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []emulator.FaultKind{emulator.FaultStatusBeforeCommit, emulator.FaultDropAfterCommit, emulator.FaultTruncatedBody, emulator.FaultNonJSON, emulator.FaultRateLimited} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			joinMany(t, e, 2)
			e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: kind, After: 1})
			runSteps(t, e, readStep(e, allMembers, withEmails(bootstrap, "m0@acme.example", "m1@acme.example")))
		})
	}
}

// The emulator's lists name everybody once, so another server stands in for a service whose pages overlap.
func TestAccMembers_overlappingPages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		users, pagination := `{"id":"user_1","email":"a@acme.example","createdAt":"2026-03-01T00:00:00Z","metadata":{}}`, `{"hasMore":true,"nextCursor":"c"}`
		if r.URL.Query().Has("cursor") {
			users, pagination = users+`,{"id":"user_2","email":"b@acme.example","createdAt":"2026-03-01T00:00:00Z","metadata":{}}`, `{"hasMore":false,"nextCursor":null}`
		}
		_, _ = fmt.Fprintf(w, `{"users":[%s],"pagination":%s}`, users, pagination)
	}))
	t.Cleanup(server.Close)
	e := acctest.New(t)
	runSteps(t, e, resource.TestStep{Config: "provider \"agentyard\" {\n  base_url = \"" + server.URL + "\"\n  api_key  = \"fk-x\"\n}\n" + allMembers, ConfigStateChecks: []statecheck.StateCheck{withEmails("a@acme.example", "b@acme.example")}})
}
