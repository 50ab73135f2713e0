package organization_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// pagedSources contains the data sources with pages, and one list of each that spans three pages in the emulator.
var pagedSources = map[string]struct{ operation, list, result string }{
	"agentyard_members":                    {"listMembers", "users", "members"},
	"agentyard_enterprise_control_history": {"listEnterpriseControlHistory", "changes", "changes"},
}

// readList reads a data source and returns the length of its list.
func readList(t *testing.T, e *acctest.Env, typeName string, config acctest.Values) (int, acctest.Outcome) {
	t.Helper()
	attributes, out := acctest.NewProcess(t, e, nil).ReadData(typeName, config)
	var items []tftypes.Value
	if attributes != nil {
		acctest.Must(t, attributes[pagedSources[typeName].result].As(&items))
	}
	return len(items), out
}

// All pages are read, but no more than max_results needs.
func TestOrganization_pages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t) // Its pages hold two items.
	joinMany(t, e, 6)
	for range 4 {
		changeControls(t, e, "outputStyle", `"terse"`, "")
	}
	for typeName, source := range pagedSources {
		for most, tc := range map[int]struct{ found, requests int }{0: {7, 4}, 2: {2, 1}, 3: {3, 2}, 1000: {7, 4}} {
			config, limit := acctest.Values{"max_results": most}, fmt.Sprint("limit=", most)
			if most == 0 {
				config = nil
			}
			if most == 0 || most > 100 {
				limit = "limit=100"
			}
			e.Journal().Reset()
			if found, out := readList(t, e, typeName, config); found != tc.found || len(out.Errors) > 0 {
				t.Errorf("%s, max_results %d: %d found, want %d: %s", typeName, most, found, tc.found, out)
			}
			if n := e.Journal().Count(source.operation); n != tc.requests || len(e.Journal().Entries()) != n {
				t.Errorf("%s, max_results %d: %d requests, want %d", typeName, most, n, tc.requests)
			}
			for _, entry := range e.Journal().Entries() {
				if !strings.HasSuffix(entry.Query, limit) {
					t.Errorf("%s, max_results %d: asked for %s", typeName, most, entry.Query)
				}
			}
		}
		for _, most := range []int{0, -1} {
			_, out := readList(t, e, typeName, acctest.Values{"max_results": most})
			out.MustFail(t, "max_results", "max_results value must be at least 1")
		}
	}
}

func TestMember_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	acctest.Must(t, e.Invite("invited@acme.example", ""))
	notFound := []string{"Member Not Found", "no member with the email address", "A pending invitation is not a member yet. Check the address."}
	for email, want := range map[string][]string{
		"nobody@acme.example":  notFound,
		"invited@acme.example": notFound,
		"":                     {"email must be an email address"},
		"M0 <m0@acme.example>": {"email must be an email address"},
	} {
		_, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_member", acctest.Values{"email": email})
		out.MustFail(t, "email", want...)
	}
	_, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_member", nil)
	out.MustFail(t, "email", "required")
}
