package environments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
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

func TestEnvironments_readsEveryForm(t *testing.T) {
	t.Parallel()
	b, a := env("env_1", "b", `,"new":{}`), env("env_2", "a", `,"status":"asleep","scope":null,"setupScript":null,"source":null,"latestBuild":null,"lastSuccessfulBuildAt":null`)
	for name, tc := range map[string]struct {
		answer string
		want   []string
	}{
		"envelope":      {answer: `{"environments":[` + b + `,` + a + `]}`, want: []string{"env_2", "env_1"}},
		"two of a name": {answer: `[` + env("env_9", "b", "") + `,` + b + `]`, want: []string{"env_1", "env_9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": "200 " + tc.answer}))
			found, err := c.List(t.Context(), "")
			var got []string
			for _, e := range found {
				got = append(got, e.ID)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
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
				clienttest.Must(t, err)
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
	clienttest.Must(t, err)
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
				clienttest.Must(t, err)
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
			if len(rec.Calls()) != tc.calls {
				t.Errorf("asked %v", rec.Calls())
			}
		})
	}
}
