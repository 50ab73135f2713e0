package environments

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

var area = areatest.New[*Client](New)

const environmentsRoute = "/api/v0/environments"

// env is the JSON of an environment; more starts with a comma.
func env(id, name, more string) string {
	return fmt.Sprintf(`{"id":%q,"name":%q,"repositories":[],"createdAt":%d%s}`, id, name, clienttest.Start.UnixMilli(), more)
}

func listed(environments ...string) string {
	return `200 {"environments":[` + strings.Join(environments, ",") + `]}`
}

func TestEnvironments_tellsTheDefault(t *testing.T) {
	t.Parallel()
	const yes, no = `,"isDefault":true`, `,"isDefault":false`
	for name, tc := range map[string]struct {
		first, second string // The fields of two environments.
		envelope      string
		want          string // The default, and the resulting values of the two.
	}{
		"envelope":                      {envelope: `,"defaultEnvironmentId":"env_2"`, want: "env_2 false true"},
		"isDefault":                     {first: no, second: yes, want: "env_2 false true"},
		"the envelope says another one": {first: yes, envelope: `,"defaultEnvironmentId":"env_2"`, want: "env_2 true true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := `[` + env("env_1", "a", tc.first) + `,` + env("env_2", "b", tc.second) + `]`
			forms := []string{`{"environments":` + list + tc.envelope + `}`}
			if tc.envelope == "" {
				forms = append(forms, list)
			}
			for _, form := range forms {
				c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": "200 " + form}))
				found, err := c.List(t.Context(), "")
				check.Must(t, err)
				id, err := c.Default(t.Context(), "")
				if got := fmt.Sprint(id, " ", *found[0].IsDefault, *found[1].IsDefault); err != nil || got != tc.want {
					t.Errorf("got %s, %v, want %s", got, err, tc.want)
				}
				rec.Want(t, "GET ")
			}
		})
	}
}

// shown returns the fields of an environment that a state may have.
func shown(t *testing.T, e *Environment) string {
	t.Helper()
	text, err := json.Marshal(e)
	check.Must(t, err)
	return string(text)
}

func TestEnvironment_showsTheSameHoweverItWasRead(t *testing.T) {
	t.Parallel()
	build := func(status, more string) string {
		return `,"latestBuild":{"id":"bld_1","status":"` + status + `","truncated":false,"withheld":false,"createdAt":1` + more + `}`
	}
	const detail, why = `,"excerpt":"log","failureReason":"r","failureCategory":"timeout"`, `,"failureReason":"why"`
	for name, tc := range map[string]struct {
		alone, inListing string
		want             string // A part of the shown fields.
	}{
		"failed":                        {`,"status":"failed","isDefault":true` + why + build("failed", detail), `,"status":"failed","isDefault":true` + build("failed", ""), `"excerpt":"log"`},
		"still ready after a failure":   {`,"status":"ready","isDefault":true` + why + build("failed", detail), `,"status":"ready","isDefault":true` + build("failed", ""), `"failureReason":"why"`},
		"the default, not told alone":   {`,"status":"ready"`, `,"status":"ready","isDefault":true`, `"isDefault":true`},
		"failed, default not told":      {`,"status":"failed"` + why, `,"status":"failed","isDefault":true`, `"isDefault":true`},
		"no response names the default": {`,"status":"ready"`, `,"status":"ready"`, `"isDefault":false`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
				"GET /env_1": "200 " + env("env_1", "a", tc.alone), "GET ": listed(env("env_1", "a", tc.inListing), env("env_2", "b", "")),
			}))
			var got []string
			for range 2 { // The first read is a single one, and the second one is a listing.
				e, err := c.Get(t.Context(), "env_1")
				check.Must(t, err)
				got = append(got, shown(t, e))
			}
			if got[0] != got[1] || !strings.Contains(got[0], tc.want) {
				t.Errorf("alone   %s\nlisted  %s\nwant in %s", got[0], got[1], tc.want)
			}
		})
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	failed := env("env_1", "a", `,"status":"failed"`)
	for name, tc := range map[string]struct {
		alone   string
		want    string
		wantErr func(error) bool
		calls   int
	}{
		"failed":              {alone: "200 " + env("env_1", "a", `,"status":"failed","failureReason":"why"`), want: "why", calls: 2},
		"recovered meanwhile": {alone: "200 " + env("env_1", "a", `,"status":"ready"`), calls: 2},
		"gone meanwhile":      {alone: `404 {"detail":"no"}`, wantErr: collection.IsGone, calls: 2},
		"another environment": {alone: "200 " + env("env_2", "a", ""), wantErr: clienttest.Is[*wire.ResponseError], calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, func(call string) string {
				if call != "GET " {
					return tc.alone
				}
				return `200 {"environments":[` + failed + `],"defaultEnvironmentId":"env_1"}`
			})
			found, err := c.List(t.Context(), "")
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			e, err := c.Complete(t.Context(), &found[0])
			if !clienttest.IsA(err, tc.wantErr) || collection.IsGone(err) != strings.HasPrefix(name, "gone mean") {
				t.Errorf("got %v", err)
			}
			if err == nil && (e.FailureReason != tc.want || !*e.IsDefault) {
				t.Errorf("got %+v", e)
			}
			check.Is(t, "requests", len(rec.Calls()), tc.calls)
		})
	}
}

