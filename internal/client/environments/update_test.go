package environments

import (
	"context"
	"encoding/json"
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

func TestUpdateEnvironment_findsTheBuild(t *testing.T) {
	t.Parallel()
	name, script, blank := "b", "", "x\n"
	rename, build := UpdateRequest{Name: &name}, UpdateRequest{SetupScript: &script}
	present := func(more string) string { return "200 " + env("env_1", "b", more) }
	newer, older := present(`,"latestBuild":{"id":"bld_2"}`), present(`,"latestBuild":{"id":"bld_1"}`)
	const patch, get = "PATCH /env_1", "GET /env_1"
	four := []string{patch, get, get, get, get}
	for title, tc := range map[string]struct {
		body    UpdateRequest
		answer  string
		present string
		want    string
		wantErr func(error) bool
		calls   []string
	}{
		"a build":                   {body: build, answer: `200 {"id":"env_1","buildId":"bld_2","new":1}`, want: "bld_2", calls: []string{patch}},
		"a build, wrapped":          {body: build, answer: `200 {"environment":{"id":"env_1","buildId":"bld_2"}}`, want: "bld_2", calls: []string{patch}},
		"the ID in capitals":        {body: build, answer: `200 {"id":"ENV_1","buildId":"bld_2"}`, want: "bld_2", calls: []string{patch}},
		"a rename":                  {body: rename, answer: `200 {"id":"env_1"}`, calls: []string{patch}},
		"a rename that builds":      {body: rename, answer: `200 {"id":"env_1","buildId":"bld_2"}`, want: "bld_2", calls: []string{patch}},
		"a rename, null":            {body: rename, answer: `200 {"id":"env_1","buildId":null}`, calls: []string{patch}},
		"repeated":                  {body: build, answer: `200 {"id":"env_1"}`, present: newer, want: "bld_2", calls: []string{patch, get}},
		"nothing was built":         {body: build, answer: `200 {"id":"env_1"}`, present: older, calls: four},
		"nothing was ever built":    {body: build, answer: `200 {"id":"env_1"}`, present: present(""), calls: four},
		"an older one was built":    {body: build, answer: `200 {"id":"env_1"}`, present: present(`,"latestBuild":{"id":"bld_0","createdAt":1772323199000}`), calls: four},
		"no object":                 {body: build, answer: `200 {}`, present: newer, want: "bld_2", calls: []string{patch, get}},
		"nothing":                   {body: build, answer: `200 `, present: newer, want: "bld_2", calls: []string{patch, get}},
		"no content":                {body: build, answer: `204 `, present: newer, want: "bld_2", calls: []string{patch, get}},
		"null, null":                {body: build, answer: `200 {"id":null,"buildId":null}`, present: newer, want: "bld_2", calls: []string{patch, get}},
		"trimmed by the service":    {body: UpdateRequest{SetupScript: &blank}, answer: `200 {"id":"env_1"}`, present: present(`,"setupScript":"y","latestBuild":{"id":"bld_1"}`), calls: four},
		"a page":                    {body: build, answer: `200 <html>`, wantErr: clienttest.Is[*transport.TransportError], calls: []string{patch, patch, patch, patch}},
		"a build of no text":        {body: build, answer: `200 {"id":"env_1","buildId":2}`, present: newer, want: "bld_2", calls: []string{patch, get}},
		"a rename, no object":       {body: rename, answer: `200 {}`, calls: []string{patch}},
		"gone when it is read back": {body: build, answer: `200 {}`, present: `404 {"detail":"no"}`, calls: four},
		"another environment":       {body: build, answer: `200 {"id":"env_9","buildId":"bld_2"}`, wantErr: clienttest.Is[*wire.ResponseError], calls: []string{patch}},
		"refused":                   {body: build, answer: `409 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{patch}},
		"lost for good":             {body: build, answer: `drop`, wantErr: clienttest.Is[*transport.TransportError], calls: []string{patch, patch, patch, patch}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{patch: tc.answer, get: tc.present, "GET ": listed()}))
			c.conn.Service.Latest = clienttest.Start
			got, err := c.Update(t.Context(), "env_1", "bld_1", tc.body)
			if got != tc.want || !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %q, %v", got, err)
			}
			clienttest.WantText(t, err, "updateEnvironment")
			rec.Want(t, tc.calls...)
		})
	}
}

// If a response lacks the object, it is read even if the run is stopping, because the outcome must be known.
func TestEnvironments_theReadAfterAnAnswerOutlivesTheRun(t *testing.T) {
	t.Parallel()
	script := "x"
	for name, start := range clienttest.Ending(t) {
		for want, change := range map[string]func(ctx context.Context, c *Client) (string, error){
			"bld_2": func(ctx context.Context, c *Client) (string, error) {
				return c.Update(ctx, "env_1", "bld_1", UpdateRequest{SetupScript: &script})
			},
			"bld_2 ": func(ctx context.Context, c *Client) (string, error) {
				id, err := c.StartBuild(ctx, "env_1", "bld_1")
				return id + " ", err
			},
			"": func(ctx context.Context, c *Client) (string, error) { return "", c.SetDefault(ctx, "env_1") },
		} {
			ctx, end := start()
			c, _, _ := area.ServeShort(t, func(call string) string {
				record := env("env_1", "a", `,"setupScript":"x","isDefault":true,"latestBuild":{"id":"bld_2"}`)
				switch call {
				case "GET ":
					return listed(record)
				case "GET /env_1":
					return "200 " + record
				}
				end()
				return "200 {}"
			})
			if got, err := change(ctx, c); err != nil || got != want {
				t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
			}
		}
	}
}
