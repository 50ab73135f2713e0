package computer_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

const (
	computerType = "agentyard_computer"
	fleetType    = "agentyard_computer_fleet"

	hostA  = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	hostB  = "2c5f39cb-3fb2-42e3-994f-1127e4ddb538"
	nobody = "00000000-0000-4000-8000-000000000000"
)

// computerJSON contains the fields of a computer that the tests check in the emulator.
type computerJSON struct {
	ID, Name, Status, HostID, RemoteUser, OwnerID, OwnerPrincipalKind string
	ClonedRepoDirectories                                             []string
}

func computers(e *acctest.Env) []computerJSON {
	return acctest.Rows[computerJSON](e, "/api/v0/computers?includeUnlisted=true", "computers")
}

func computerNames(e *acctest.Env) []string {
	var names []string
	for _, c := range computers(e) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

func only(t *testing.T, e *acctest.Env) computerJSON {
	t.Helper()
	return check.Only(t, computers(e))
}

// newComputer creates a computer outside Terraform.
func newComputer(e *acctest.Env, body map[string]any) computerJSON {
	var made computerJSON
	e.API(http.MethodPost, "/api/v0/computers", body, &made)
	return made
}

// makeComputer creates a computer and returns it when it is active.
func makeComputer(e *acctest.Env, body map[string]any) computerJSON {
	made := newComputer(e, body)
	if e.Clock != nil {
		e.Clock.Advance(provisioned)
	}
	return made
}

// deleteComputers deletes computers by name outside Terraform.
func deleteComputers(e *acctest.Env, names ...string) {
	for _, c := range computers(e) {
		if slices.Contains(names, c.Name) {
			e.API(http.MethodDelete, "/api/v0/computers/"+c.ID, nil, nil)
		}
	}
}

// mustSay fails the test unless a plan has an action and warns with all parts.
func mustSay(t testing.TB, out acctest.Outcome, action acctest.Action, parts ...string) {
	t.Helper()
	out.MustDo(t, action)
	check.Says(t, out.WarningText(), parts...)
}

func imported(t *testing.T, e *acctest.Env, typeName, id string) *acctest.Instance {
	t.Helper()
	i := e.NewInstance(t, typeName)
	acctest.NewProcess(t, e, nil).Import(i, id).MustSucceed(t)
	return i
}

// withComputer starts an emulator with an active computer.
func withComputer(t *testing.T) (*acctest.Env, computerJSON) {
	t.Helper()
	e := acctest.New(t)
	return e, makeComputer(e, map[string]any{"name": "a"})
}
