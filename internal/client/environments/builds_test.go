package environments

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// status is the service's status of an environment's latest build.
func status(id, build string) string {
	return fmt.Sprintf(`{"environmentId":%q,"environmentStatus":%q,"latestBuild":{"id":"bld_1","status":%q,"truncated":false,"withheld":false}}`, id, StatusBuilding, build)
}

// statuses handles a request for build statuses, except for hidden ones.
func statuses(call string, hidden ...string) string {
	address, err := url.Parse(strings.TrimPrefix(call, "GET "))
	if err != nil {
		return err.Error()
	}
	var found []string
	for _, id := range address.Query()["environmentIds"] {
		if !slices.Contains(hidden, id) {
			found = append(found, status(id, "queued"))
		}
	}
	slices.Reverse(found) // The order is not defined.
	return `200 {"builds":[` + strings.Join(found, ",") + `]}`
}

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("env_%03d", i)
	}
	return ids
}

func TestBuildStatuses_inChunks(t *testing.T) {
	t.Parallel()
	for n, requests := range map[int][]int{0: nil, 1: {1}, 100: {100}, 101: {100, 1}, 250: {100, 100, 50}} {
		ids := numbered(n)
		slices.Reverse(ids)
		c, rec, _ := area.ServeShort(t, func(call string) string { return statuses(call, "env_000") })
		found, err := c.BuildStatuses(t.Context(), "sa_1", ids)
		var got []string
		for _, s := range found {
			got = append(got, s.EnvironmentID)
		}
		if want := ids[:max(0, n-1)]; err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: got %v, %v, want %v", n, got, err, want)
		}
		var sent []int
		for _, r := range rec.Requests {
			q := r.URL.Query()
			sent = append(sent, len(q["environmentIds"]))
			if r.URL.Path != environmentsRoute+"/build-statuses" || q.Get("serviceAccountId") != "sa_1" {
				t.Errorf("asked %s", r.URL)
			}
		}
		check.Is(t, fmt.Sprint("requests for ", n), sent, requests)
	}
}

func TestWatchBuild_oneAlone(t *testing.T) {
	t.Parallel()
	built := env("env_1", "a", `,"status":"failed","latestBuild":{"id":"bld_2","status":"failed","excerpt":"e","truncated":true,"withheld":true}`)
	for name, tc := range map[string]struct {
		statuses, alone string
		want            BuildStatus
		wantErr         func(error) bool
		calls           int
	}{
		"told":              {statuses: `200 {"builds":[` + status("env_1", "queued") + `]}`, want: BuildStatus{"env_1", "building", Build{ID: "bld_1", Status: "queued"}}, calls: 1},
		"left out":          {statuses: `200 {"builds":[]}`, alone: "200 " + built, want: BuildStatus{"env_1", "failed", Build{ID: "bld_2", Status: "failed", Excerpt: "e", Truncated: true, Withheld: true}}, calls: 2},
		"left out, unbuilt": {statuses: `200 {"builds":[]}`, alone: "200 " + env("env_1", "a", `,"status":"ready"`), want: BuildStatus{EnvironmentID: "env_1", EnvironmentStatus: "ready"}, calls: 2},
		"refused":           {statuses: `403 {"detail":"no"}`, alone: "200 " + built, want: BuildStatus{"env_1", "failed", Build{ID: "bld_2", Status: "failed", Excerpt: "e", Truncated: true, Withheld: true}}, calls: 2},
		"gone":              {statuses: `200 {"builds":[]}`, alone: `404 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: 2},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET /build-statuses?environmentIds=env_1": tc.statuses, "GET /env_1": tc.alone}))
		got, err := c.WatchBuild("env_1").Next(t.Context(), time.Second)
		if !clienttest.IsA(err, tc.wantErr) || err == nil && !reflect.DeepEqual(*got, tc.want) || len(rec.Calls()) != tc.calls {
			t.Errorf("%s: got %+v, %v after %v", name, got, err, rec.Calls())
		}
	}
}

func TestCancelBuild(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string // The last one is repeated.
		wantErr func(error) bool
		posts   int
	}{
		"cancelled":          {answers: []string{"204 "}, posts: 1},
		"not running":        {answers: []string{`409 {"detail":"no"}`}, wantErr: clienttest.Is[*transport.APIError], posts: 1},
		"lost, and done":     {answers: []string{"drop", `409 {"detail":"no"}`}, posts: 2},
		"lost, and not done": {answers: []string{"drop", "204 "}, posts: 2},
	} {
		n := 0
		c, rec, _ := area.ServeShort(t, func(call string) string {
			if call == "GET " {
				return listed()
			}
			n++
			return tc.answers[min(n, len(tc.answers))-1]
		})
		if err := c.CancelBuild(t.Context(), "env/1", "bld_1"); !clienttest.IsA(err, tc.wantErr) {
			t.Errorf("%s: got %v", name, err)
		}
		if calls := rec.Calls(); len(calls) != tc.posts || calls[0] != "POST /env%2F1/builds/bld_1/cancel" {
			t.Errorf("%s: asked %v", name, calls)
		}
	}
}

// Diagnostics without a known field are not those of a build without a result.
func TestBuildDiagnostics_lacksEverything(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(string) string { return `200 {"data":{"buildId":"b1"}}` })
	_, err := c.BuildDiagnostics(t.Context(), "e1", "b1")
	check.Fails(t, err, "none of the fields buildId, status, and excerpt")
	_, err = c.BuildDiagnostics(t.Context(), "e1", "")
	check.Fails(t, err, "none of the fields")
	_, err = c.BuildStatuses(t.Context(), "", []string{"e1"})
	check.Fails(t, err, "the field builds is missing")
}
