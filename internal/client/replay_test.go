package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// The values of the calls, and of the responses in internal/contract/testdata.
const (
	text    = "text"
	uuid    = "00000000-0000-4000-8000-000000000000"
	email   = "text@example.com"
	date    = "2026-01-01"
	address = "https://example.com/text"
)

var (
	on   = analytics.Days{Start: date, End: date}
	old  = serviceaccounts.Renewal{ID: "old"}
	key  = serviceaccounts.NewAPIKey{AccountID: text, Name: text}
	file = computers.FileContent{Size: 4, Type: "text/plain", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
)

// replays are calls of the client by the operation whose response they return.
var replays = map[string]func(context.Context, *Client) (any, error){
	"bulkCreateComputers": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.CreateFleet(ctx, computers.BulkCreateRequest{Quantity: 1, NamePrefix: text}, nil)
	},
	"cancelEnvironmentBuild": func(ctx context.Context, c *Client) (any, error) {
		return nil, c.Environments.CancelBuild(ctx, text, text)
	},
	"completeFileUpload": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.CompleteFileUpload(ctx, uuid, text, file)
	},
	"createApiKey": func(ctx context.Context, c *Client) (any, error) {
		return c.ServiceAccounts.CreateKeyAmongOthers(ctx, key)
	},
	"createComputer": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.Create(ctx, computers.CreateRequest{Name: text})
	},
	"createEnvironment": func(ctx context.Context, c *Client) (any, error) {
		return c.Environments.Create(ctx, environments.CreateRequest{Name: text})
	},
	"createEnvironmentBuild": func(ctx context.Context, c *Client) (any, error) { return c.Environments.StartBuild(ctx, text, "") },
	"createFileDownload": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.CreateFileDownload(ctx, uuid, text, "", "")
	},
	"createFileUpload": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.CreateFileUpload(ctx, uuid, text, file)
	},
	"createServiceAccount": func(ctx context.Context, c *Client) (any, error) {
		return c.ServiceAccounts.Create(ctx, serviceaccounts.CreateRequest{Name: text})
	},
	"createSession": func(ctx context.Context, c *Client) (any, error) {
		return c.Sessions.Create(ctx, sessions.CreateRequest{ComputerID: uuid})
	},
	"createWikiRun": func(ctx context.Context, c *Client) (any, error) {
		return c.Wikis.Create(ctx, wikis.CreateRequest{RepoURL: text})
	},
	"createWikiVideoUploadUrl": func(ctx context.Context, c *Client) (any, error) { return c.Wikis.CreateVideoUpload(ctx) },
	"deleteComputer":           func(ctx context.Context, c *Client) (any, error) { return nil, c.Computers.Delete(ctx, uuid, "") },
	"deleteEnvironment":        func(ctx context.Context, c *Client) (any, error) { return nil, c.Environments.Delete(ctx, text) },
	"deleteServiceAccount":     func(ctx context.Context, c *Client) (any, error) { return nil, c.ServiceAccounts.Delete(ctx, text) },
	"deleteSession": func(ctx context.Context, c *Client) (any, error) {
		return nil, c.Sessions.Delete(ctx, text, uuid)
	},
	"deleteWikiRun":        func(ctx context.Context, c *Client) (any, error) { return nil, c.Wikis.Delete(ctx, text) },
	"editCiWorkflow":       editWorkflow,
	"exportWikiRun":        func(ctx context.Context, c *Client) (any, error) { return c.Wikis.Export(ctx, text, &bytes.Buffer{}) },
	"getActivityAnalytics": func(ctx context.Context, c *Client) (any, error) { return c.Analytics.Activity(ctx, on, "") },
	"getBuildDiagnostics": func(ctx context.Context, c *Client) (any, error) {
		return c.Environments.BuildDiagnostics(ctx, text, text)
	},
	"getComputer":       func(ctx context.Context, c *Client) (any, error) { return c.Computers.GetUncached(ctx, uuid) },
	"getComputerByName": func(ctx context.Context, c *Client) (any, error) { return c.Computers.GetByName(ctx, text, "") },
	"getComputerMetrics": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.Metrics(ctx, uuid, clienttest.Start)
	},
	"getEnvironment": func(ctx context.Context, c *Client) (any, error) { return c.Environments.GetUncached(ctx, text) },
	"getEnvironmentBuildDiagnostics": func(ctx context.Context, c *Client) (any, error) {
		return c.Environments.BuildDiagnostics(ctx, text, "")
	},
	"getEnvironmentBuildStatuses": func(ctx context.Context, c *Client) (any, error) {
		return c.Environments.BuildStatuses(ctx, "", []string{text})
	},
	"getEnvironmentSourceOptions": func(ctx context.Context, c *Client) (any, error) { return c.Environments.SourceOptions(ctx) },
	"getGlobalUsageLimit":         func(ctx context.Context, c *Client) (any, error) { return c.Organization.GlobalUsageLimit(ctx) },
	"getProductivityAnalytics":    func(ctx context.Context, c *Client) (any, error) { return c.Analytics.Productivity(ctx, on) },
	"getServiceAccount":           func(ctx context.Context, c *Client) (any, error) { return c.ServiceAccounts.Get(ctx, text) },
	"getSession":                  func(ctx context.Context, c *Client) (any, error) { return c.Sessions.GetUncached(ctx, text, uuid) },
	"getTokenAnalytics":           func(ctx context.Context, c *Client) (any, error) { return c.Analytics.Tokens(ctx, on, "") },
	"getToolAnalytics":            func(ctx context.Context, c *Client) (any, error) { return c.Analytics.Tools(ctx, on, "") },
	"getUserAnalytics":            func(ctx context.Context, c *Client) (any, error) { return c.Analytics.Users(ctx, on, nil, 0) },
	"getUserUsageLimits":          func(ctx context.Context, c *Client) (any, error) { return c.Organization.UsageLimits(ctx) },
	"getWikiHistory":              func(ctx context.Context, c *Client) (any, error) { return c.Wikis.History(ctx, text) },
	"getWikiPage":                 func(ctx context.Context, c *Client) (any, error) { return c.Wikis.Page(ctx, text, text) },
	"getWikiRun":                  func(ctx context.Context, c *Client) (any, error) { return c.Wikis.GetUncached(ctx, text) },
	"installComputerDeps":         func(ctx context.Context, c *Client) (any, error) { return c.Computers.InstallDeps(ctx, uuid) },
	"interruptSession":            func(ctx context.Context, c *Client) (any, error) { return c.Sessions.Interrupt(ctx, text) },
	"inviteMember": func(ctx context.Context, c *Client) (any, error) {
		return c.Organization.Invite(ctx, email, organization.RoleManager)
	},
	"listApiKeys":                  func(ctx context.Context, c *Client) (any, error) { return c.ServiceAccounts.ListKeys(ctx, text) },
	"listCiJobs":                   func(ctx context.Context, c *Client) (any, error) { return c.CI.Jobs(ctx) },
	"listCiRepositories":           func(ctx context.Context, c *Client) (any, error) { return c.CI.Repositories(ctx, "") },
	"listCiRepositoryOwners":       func(ctx context.Context, c *Client) (any, error) { return c.CI.RepositoryOwners(ctx) },
	"listCiRuns":                   func(ctx context.Context, c *Client) (any, error) { return c.CI.Runs(ctx) },
	"listComputerProviders":        func(ctx context.Context, c *Client) (any, error) { return c.Conn.Providers(ctx) },
	"listComputers":                func(ctx context.Context, c *Client) (any, error) { return c.Computers.List(ctx, computers.Filter{}) },
	"listEnterpriseControlHistory": func(ctx context.Context, c *Client) (any, error) { return c.Organization.ControlHistory(ctx, 0, nil) },
	"listEnvironments":             func(ctx context.Context, c *Client) (any, error) { return c.Environments.List(ctx, "") },
	"listMembers":                  func(ctx context.Context, c *Client) (any, error) { return c.Organization.Members(ctx, 0) },
	"listServiceAccounts":          func(ctx context.Context, c *Client) (any, error) { return c.ServiceAccounts.List(ctx) },
	"listSessionChildren":          func(ctx context.Context, c *Client) (any, error) { return c.Sessions.Children(ctx, text) },
	"listSessionMessages":          func(ctx context.Context, c *Client) (any, error) { return c.Sessions.Messages(ctx, text, nil, 0) },
	"listSessions":                 func(ctx context.Context, c *Client) (any, error) { return c.Sessions.List(ctx, "", 0) },
	"listWikiRuns":                 func(ctx context.Context, c *Client) (any, error) { return c.Wikis.List(ctx) },
	"provisionDefaultEnvironment":  func(ctx context.Context, c *Client) (any, error) { return c.Environments.ProvisionDefault(ctx) },
	"queryMyCost": func(ctx context.Context, c *Client) (any, error) {
		return c.Analytics.MyCost(ctx, "headline_daily", on)
	},
	"recordComputerActivity": func(ctx context.Context, c *Client) (any, error) { return c.Computers.RecordActivity(ctx, uuid) },
	"refreshComputer":        func(ctx context.Context, c *Client) (any, error) { return c.Computers.Refresh(ctx, uuid) },
	"removeMember":           func(ctx context.Context, c *Client) (any, error) { return nil, c.Organization.RemoveMember(ctx, email) },
	"restartComputer":        func(ctx context.Context, c *Client) (any, error) { return c.Computers.Restart(ctx, uuid) },
	"revokeApiKey": func(ctx context.Context, c *Client) (any, error) {
		return nil, c.ServiceAccounts.RevokeKey(ctx, text, text)
	},
	"rotateApiKey":    func(ctx context.Context, c *Client) (any, error) { return c.ServiceAccounts.RenewKey(ctx, key, old) },
	"scanCiWorkflows": func(ctx context.Context, c *Client) (any, error) { return c.CI.Scan(ctx, false) },
	"searchWikiRun":   func(ctx context.Context, c *Client) (any, error) { return c.Wikis.Search(ctx, text, text, 0) },
	"sendSessionMessage": func(ctx context.Context, c *Client) (any, error) {
		return c.Sessions.Send(ctx, text, sessions.MessageRequest{Text: text})
	},
	"setDefaultEnvironment": func(ctx context.Context, c *Client) (any, error) { return nil, c.Environments.SetDefault(ctx, text) },
	"setGlobalUsageLimit": func(ctx context.Context, c *Client) (any, error) {
		return nil, c.Organization.SetGlobalUsageLimit(ctx, new(int64(1)))
	},
	"setUserUsageLimits": func(ctx context.Context, c *Client) (any, error) {
		return c.Organization.SetUserUsageLimit(ctx, email, 1)
	},
	"updateComputer": func(ctx context.Context, c *Client) (any, error) {
		return c.Computers.Update(ctx, uuid, "", computers.UpdateRequest{Name: new(text)})
	},
	"updateEnvironment": func(ctx context.Context, c *Client) (any, error) {
		return c.Environments.Update(ctx, text, environments.UpdateRequest{Name: new(text)})
	},
	"updateServiceAccount": func(ctx context.Context, c *Client) (any, error) {
		return c.ServiceAccounts.Update(ctx, text, serviceaccounts.UpdateRequest{Description: new(text)})
	},
	"updateSession": func(ctx context.Context, c *Client) (any, error) {
		return c.Sessions.Update(ctx, text, uuid, &sessions.Settings{})
	},
	"updateWikiPrivacy": func(ctx context.Context, c *Client) (any, error) {
		return nil, c.Wikis.SetPrivacy(ctx, text, "private")
	},
}

