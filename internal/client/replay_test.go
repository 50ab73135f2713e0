package client

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// The values of the calls, and of the responses in internal/contract/testdata.
const (
	text  = "text"
	email = "text@example.com"
)

// replays are the calls of the client by the operation of which there is a record.
var replays = map[string]func(context.Context, *Client) (any, error){
	"createComputer": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.Create(ctx, computers.CreateRequest{Name: text})
	},
	"getUserUsageLimits": func(ctx context.Context, c *Client) (any, error) { return c.Organization.UsageLimits(ctx) },
	"inviteMember": func(ctx context.Context, c *Client) (any, error) {
		return c.Organization.Invite(ctx, email, organization.RoleManager)
	},
	"listComputers": func(ctx context.Context, c *Client) (any, error) { return c.Computers.List(ctx, computers.Filter{}) },
	"listSessions":  func(ctx context.Context, c *Client) (any, error) { return c.Sessions.List(ctx, "", 0) },
	"rotateApiKey": func(ctx context.Context, c *Client) (any, error) {
		return c.ServiceAccounts.RenewKey(ctx, serviceaccounts.NewAPIKey{AccountID: text, Name: text}, serviceaccounts.Renewal{ID: "old"})
	},
}

// around are responses of the reads that some calls send before and after the operation.
var around = map[string]string{
	"listApiKeys":           `{"apiKeys":[{"id":"old","name":"text","createdAt":1}]}`,
	"listComputers":         `{"computers":[]}`,
	"listComputerProviders": `{"providers":[]}`,
}

// replay calls an operation whose response is given.
func replay(t *testing.T, operation string, status int, body string) (any, error) {
	t.Helper()
	document, err := contract.Load()
	check.Must(t, err)
	service, _ := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		sent, _ := document.Match(r)
		other, ok := around[sent]
		switch {
		case sent == operation && status == http.StatusNoContent:
			w.WriteHeader(status)
		case sent == operation:
			clienttest.RespondJSON(w, status, body)
		case ok:
			clienttest.RespondJSON(w, http.StatusOK, other)
		default:
			clienttest.Say(w, `404 {"detail":"there is none"}`)
		}
	})
	c, err := New(transport.Config{BaseURL: service, APIKey: clienttest.Key, Clock: clock.NewFake(clienttest.Start), UserAgent: "test/1"})
	check.Must(t, err)
	return replays[operation](t.Context(), c)
}

// record is a response of a real service without its values, and what the client has to make of it.
type record struct {
	Operation string          `json:"operation"`
	Status    int             `json:"status"`
	Body      json.RawMessage `json:"body"`
	// Want is a part of the error's text, or fields of the result as the client's types have them.
	Want any `json:"want"`
}

// The client reads each record of internal/contract/testdata as the record says.
func TestReplays(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../contract/testdata/*.json")
	check.Must(t, err)
	if len(files) == 0 {
		t.Fatal("there are no records")
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(name) //nolint:gosec // A file of this repository.
			check.Must(t, err)
			var r record
			check.Must(t, json.Unmarshal(content, &r))
			if replays[r.Operation] == nil || !strings.HasPrefix(filepath.Base(name), r.Operation+"-") {
				t.Fatalf("the operation is %q; the file's name begins with it, and replays of replay_test.go has its call", r.Operation)
			}
			result, err := replay(t, r.Operation, r.Status, string(r.Body))
			wanted, isText := r.Want.(string)
			switch {
			case isText && (err == nil || !strings.Contains(err.Error(), wanted)):
				t.Errorf("got %v, %v, want the error %q", result, err, wanted)
			case !isText && (err != nil || !has(decoded(t, result), r.Want)):
				t.Errorf("got %+v, %v, want %v", result, err, r.Want)
			}
		})
	}
}

func decoded(t *testing.T, result any) any {
	t.Helper()
	text, err := json.Marshal(result)
	check.Must(t, err)
	var v any
	check.Must(t, json.Unmarshal(text, &v))
	return v
}

// has reports whether a result has the wanted fields, among others.
func has(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, v := range want {
			if !has(fields[name], v) {
				return false
			}
		}
		return true
	case []any:
		list, _ := got.([]any)
		return slices.EqualFunc(list, want, has)
	}
	return got == want
}
