package organization

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

const inviteCall = "POST " + membersRoute + "/invite"

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
				if body != `{"email":"ada@acme.example","role":"manager"}` {
					t.Errorf("sent %s", body)
				}
			}
		})
	}
}

// Without a role, the request has none, and any role of the person is right.
func TestInvite_withoutARole(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string { return invited("owner", "already_invited") })
	status, err := c.Invite(t.Context(), "ada@acme.example", "")
	if err != nil || status != "already_invited" || len(rec.Bodies) != 1 || rec.Bodies[0] != `{"email":"ada@acme.example"}` {
		t.Errorf("got %q, %v; sent %s", status, err, rec.Bodies)
	}
}