// The response names the build that the request started, or none.
func TestEnvironments_theBuildOfAChange(t *testing.T) {
	t.Parallel()
	var script *string
	for _, change := range []struct {
		call, operation string
		send            func(c *Client) (string, error)
	}{
		{"PATCH /env_1", "updateEnvironment", func(c *Client) (string, error) {
			return c.Update(t.Context(), "env_1", "", UpdateRequest{SetupScript: &script})
		}},
		{"POST /env_1/builds", "createEnvironmentBuild", func(c *Client) (string, error) { return c.StartBuild(t.Context(), "env_1", "bld_0") }},
	} {
		for name, tc := range map[string]struct {
			answers []string // The last one is repeated.
			want    string
			wantErr func(error) bool
			calls   int
		}{
			"a build":             {answers: []string{`200 {"id":"env_1","buildId":"bld_2","new":1}`}, want: "bld_2", calls: 1},
			"the build itself":    {answers: []string{`200 {"id":"bld_2","status":"queued"}`}, calls: 1},
			"no content":          {answers: []string{`204 `}, calls: 1},
			"another environment": {answers: []string{`200 {"id":"env_9","buildId":"bld_2"}`}, wantErr: clienttest.Is[*wire.ResponseError], calls: 1},
			"a conflict":          {answers: []string{`409 {"detail":"no"}`}, wantErr: transport.IsConflict, calls: 1},
			"lost":                {answers: []string{"drop", `200 {"id":"env_1"}`}, calls: 2},
		} {
			n := 0
			c, rec, _ := area.ServeShort(t, func(call string) string {
				if call != change.call {
					return "200 " + env("env_1", "ci", `,"latestBuild":{"id":"bld_0","status":"succeeded"}`)
				}
				n++
				return tc.answers[min(n, len(tc.answers))-1]
			})
			got, err := change.send(c)
			if calls := rec.Calls(); got != tc.want || !clienttest.IsA(err, tc.wantErr) || n != tc.calls {
				t.Errorf("%s of %s: got %q, %v after %v", name, change.call, got, err, calls)
			}
			clienttest.WantText(t, err, change.operation)
		}
	}
}

// If the response names no build, the environment shows which one was started.
func TestEnvironments_aStartedBuildThatIsNotNamed(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(call string) string {
		if strings.HasPrefix(call, "GET ") {
			return "200 " + env("env_1", "ci", `,"latestBuild":{"id":"bld_1","status":"building"}`)
		}
		return "204 "
	})
	if build, err := c.StartBuild(t.Context(), "env_1", "bld_0"); build != "bld_1" || err != nil {
		t.Errorf("got %q, %v", build, err)
	}
	rec.Want(t, "POST /env_1/builds", "GET /env_1")
}