func editWorkflow(ctx context.Context, c *Client) (any, error) {
	return c.CI.EditWorkflow(ctx, ci.EditWorkflowRequest{Action: "create", Repos: []ci.Target{{RepoFullName: text}}})
}

// around are responses of the reads that some calls send before and after the operation.
var around = map[string]string{
	"listApiKeys":           `{"apiKeys":[{"id":"old","name":"text","createdAt":1}]}`,
	"listComputers":         `{"computers":[]}`,
	"listComputerProviders": `{"providers":[]}`,
	"listEnvironments":      `{"environments":[]}`,
	"listMembers":           `{"users":[],"pagination":{"hasMore":false}}`,
	"listServiceAccounts":   `{"serviceAccounts":[]}`,
	"listSessions":          `{"sessions":[],"pagination":{"hasMore":false}}`,
	"listSessionMessages":   `{"messages":[],"pagination":{"hasMore":false}}`,
	"listWikiRuns":          `{"wikiRuns":[]}`,
	"getWikiHistory":        `{"wikiRuns":[]}`,
	"getUserUsageLimits":    `{"globalLimit":null,"userLimits":[]}`,
}

// replay calls an operation whose response is given.
func replay(t *testing.T, operation string, status int, body string) (any, error) {
	t.Helper()
	document, err := contract.Load()
	clienttest.Must(t, err)
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
	clienttest.Must(t, err)
	return replays[operation](t.Context(), c)
}

