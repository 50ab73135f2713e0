package organization

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
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
	const remove = "DELETE " + membersRoute + "?email=ada%2Bci%26x%40acme.example"
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
