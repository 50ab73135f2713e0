package environments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestSetDefaultEnvironment(t *testing.T) {
	t.Parallel()
	const put, list = "PUT /default", "GET "
	now := func(id string) string {
		return `200 {"environments":[` + env("env_9", "a", "") + `],"defaultEnvironmentId":"` + id + `"}`
	}
	for name, tc := range map[string]struct {
		answer, list string
		wantErr      func(error) bool
		calls        []string
	}{
		"answered":              {answer: `200 {"defaultEnvironmentId":"env_1","new":1}`, calls: []string{put}},
		"in capitals":           {answer: `200 {"defaultEnvironmentId":"ENV_1"}`, calls: []string{put}},
		"another one":           {answer: `200 {"defaultEnvironmentId":"env_2"}`, wantErr: clienttest.Is[*wire.ResponseError], calls: []string{put}},
		"null":                  {answer: `200 {"defaultEnvironmentId":null}`, list: now("env_1"), calls: []string{put, list}},
		"no object":             {answer: `200 {}`, list: now("env_1"), calls: []string{put, list}},
		"nothing":               {answer: `200 `, list: now("ENV_1"), calls: []string{put, list}},
		"no content":            {answer: `204 `, list: now("env_1"), calls: []string{put, list}},
		"a list":                {answer: `200 []`, list: now("env_1"), calls: []string{put, list}},
		"no text":               {answer: `200 {"defaultEnvironmentId":1}`, list: now("env_1"), calls: []string{put, list}},
		"a page":                {answer: `200 <html>`, list: now("env_1"), calls: []string{put, list}},
		"a page, and no change": {answer: `200 <html>`, list: now("env_2"), wantErr: clienttest.Is[*wire.ResponseError], calls: []string{put, list}},
		"nothing, and no list":  {answer: `200 `, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{put, list}},
		"refused":               {answer: `409 {"detail":"never built"}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{put}},
		"lost, but set":         {answer: "drop", list: now("ENV_1"), calls: []string{put, put, put, put, list}},
		"lost":                  {answer: "drop", list: now("env_2"), wantErr: clienttest.Is[*transport.TransportError], calls: []string{put, put, put, put, list}},
		"lost, and no list":     {answer: "drop", list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.TransportError], calls: []string{put, put, put, put, list}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{put: tc.answer, list: tc.list}))
			err := c.SetDefault(t.Context(), "env_1")
			if !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %v", err)
			}
			clienttest.WantText(t, err, "setDefaultEnvironment")
			rec.Want(t, tc.calls...)
			if rec.Bodies[0] != `{"environmentId":"env_1"}` {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}

func TestProvisionDefaultEnvironment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string
		wantErr func(error) bool
	}{
		"provisioned": {answers: []string{"204 "}},
		"with a body": {answers: []string{`201 {"id":"env_1"}`}},
		"lost":        {answers: []string{"drop", `503 {"detail":"no"}`, "204 "}},
		"refused":     {answers: []string{`403 {"detail":"no"}`}, wantErr: clienttest.Is[*transport.APIError]},
		"a page":      {answers: []string{"200 <html>", "200 <html>", "200 <html>", "200 <html>", `200 {"environments":[]}`}, wantErr: clienttest.Is[*transport.TransportError]},
		"in vain":     {answers: []string{"drop", "drop", "drop", "drop", `403 {"detail":"no"}`}, wantErr: clienttest.Is[*transport.TransportError]},
		"made, lost":  {answers: []string{"drop", "drop", "drop", "drop", `200 {"environments":[{"id":"env_1","name":"Default","repositories":[],"isDefault":true}]}`}},
	} {
		n := 0
		c, rec, _ := area.ServeShort(t, func(string) string { n++; return tc.answers[min(n, len(tc.answers))-1] })
		if err := c.ProvisionDefault(t.Context()); !clienttest.IsA(err, tc.wantErr) || len(rec.Calls()) != len(tc.answers) || rec.Calls()[0] != "POST /default" {
			t.Errorf("%s: got %v after %v", name, err, rec.Calls())
		}
	}
}

func TestSourceOptions_readsEveryForm(t *testing.T) {
	t.Parallel()
	source := func(id, name string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"supportsRepositories":true,"supportsSetupScripts":false}`, id, name)
	}
	for answer, want := range map[string]string{
		`{"providers":[{"id":"b","sources":[` + source("s", "T") + "," + source("t", "S") + `]},{"id":"a"}],"unavailableProviders":[{"id":"d"},{"id":"c"}]}`: `{"providers":[{"id":"a","name":"","sources":null},{"id":"b","name":"","sources":[` + source("t", "S") + "," + source("s", "T") + `]}],"unavailableProviders":[{"id":"c","name":""},{"id":"d","name":""}]}`,
		`{"providers":[],"new":1}`: `{"providers":[],"unavailableProviders":null}`,
		`{"providers":[{"id":"a","sources":null}],"unavailableProviders":null}`:          `{"providers":[{"id":"a","name":"","sources":null}],"unavailableProviders":null}`,
		`{"providers":[{"id":"a","sources":[{"id":"s"}]}]}`:                              "",
		`{"providers":[{"id":"a","sources":[{"id":"s","supportsRepositories":false}]}]}`: "",
		`{"providers":[{"id":"a","sources":[{"name":"s"}]}]}`:                            "",
		`{"providers":null}`:           "",
		`{}`:                           "",
		`[]`:                           "",
		`{"providers":{}}`:             "",
		`{"providers":[{"id":1}]}`:     "",
		`<html>`:                       "",
		``:                             "",
		`{"unavailableProviders":[1]}`: "",
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET /source-options": "200 " + answer}))
		found, err := c.SourceOptions(t.Context())
		got, _ := json.Marshal(found) // A failure differs.
		if (err == nil) != (want != "") || err == nil && string(got) != want {
			t.Errorf("%s: got %s, %v", answer, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "getEnvironmentSourceOptions") {
			t.Errorf("%s: the error does not name the operation: %v", answer, err)
		}
	}
}

func TestSourceOptions_whoeverLeavesEndsNothing(t *testing.T) {
	area.InBubble(t, func(string) string { return `wait 200 {"providers":[]}` }, func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := c.SourceOptions(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("the first got %v", err)
			}
		})
		time.Sleep(time.Second)
		cancel()
		all.Wait()
		all.Go(func() {
			if got, err := c.SourceOptions(t.Context()); err != nil || got == nil {
				t.Errorf("the second got %+v, %v", got, err)
			}
		})
		time.Sleep(time.Second)
		close(b.Waiting)
		all.Wait()
		b.Want(t, "0s GET /source-options")
	})
}