// A build whose response was lost runs if the service refuses another and shows a newer one. An update is refused for other reasons.
func TestEnvironments_refusedAfterALostAnswer(t *testing.T) {
	t.Parallel()
	n := 0
	c, _, _ := area.ServeShort(t, func(call string) string {
		if strings.HasPrefix(call, "GET ") {
			return "200 " + env("env_1", "ci", `,"latestBuild":{"id":"bld_1","status":"building"}`)
		}
		if n++; n%2 == 1 {
			return "drop"
		}
		return `409 {"detail":"a build runs"}`
	})
	if build, err := c.StartBuild(t.Context(), "env_1", "bld_0"); build != "bld_1" || err != nil {
		t.Errorf("a build: got %q, %v", build, err)
	}
	if build, err := c.StartBuild(t.Context(), "env_1", "bld_1"); build != "" || !transport.IsConflict(err) {
		t.Errorf("the build before runs: got %q, %v", build, err)
	}
	if _, err := c.Update(t.Context(), "env_1", "", UpdateRequest{Repositories: []Repository{}}); !transport.IsConflict(err) {
		t.Errorf("an update: got %v", err)
	}
}

const busy = `409 {"detail":"no"}`

func TestDeleteEnvironment(t *testing.T) {
	t.Parallel()
	const del, get, list, cancel = "DELETE /env_1", "GET /env_1", "GET ", "POST /env_1/builds/bld_1/cancel"
	record := func(more string) string { return "200 " + env("env_1", "a", `,"isDefault":false`+more) }
	building := record(`,"status":"building","latestBuild":{"id":"bld_1","status":"dreaming"}`)
	ready := record(`,"status":"ready","latestBuild":{"id":"bld_1","status":"succeeded"}`)
	for name, tc := range map[string]struct {
		deletes []string // The last response of each list is repeated.
		reads   []string
		lists   []string
		cancel  string
		wantErr func(error) bool
		gone    bool
		calls   []string
	}{
		"deleted":                         {deletes: []string{"204 "}, calls: []string{del}},
		"lost, and done":                  {deletes: []string{"drop", `404 {"detail":"no"}`}, wantErr: collection.IsGone, gone: true, calls: []string{del, del}},
		"gone":                            {deletes: []string{`404 {"detail":"no"}`}, wantErr: collection.IsGone, gone: true, calls: []string{del}},
		"building":                        {deletes: []string{busy, "204 "}, reads: []string{building}, cancel: "204 ", calls: []string{del, get, cancel, del}},
		"building, and it has just ended": {deletes: []string{busy, "204 "}, reads: []string{building}, cancel: busy, calls: []string{del, get, cancel, del}},
		"building, and not to be stopped": {deletes: []string{busy}, reads: []string{building}, cancel: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{del, get, cancel}},
		"building, and it ends later":     {deletes: []string{busy, busy, "204 "}, reads: []string{building}, cancel: "204 ", calls: []string{del, get, cancel, del, del}},
		"the default, until the others are gone": {
			deletes: []string{busy, busy, "204 "}, reads: []string{strings.Replace(building, "false", "true", 1)}, cancel: "204 ", calls: []string{del, get, list, del, get, list, cancel, del},
			lists: []string{listed(env("env_1", "a", ""), env("env_2", "b", `,"scope":"organization"`)), listed(env("env_1", "a", ""), env("env_3", "c", `,"scope":"user"`))},
		},
		"gone meanwhile":             {deletes: []string{busy, `404 {"detail":"no"}`}, reads: []string{`404 {"detail":"no"}`}, wantErr: collection.IsGone, gone: true, calls: []string{del, get, del}},
		"409, and the cause is gone": {deletes: []string{busy, "204 "}, reads: []string{ready}, calls: []string{del, get, del}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := func(of *[]string) string {
				answer := (*of)[0]
				if len(*of) > 1 {
					*of = (*of)[1:]
				}
				return answer
			}
			c, rec, _ := area.ServeShort(t, func(call string) string {
				switch call {
				case del:
					return next(&tc.deletes)
				case get:
					return next(&tc.reads)
				case list:
					return next(&tc.lists)
				}
				return tc.cancel
			})
			err := c.Delete(t.Context(), "env_1")
			if !clienttest.IsA(err, tc.wantErr) || collection.IsGone(err) != tc.gone {
				t.Errorf("got %v", err)
			}
			if tc.wantErr != nil && slices.Contains(tc.deletes, busy) && !tc.gone {
				check.Fails(t, err, "deleteEnvironment (DELETE /api/v0/environments/{environmentId}) returned 409: no; canceling the build failed: ")
			}
			rec.Want(t, tc.calls...)
		})
	}
}

