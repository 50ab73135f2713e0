package sessions

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestCreateSession_sendsOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]CreateRequest{
		`{"computerId":"7"}`: {ComputerID: "7", Settings: &Settings{}},
		`{"computerId":"7","sessionSettings":{"tags":[{"name":"b","metadata":{}}]}}`: {ComputerID: "7", Settings: &Settings{Tags: []Tag{{Name: "b", Metadata: wire.Metadata{}}}}},
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
		check.Is(t, "sent", rec.Bodies[len(rec.Bodies)-1], want)
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

// A new session is not found at first, so its update is retried.
func TestUpdateSession(t *testing.T) {
	t.Parallel()
	const patched = `,"sessionSettings":{"model":"m"}`
	for name, tc := range map[string]struct {
		answer  string
		from    time.Duration // When the response starts; 404 before.
		list    []string
		alone   string
		status  int
		fails   string
		waited  time.Duration
		patches int
	}{
		"at once":                       {answer: "200 " + ses("s1", patched), patches: 1},
		"when it shows":                 {answer: "200 " + ses("s1", patched), from: 2 * time.Second, waited: 2 * time.Second, patches: 2},
		"never found":                   {from: time.Hour, status: 404, waited: notFoundPatience, patches: 6},
		"refused":                       {answer: `403 {"detail":"no"}`, status: 403, patches: 1},
		"answered with nothing":         {answer: "200 ", list: []string{ses("s1", patched)}, alone: ses("s1", ""), patches: 1},
		"answered with another session": {answer: "200 " + ses("s2", patched), fails: "s2 instead of s1", patches: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveSessions(t, func(call string, at time.Duration) string {
				switch {
				case call == "PATCH /s1" && at < tc.from:
					return noSession
				case call == "PATCH /s1":
					return tc.answer
				case call == listSeven:
					return sessionsPage(tc.list...)
				case call == getOne && tc.alone != "":
					return "200 " + tc.alone
				}
				return noSession
			})
			got, err := c.Update(t.Context(), "s1", "7", &Settings{Model: new("m")})
			if (err == nil) != (tc.status == 0 && tc.fails == "") || transport.StatusOf(err) != tc.status || err != nil && !strings.Contains(err.Error(), tc.fails) || err == nil && got.ID != "s1" {
				t.Errorf("got %+v, %v", got, err)
			}
			if waited := clk.Now().Sub(clienttest.Start); waited != tc.waited || rec.Count(http.MethodPatch) != tc.patches {
				t.Errorf("waited %v, sent %d times", waited, rec.Count(http.MethodPatch))
			}
		})
	}
}

func TestDeleteSession(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer    string
		from      time.Duration // When the response starts; 404 before.
		elsewhere bool          // It is found only without its computer.
		isGone    bool
		status    int
		waited    time.Duration
		deletions int // With the computer, and without it after a 404.
	}{
		"at once":                  {answer: "204 ", deletions: 1},
		"when it shows":            {answer: "204 ", from: 2 * time.Second, waited: 2 * time.Second, deletions: 3},
		"gone":                     {from: time.Hour, isGone: true, waited: notFoundPatience, deletions: 12},
		"its computer is":          {answer: "204 ", elsewhere: true, from: time.Hour, deletions: 2},
		"refused":                  {answer: `403 {"detail":"no"}`, status: 403, deletions: 1},
		"a page of another server": {answer: "404 <html>", status: 404, deletions: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveSessions(t, func(call string, at time.Duration) string {
				switch {
				case at < tc.from && (call == "DELETE /s1?computerId=7" || call == "DELETE /s1" && !tc.elsewhere):
					return noSession
				case strings.HasPrefix(call, "DELETE"):
					return tc.answer
				}
				return sessionsPage(ses("s0", ""))
			})
			_, _ = c.List(t.Context(), "7", 0) // A cached listing does not prove that a session is gone.
			err := c.Delete(t.Context(), "s1", "7")
			if collection.IsGone(err) != tc.isGone || !tc.isGone && transport.StatusOf(err) != tc.status || (err == nil) != (tc.status == 0 && !tc.isGone) {
				t.Errorf("got %v", err)
			}
			if waited := clk.Now().Sub(clienttest.Start); waited != tc.waited || rec.Count(http.MethodDelete) != tc.deletions {
				t.Errorf("waited %v, sent %d times", waited, rec.Count(http.MethodDelete))
			}
		})
	}
}

