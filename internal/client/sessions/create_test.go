package sessions

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
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
		clienttest.WantCalls(t, rec, "GET /api/v0/computers/providers", "POST ")
	}
}

// A response that has the ID but not the whole session is completed by a read, and the ID is never lost.
func TestCreateSession_takesEveryAnswer(t *testing.T) {
	t.Parallel()
	const idAlone, failed = `201 {"sessionId":"s1"}`, `500 {"detail":"no"}`
	pending := "200 " + strings.Replace(ses("s1", `,"sessionSettings":{"model":"m"}`), "idle", "pending", 1)
	for name, tc := range map[string]struct {
		post, single string
		// after is how long the session is not found.
		after time.Duration
		want  string // The status, computer, and model of the result.
		err   func(error) bool
	}{
		"the record":                     {post: "201 " + strings.TrimPrefix(pending, "200 "), want: "pending 7 m"},
		"the ID alone":                   {post: idAlone, single: pending, want: "pending 7 m"},
		"wrapped":                        {post: `201 {"session":{"sessionId":"s1"}}`, single: pending, want: "pending 7 m"},
		"another shape":                  {post: `201 {"sessionId":"s1","status":{}}`, single: pending, want: "pending 7 m"},
		"it shows late":                  {post: idAlone, single: pending, after: 2 * time.Second, want: "pending 7 m"},
		"it shows too late":              {post: idAlone, single: pending, after: time.Minute, want: "idle 7 "},
		"no read succeeds":               {post: idAlone, single: failed, want: "idle 7 "},
		"what the read lacks":            {post: `201 {"sessionId":"s1","sessionSettings":{"model":"n"}}`, single: "200 " + ses("s1", ""), want: "idle 7 n"},
		"what is told, and no read":      {post: `201 {"sessionId":"s1","sessionSettings":{"model":"n"}}`, single: failed, want: "idle 7 n"},
		"another computer's":             {post: `201 {"sessionId":"s1","computerId":"8"}`, single: failed, err: clienttest.Is[*create.LostError]},
		"another computer's, and a read": {post: idAlone, single: "200 " + strings.Replace(ses("s1", ""), `"7"`, `"8"`, 1), err: clienttest.Is[*create.LostError]},
		"created long before":            {post: `201 {"sessionId":"s1","createdAt":1}`, single: failed, want: "idle 7 "},
		"no ID":                          {post: `201 {"status":"idle"}`, err: clienttest.Is[*create.LostError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveSessions(t, func(call string, at time.Duration) string {
				switch {
				case call == "POST ":
					return tc.post
				case call == listSeven:
					return sessionsPage()
				case at < tc.after:
					return noSession
				}
				return tc.single
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
				if made.ID != "s1" || got != tc.want {
					t.Errorf("got %+v, want %s", made, tc.want)
				}
			}
			if waited := clk.Now().Sub(clienttest.Start); rec.Count(http.MethodPost) != 1 || len(rec.Calls()) > 24 || waited > readPatience+10*time.Second {
				t.Errorf("asked %v in %v", rec.Calls(), waited)
			}
		})
	}
}

// A gateway whose clock is ahead responds before some creations. Their sessions are kept, and are young.
func TestCreateSession_afterAGatewayWithAnotherClock(t *testing.T) {
	t.Parallel()
	ahead := clienttest.Start.Add(10 * time.Minute).Format(http.TimeFormat)
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case n == 1:
			w.Header().Set("Date", ahead)
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>"))
		case r.Method == http.MethodPost:
			clienttest.RespondJSON(w, 201, ses(fmt.Sprintf("s%d", n), ""))
		case strings.HasSuffix(r.URL.Path, "/sessions"):
			clienttest.Say(w, sessionsPage())
		default:
			clienttest.NotFound(w)
		}
	})
	clienttest.Must(t, c.conn.CheckAccess(t.Context()))
	for range 3 {
		made, err := c.Create(t.Context(), CreateRequest{ComputerID: "7"})
		clienttest.Must(t, err)
		if _, err := c.Get(t.Context(), made.ID, "7", made.CreatedAt.Time()); !collection.IsNew(err) {
			t.Errorf("got %v", err)
		}
	}
}