func TestEnvironment_failure(t *testing.T) {
	t.Parallel()
	failed := &Environment{Status: StatusFailed, FailureReason: "make: exit 2", LatestBuild: &Build{FailureCategory: "validation"}}
	check.Is(t, "the failure", failed.Failure(), "failed: validation")
	failed.Status = StatusReady
	check.Is(t, "the failure", failed.Failure(), "")
}

var aCreation = CreateRequest{Name: "ci", Scope: ScopeUser, Repositories: []Repository{{URL: "u", Script: "s"}}}

func TestCreateEnvironment_sendsOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]CreateRequest{
		`{"name":"ci","scope":"user","repositories":[{"url":"u","script":"s"}]}`: aCreation,
		`{"name":"ci","repositories":[]}`:                                        {Name: "ci", Repositories: []Repository{}},
		`{"name":"ci","scope":"organization","repositories":[{"url":"u","script":"s"}],"setupScript":"x","sourceId":"src_1","makeOrganizationDefault":true}`: {Name: "ci", Scope: ScopeOrganization, Repositories: aCreation.Repositories, SetupScript: "x", SourceID: "src_1", MakeOrganizationDefault: true},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": listed(), "POST ": `201 {"environment":{"id":"env_1","buildId":"bld_1"}}`}))
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
		e.isListed = true
		check.Is(t, there, []bool{tc.body.hasName(&e), tc.body.hasName(&e) && tc.body.isWanted(&e)}, []bool{tc.hasName, tc.isWanted})
	}
}

// A renamed environment has its new name in its scope, and its old name is free at once.
func TestCreateEnvironment_afterARename(t *testing.T) {
	t.Parallel()
	made := 0
	c, rec, _ := area.ServeShort(t, func(call string) string {
		switch call {
		case "GET ":
			return listed()
		case "POST ":
			made++
			return fmt.Sprintf(`201 {"id":"env_%d"}`, made)
		}
		return `200 {"id":"env_1"}`
	})
	creates := func(name, scope string) error {
		_, err := c.Create(t.Context(), CreateRequest{Name: name, Scope: scope})
		return err
	}
	check.Must(t, creates("old", ScopeUser))
	name := "new"
	_, err := c.Update(t.Context(), "env_1", ScopeUser, UpdateRequest{Name: &name})
	check.Must(t, err)
	check.Must(t, creates("old", ScopeUser))
	check.Must(t, creates("new", ScopeOrganization))
	check.Must(t, creates("by default", ""))
	check.Must(t, creates("by default", ScopeUser)) // Only the service knows whether that is the default.
	rec.Want(t, "GET ", "POST ", "PATCH /env_1", "POST ", "POST ", "POST ", "POST ")
	var exists *create.ExistsError
	if err := creates("new", ScopeUser); !errors.As(err, &exists) || exists.Found[0].Object != "environment" {
		t.Errorf("got %v", err)
	}
}

// Each field of the request distinguishes a lost creation from another one, except the default, which may have changed since.
func TestCreateEnvironment_eachFieldTellsWhatItMade(t *testing.T) {
	t.Parallel()
	made := aCreation.requested(&Change{ID: "env_1"})
	for field := range reflect.TypeFor[CreateRequest]().Fields() {
		other := aCreation
		switch at := reflect.ValueOf(&other).Elem().FieldByIndex(field.Index).Addr().Interface().(type) {
		case *string:
			*at = "other"
		case *bool:
			*at = !*at
		case *[]Repository:
			*at = nil
		default:
			t.Errorf("%s has a new type", field.Name)
		}
		isTold := !other.hasName(made) || !other.isWanted(made)
		check.Is(t, "another "+field.Name+" shows another environment", isTold, field.Name != "MakeOrganizationDefault")
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