// A 404 for the second attempt at a deletion means that the first one succeeded and its response was lost.
func TestDeleteSession_responseIsLost(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"drop", `503 {"detail":"later"}`} {
		deletions := 0
		c, rec, _ := serveSessions(t, func(string, time.Duration) string {
			if deletions++; deletions == 1 {
				return first
			}
			return noSession
		})
		if err := c.Delete(t.Context(), "s1", "7"); err != nil || rec.Count(http.MethodDelete) != len(rec.Requests) {
			t.Errorf("%s: %v, after %d requests", first, err, len(rec.Requests))
		}
	}
}

func TestSessionWrites_interrupted(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(ctx context.Context, c *Client) error{
		"update": func(ctx context.Context, c *Client) error {
			_, err := c.Update(ctx, "s1", "7", &Settings{Model: new("m")})
			return err
		},
		"delete":    func(ctx context.Context, c *Client) error { return c.Delete(ctx, "s1", "7") },
		"interrupt": func(ctx context.Context, c *Client) error { _, err := c.Interrupt(ctx, "s1"); return err },
		"read with settings": func(ctx context.Context, c *Client) error {
			_, err := c.GetNow(ctx, "s1", "7")
			return err
		},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		c, rec, _ := serveSessions(t, func(string, time.Duration) string {
			interrupt()
			return noSession
		})
		if err := write(ctx, c); !errors.Is(err, context.Canceled) || collection.IsGone(err) || len(rec.Requests) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(rec.Requests))
		}
	}
}

// A session that a lost request may have created matches the request and is untouched. A session with more than was requested
// is somebody else's, unless that may be a default.
func TestCreateSessionRequest_isWanted(t *testing.T) {
	t.Parallel()
	model := &Settings{Model: new("m")}
	whole := &Settings{
		Model: new("m"), Tags: []Tag{{Name: "a"}}, Worktree: &Worktree{RepoRoot: "/r"}, EnabledToolIDs: []string{"x", "y"}, ArchivedAt: new("2026-03-01T00:00:00Z"),
		SetupProfileID: new("p"), ProviderLock: new("l"), AllowSubagentsInScripts: new(true),
	}
	for name, tc := range map[string]struct {
		asked, has *Settings
		session    Session
		want       bool
	}{
		"nothing":                {want: true},
		"pending":                {session: Session{Status: StatusPending}, want: true},
		"running":                {session: Session{Status: StatusRunning}},
		"a title":                {session: Session{Title: "t"}},
		"a subagent's":           {session: Session{ParentSessionID: "s0"}},
		"another computer":       {session: Session{ComputerID: "8"}},
		"other settings":         {asked: model, has: &Settings{Model: new("n")}},
		"what was asked for":     {asked: model, has: model, want: true},
		"all that was asked for": {asked: whole, has: whole, want: true},
		"defaults": {has: &Settings{
			Model: new("m"), ReasoningEffort: new("high"), InteractionMode: new("auto"), AutonomyLevel: new("low"), SpecModeModel: new("n"), SpecModeReasoningEffort: new("low"),
			CompactionModel: new("current-model"), ToolExecutionMode: new("direct_only"), AutonomyMode: new("auto-low"),
		}, want: true},
		"empty": {has: &Settings{
			Tags: []Tag{}, EnabledToolIDs: []string{}, DisabledToolIDs: []string{}, RestrictToolIDs: []string{}, SetupProfileID: new(""), AllowSubagentsInScripts: new(false),
		}, want: true},
		"tags":       {has: &Settings{Tags: []Tag{{Name: "a"}}}},
		"a worktree": {asked: model, has: &Settings{Model: new("m"), Worktree: &Worktree{RepoRoot: "/r"}}},
		"archived":   {has: &Settings{ArchivedAt: new("2026-03-01T00:00:00Z")}},
		"subagents":  {has: &Settings{AllowSubagentsInScripts: new(true)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.session
			s.Status, s.ComputerID, s.Settings = cmp.Or(s.Status, StatusIdle), cmp.Or(s.ComputerID, "7"), tc.has
			check.Is(t, "is wanted", (CreateRequest{ComputerID: "7", Settings: tc.asked}).isWanted(&s), tc.want)
		})
	}
}
