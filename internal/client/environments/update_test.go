package environments

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestUpdateEnvironmentRequest(t *testing.T) {
	t.Parallel()
	text, empty, blank := "x", "", "x\n"
	repositories := []Repository{{URL: "u", Script: "s"}}
	for want, tc := range map[string]struct {
		body            UpdateRequest
		isEmpty, builds bool
	}{
		`{}`:                    {UpdateRequest{}, true, false},
		`{"name":"x"}`:          {UpdateRequest{Name: &text}, false, false},
		`{"name":""}`:           {UpdateRequest{Name: &empty}, false, false},
		`{"setupScript":"x"}`:   {UpdateRequest{SetupScript: &text}, false, true},
		`{"setupScript":"x\n"}`: {UpdateRequest{SetupScript: &blank}, false, true},
		`{"repositories":[{"url":"u.git/","script":"s "}]}`: {UpdateRequest{Repositories: []Repository{{URL: "u.git/", Script: "s "}}}, false, true},
		`{"setupScript":null}`:                              {UpdateRequest{SetupScript: &empty}, false, true},
		`{"sourceId":"x"}`:                                  {UpdateRequest{SourceID: &text}, false, true},
		`{"sourceId":""}`:                                   {UpdateRequest{SourceID: &empty}, false, true},
		`{"repositories":[]}`:                               {UpdateRequest{Repositories: []Repository{}}, false, true},
		`{"repositories":[{"url":"u","script":"s"}]}`:       {UpdateRequest{Repositories: repositories}, false, true},
		`{"name":"x","repositories":[{"url":"u","script":"s"}],"sourceId":"x","setupScript":null}`: {UpdateRequest{Name: &text, Repositories: repositories, SourceID: &text, SetupScript: &empty}, false, true},
	} {
		sent, err := json.Marshal(tc.body)
		if err != nil || string(sent) != want || tc.body.IsEmpty() != tc.isEmpty || tc.body.Builds() != tc.builds {
			t.Errorf("%s: sent %s, empty %t, builds %t, %v", want, sent, tc.body.IsEmpty(), tc.body.Builds(), err)
		}
	}
}

// The response names the build that the request started, or none.
func TestEnvironments_theBuildOfAChange(t *testing.T) {
	t.Parallel()
	script := ""
	for _, change := range []struct {
		call, operation string
		send            func(c *Client) (string, error)
	}{
		{"PATCH /env_1", "updateEnvironment", func(c *Client) (string, error) {
			return c.Update(t.Context(), "env_1", UpdateRequest{SetupScript: &script})
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
			c, rec, _ := area.ServeShort(t, func(string) string { n++; return tc.answers[min(n, len(tc.answers))-1] })
			got, err := change.send(c)
			if calls := rec.Calls(); got != tc.want || !clienttest.IsA(err, tc.wantErr) || len(calls) != tc.calls || calls[0] != change.call {
				t.Errorf("%s of %s: got %q, %v after %v", name, change.call, got, err, calls)
			}
			clienttest.WantText(t, err, change.operation)
		}
	}
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
	if _, err := c.StartBuild(t.Context(), "env_1", "bld_1"); !transport.IsConflict(err) {
		t.Errorf("the build before runs: got %v", err)
	}
	if _, err := c.Update(t.Context(), "env_1", UpdateRequest{Repositories: []Repository{}}); !transport.IsConflict(err) {
		t.Errorf("an update: got %v", err)
	}
}