// Each operation of the contract has a call.
func TestReplays_everyOperation(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	clienttest.Must(t, err)
	known := map[string]bool{}
	for _, o := range document.Operations() {
		known[o.ID] = true
		if replays[o.ID] == nil {
			t.Errorf("%s has no call in replays", o.ID)
			continue
		}
		if _, err := replay(t, o.ID, http.StatusForbidden, `{"detail":"no","status":403,"title":"Forbidden"}`); err == nil || !strings.Contains(err.Error(), o.ID) {
			t.Errorf("%s: the call does not return the operation's error: %v", o.ID, err)
		}
	}
	for id := range replays {
		if !known[id] {
			t.Errorf("the contract has no operation %s", id)
		}
	}
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
	clienttest.Must(t, err)
	if len(files) == 0 {
		t.Fatal("there are no records")
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(name) //nolint:gosec // A file of this repository.
			clienttest.Must(t, err)
			var r record
			clienttest.Must(t, json.Unmarshal(content, &r))
			if replays[r.Operation] == nil || !strings.HasPrefix(filepath.Base(name), r.Operation+"-") {
				t.Fatalf("the operation is %q; the file's name begins with it", r.Operation)
			}
			result, err := replay(t, r.Operation, r.Status, string(r.Body))
			wanted, isText := r.Want.(string)
			switch {
			case isText && (err == nil || !strings.Contains(err.Error(), wanted)):
				t.Errorf("got %v, %v, want the error %q", result, err, wanted)
			case !isText && err != nil:
				t.Error(err)
			case !isText:
				for _, difference := range differences("", r.Want, decoded(t, result)) {
					t.Error(difference)
				}
			}
		})
	}
}

func decoded(t *testing.T, result any) any {
	t.Helper()
	text, err := json.Marshal(result)
	clienttest.Must(t, err)
	var v any
	clienttest.Must(t, json.Unmarshal(text, &v))
	return v
}

// differences compares the wanted fields with a result, which may have more.
func differences(path string, want, got any) (found []string) {
	switch wanted := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, v := range wanted {
			found = append(found, differences(path+"/"+name, v, fields[name])...)
		}
		return found
	case []any:
		list, _ := got.([]any)
		if len(list) != len(wanted) {
			return []string{fmt.Sprintf("%s: got %d elements, want %d", path, len(list), len(wanted))}
		}
		for i, v := range wanted {
			found = append(found, differences(fmt.Sprintf("%s/%d", path, i), v, list[i])...)
		}
		return found
	}
	if got != want {
		return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
	}
	return nil
}
