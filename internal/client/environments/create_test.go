package environments

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

var aCreation = CreateRequest{Name: "ci", Scope: ScopeUser, Repositories: []Repository{{URL: "u", Script: "s"}}}

func TestCreateEnvironment_sendsOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]CreateRequest{
		`{"name":"ci","scope":"user","repositories":[{"url":"u","script":"s"}]}`: aCreation,
		`{"name":"ci","repositories":[]}`:                                        {Name: "ci", Repositories: []Repository{}},
		`{"name":"ci","scope":"organization","repositories":[{"url":"u","script":"s"}],"setupScript":"x","sourceId":"src_1","makeOrganizationDefault":true}`: {Name: "ci", Scope: ScopeOrganization, Repositories: aCreation.Repositories, SetupScript: "x", SourceID: "src_1", MakeOrganizationDefault: true},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": listed(), "POST ": `201 {"id":"env_1","buildId":"bld_1"}`}))
		made, err := c.Create(t.Context(), body)
		check.Must(t, err)
		check.Is(t, "sent", rec.Bodies[len(rec.Bodies)-1], want)
		if made.ID != "env_1" || made.Name != body.Name || made.Scope != body.Scope || !slices.Equal(made.Repositories, body.Repositories) || made.SetupScript != body.SetupScript || made.LatestBuildID() != "bld_1" {
			t.Errorf("made %+v", made)
		}
	}
}

// Which environments have the name, and which of them a lost creation may have made. create.TestNamed proves what follows from it.
func TestCreateEnvironment_whatItMayHaveMade(t *testing.T) {
	t.Parallel()
	const asked, mine, shared = `,"repositories":[{"url":"u","script":"s"}]`, `,"scope":"user"`, `,"scope":"organization"`
	anyScope, sourced := aCreation, aCreation
	anyScope.Scope, sourced.SourceID = "", "src_1"
	for there, tc := range map[string]struct {
		body              CreateRequest
		hasName, isWanted bool
	}{
		asked + mine:                             {aCreation, true, true},
		asked + shared:                           {aCreation, false, false},
		asked:                                    {aCreation, true, true}, // The scope is not told.
		asked + shared + `,"new":1`:              {anyScope, true, true},
		mine:                                     {aCreation, true, false}, // Without the repositories.
		asked + mine + `,"setupScript":"theirs"`: {aCreation, true, false},
		asked + mine + `,"source":{"id":"src_1"}`: {sourced, true, true},
		asked + mine + `,"source":{"id":"src_2"}`: {sourced, true, false},
		asked + mine + `,"source":null`:           {sourced, true, false},
	} {
		var e Environment
		check.Must(t, json.Unmarshal([]byte(env("env_1", "ci", there)), &e))
		check.Is(t, there, []bool{tc.body.hasName(&e), tc.body.hasName(&e) && tc.body.isWanted(&e)}, []bool{tc.hasName, tc.isWanted})
	}
}

// Neither another scope's environment nor one that was not asked for is taken for the lost one, and each listing is read anew.
func TestCreateEnvironment_lost(t *testing.T) {
	t.Parallel()
	there := []string{env("env_shared", "ci", `,"repositories":[{"url":"u","script":"s"}],"scope":"organization"`)}
	c, rec, _ := area.ServeShort(t, func(call string) string {
		if call == "POST " {
			there = append(there, env("env_theirs", "ci", `,"scope":"user"`))
			return "drop"
		}
		return listed(there...)
	})
	_, err := c.List(t.Context(), "sa_1")
	check.Must(t, err)
	_, err = c.Create(t.Context(), aCreation)
	check.Is(t, "lost", clienttest.Is[*create.LostError](err), true)
	rec.WantCount(t, http.MethodPost, 1)
	before := len(rec.Calls())
	_, err = c.List(t.Context(), "sa_1")
	check.Must(t, err)
	check.Is(t, "listings of the account", len(rec.Calls())-before, 1)
}
