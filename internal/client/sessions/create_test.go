package sessions

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestCreateSession_sendsOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]CreateRequest{
		`{"computerId":"7"}`: {ComputerID: "7", Settings: &Settings{}},
		`{"computerId":"7","cwd":"/work","sessionSettings":{"model":"m","tags":[],"enabledToolIds":[]},"systemPrompt":"be brief"}`: {
			ComputerID: "7", Cwd: "/work", Settings: &Settings{Model: new("m"), Tags: []Tag{}, EnabledToolIDs: []string{}}, SystemPrompt: &SystemPrompt{Text: new("be brief")},
		},
		`{"computerId":"7","sessionSettings":{"tags":[{"name":"a","metadata":{"k":"v"}},{"name":"b","metadata":{}}],"worktree":{"repoRoot":"/r"},"compactionThresholdCheckEnabled":false,"toolExecutionMode":"direct_only","allowSubagentsInScripts":false},` +
			`"systemPrompt":{"type":"preset","preset":"agent","append":"and be kind"}}`: {
			ComputerID: "7", SystemPrompt: &SystemPrompt{Append: new("and be kind")},
			Settings: &Settings{
				Tags: []Tag{{Name: "a", Metadata: wire.Metadata{"k": "v"}}, {Name: "b", Metadata: wire.Metadata{}}}, Worktree: &Worktree{RepoRoot: "/r"},
				CompactionThresholdCheckEnabled: new(false), ToolExecutionMode: new("direct_only"), AllowSubagentsInScripts: new(false),
			},
		},
	} {
		c, rec, _ := serveSessions(t, func(call string, _ time.Duration) string {
			if call == "POST " {
				return "201 " + ses("s1", "")
			}
			return `200 {"providers":[]}` // The first request is for the service's time.
		})
		made, err := c.Create(t.Context(), body)
		if err != nil || made.ID != "s1" {
			t.Fatalf("got %+v, %v", made, err)
		}
		if sent := rec.Bodies[len(rec.Bodies)-1]; sent != want {
			t.Errorf("sent %s\nwant %s", sent, want)
		}
		rec.Want(t, "GET /api/v0/computers/providers", "POST ")
	}
}

// A response that has the ID but not the whole session is enough: the next refresh reads the rest.
func TestCreateSession_takesEveryAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		post string
		want string // The status, computer, and model of the result.
		err  func(error) bool
	}{
		"the record":         {post: "201 " + strings.Replace(ses("s1", `,"sessionSettings":{"model":"m"}`), "idle", "pending", 1), want: "pending 7 m"},
		"the ID alone":       {post: `201 {"sessionId":"s1"}`, want: "idle 7 "},
		"another computer's": {post: `201 {"sessionId":"s1","computerId":"8"}`, err: clienttest.Is[*create.LostError]},
		"no ID":              {post: `201 {"status":"idle"}`, err: clienttest.Is[*create.LostError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serveSessions(t, func(call string, _ time.Duration) string {
				if call == "POST " {
					return tc.post
				}
				return sessionsPage()
			})
			_ = c.conn.CheckAccess(t.Context()) // Its response has the service's time.
			made, err := c.Create(t.Context(), CreateRequest{ComputerID: "7"})
			if !clienttest.IsA(err, tc.err) {
				t.Fatalf("got %+v, %v", made, err)
			}
			if err == nil {
				got := made.Status + " " + made.ComputerID + " "
				if made.Settings != nil {
					got += *made.Settings.Model
				}
				if made.ID != "s1" || got != tc.want || made.CreatedAt.Time().IsZero() {
					t.Errorf("got %+v, want %s", made, tc.want)
				}
			}
			rec.WantCount(t, http.MethodPost, 1)
		})
	}
}

// After a lost response, neither a subagent's session nor one on another computer is taken for the new one.
func TestCreateSession_isFoundAfterALoss(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		listed []string
		want   string // The new session, or the ones in the error.
		err    func(error) bool
	}{
		"among others":       {listed: []string{ses("s1", ""), ses("sub", `,"parent_session_id":"s0"`), strings.Replace(ses("away", ""), `"7"`, `"8"`, 1)}, want: "s1"},
		"others alone":       {listed: []string{ses("sub", `,"parent_session_id":"s0"`)}, err: clienttest.Is[*create.LostError]},
		"the listing breaks": {err: clienttest.Is[*create.LostError]},
	} {
		lost := false
		c, _, _ := serveSessions(t, func(call string, _ time.Duration) string {
			switch {
			case call == "POST ":
				lost = true
				return "drop"
			case lost && tc.listed == nil:
				return `403 {"detail":"no"}`
			}
			return sessionsPage(tc.listed...)
		})
		made, err := c.Create(t.Context(), CreateRequest{ComputerID: "7"})
		if !clienttest.IsA(err, tc.err) || err == nil && made.ID != tc.want || err != nil && strings.Contains(err.Error(), "sub") {
			t.Errorf("%s: got %+v, %v", name, made, err)
		}
	}
}
