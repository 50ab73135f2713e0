package organization

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
)

var area = areatest.New[*Client](New)

// user is the JSON of a member; more starts with a comma.
func user(id, email, more string) string {
	return fmt.Sprintf(`{"id":%q,"email":%q,"createdAt":"2026-03-01T00:00:00Z","metadata":{}%s}`, id, email, more)
}

// usersPage is a page of members; an empty cursor ends the listing.
func usersPage(next string, users ...string) string {
	return clienttest.PageOf("users", next, users)
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	const remove = "DELETE /api/v0/organization/users?email=ada%2Bci%26x%40acme.example"
	gone := `404 {"detail":"The organization has no such member.","status":404,"title":"Not Found"}`
	with, others := usersPage("", user("u1", "Ada+ci&x@acme.example", "")), usersPage("", user("u2", "ben@acme.example", ""))
	for name, tc := range map[string]struct {
		answers []string // The responses to the removal, and then to the listing.
		isGone  bool
		want    string
		calls   int
	}{
		"removed":                  {[]string{"204 "}, false, "", 1},
		"nobody":                   {[]string{gone, others}, true, "does not exist", 2},
		"answer lost":              {[]string{"drop", gone, others}, true, "does not exist", 3},
		"still listed":             {[]string{gone, with}, false, "returned 404", 2},
		"nothing to list":          {[]string{gone, gone}, false, "may still exist", 2},
		"a 404 of something else":  {[]string{"404 <html>"}, false, "returned 404", 1},
		"a page of something else": {[]string{"200 <html>", "200 <html>", "200 <html>", "200 <html>"}, false, "not JSON", 4},
		"oneself":                  {[]string{`409 {"detail":"not yourself"}`}, false, "returned 409: not yourself", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n > len(tc.answers) {
					clienttest.Say(w, "418 {}")
					return
				}
				clienttest.Say(w, tc.answers[n-1])
			})
			err := c.RemoveMember(t.Context(), "ada+ci&x@acme.example")
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) || collection.IsGone(err) != tc.isGone {
				t.Errorf("got %v, gone %v", err, collection.IsGone(err))
			}
			if calls := rec.Calls(); len(calls) != tc.calls || calls[0] != remove {
				t.Errorf("asked %v", calls)
			}
			clienttest.WantText(t, err, "removeMember")
		})
	}
}

const inviteCall = "POST /api/v0/organization/users/invite"

// invited is the service's answer to an invitation.
func invited(role, status string) string {
	return fmt.Sprintf(`200 {"email":"Ada@acme.example","role":%q,"status":%q,"new":{}}`, role, status)
}

func TestInvite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string
		status  string // Of a success.
		wantErr string
		calls   int
	}{
		"invited":                {[]string{invited("manager", "invited")}, "invited", "", 1},
		"no role":                {[]string{`200 {"email":"ada@acme.example","status":"invited","error":null}`}, "invited", "", 1},
		"the answer is lost":     {[]string{"drop", invited("manager", "already_invited")}, "already_invited", "", 2},
		"no seat":                {[]string{`200 {"email":"ada@acme.example","role":"manager","status":"error","error":"No seats left."}`}, "", "refused for ada@acme.example: No seats left.", 1},
		"an odd reason":          {[]string{`200 {"email":"ada@acme.example","role":"user","status":"error","error":{"text":"no"}}`}, "", "no explanation", 1},
		"another spelling":       {[]string{invited("Manager", "invited")}, "invited", "", 1},
		"a reason and no status": {[]string{`200 {"email":"ada@acme.example","role":"manager","status":"skipped","error":"No."}`}, "", "refused for ada@acme.example: No.", 1},
		"pending":                {[]string{invited("user", "already_invited")}, "", `kept the role "user" instead of "manager"`, 1},
		"somebody else":          {[]string{`200 {"email":"ben@acme.example","role":"manager","status":"invited"}`}, "", "contains ben@acme.example instead of ada@acme.example", 1},
		"no status":              {[]string{`200 {"email":"ada@acme.example","role":"manager"}`}, "", "the field status is missing", 1},
		"not allowed":            {[]string{`403 {"detail":"no"}`}, "", "returned 403: no", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				clienttest.Say(w, tc.answers[min(n, len(tc.answers))-1])
			})
			got, err := c.Invite(t.Context(), "ada@acme.example", RoleManager)
			if (err != nil) != (tc.wantErr != "") || err != nil && (!strings.Contains(err.Error(), tc.wantErr) || !strings.Contains(err.Error(), "inviteMember ("+inviteCall+")")) {
				t.Errorf("got %v", err)
			}
			if err == nil && got != tc.status {
				t.Errorf("got %+v", got)
			}
			if calls := rec.Calls(); len(calls) != tc.calls || calls[0] != inviteCall {
				t.Errorf("asked %v", calls)
			}
			for _, body := range rec.Bodies {
				check.Is(t, "sent", body, `{"email":"ada@acme.example","role":"manager"}`)
			}
		})
	}
}

const controlsRoute = "/api/v0/organization/enterprise-controls/history"

// change is the JSON of a change of the settings.
func change(revision int) string {
	return fmt.Sprintf(`{"revision":%d,"settings":{"sessionRetentionDays":%d},"user":{"id":"u1","email":"ada@acme.example","name":"Ada"},"updatedAt":"2026-03-01T00:00:00Z"}`, revision, revision)
}

func changesPage(next string, changes ...string) string {
	return clienttest.PageOf("changes", next, changes)
}

func revisions(changes []ControlChange) string {
	text := ""
	for _, c := range changes {
		text += fmt.Sprint(*c.Revision, " ")
	}
	return text
}

// The newest change is first in any order of the service, and each change is there once.
func TestEnterpriseControlHistory_order(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
		"GET " + controlsRoute + "?limit=100":          changesPage("a", change(7), change(9), change(8)),
		"GET " + controlsRoute + "?cursor=a&limit=100": changesPage("", change(7), change(10), change(6)),
		"GET " + controlsRoute + "?limit=1":            changesPage("", change(7), change(9)), // More than requested.
	}))
	for range 2 {
		if found, err := c.ControlHistory(t.Context(), 0, nil); err != nil || revisions(found) != "10 9 8 7 6 " {
			t.Errorf("got %s, %v", revisions(found), err)
		}
	}
	rec.WantCount(t, http.MethodGet, 2)
	if found, err := c.ControlHistory(t.Context(), 1, nil); err != nil || revisions(found) != "9 " {
		t.Errorf("the newest is %s, %v", revisions(found), err)
	}
}
