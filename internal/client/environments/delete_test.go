package environments

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

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
			if tc.wantErr != nil && slices.Contains(tc.deletes, busy) && !tc.gone && !strings.Contains(err.Error(), "deleteEnvironment (DELETE /api/v0/environments/{environmentId}) returned 409: no; canceling the build failed: ") {
				t.Errorf("the error does not name the refusal: %v", err)
			}
			rec.Want(t, tc.calls...)
		})
	}
}
