package ci

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area = areatest.New[*Client](New)

func texts[T any](items []T, text func(T) string) string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = text(item)
	}
	return strings.Join(all, " ")
}

func raw(record string) wire.Kept { return wire.Kept{Raw: json.RawMessage(record)} }

func TestCIJobs_readsEveryField(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `200 {"jobs":[
			{"id":"acme/api::b.yml","createdAt":1772323200000},
			{},
			{"id":"acme/api::a.yml","action":"edit","repoFullName":"acme/api","filePath":"a.yml","prUrl":"https://code.example/acme/api/pull/1","status":"new-one","error":null,"createdAt":1772323200500,"updatedAt":1772323201000,"new":1},
			{"id":"acme/api::c.yml","action":null,"prUrl":null,"error":{"message":"no"},"createdAt":1772323200000}],"more":true}`
	})
	jobs, err := c.Jobs(t.Context())
	if err != nil || texts(jobs, func(j Job) string { return j.ID }) != "acme/api::a.yml acme/api::b.yml acme/api::c.yml " {
		t.Fatalf("got %+v, %v", jobs, err)
	}
	for i := range jobs {
		if raw := string(jobs[i].Raw); (raw == "{}") != (jobs[i].ID == "") || !strings.Contains(raw, jobs[i].ID) || (i == 0) != strings.HasSuffix(raw, `"new":1}`) {
			t.Errorf("%d keeps %s", i, raw)
		}
		jobs[i].Raw = nil
	}
	if want := (Job{ID: "acme/api::a.yml", Action: "edit", RepoFullName: "acme/api", FilePath: "a.yml", PullRequest: "https://code.example/acme/api/pull/1", Status: "new-one", CreatedAt: 1772323200500, UpdatedAt: 1772323201000}); !reflect.DeepEqual(jobs[0], want) {
		t.Errorf("got %+v", jobs[0])
	}
	if jobs[2].Error != `{"message":"no"}` || !reflect.DeepEqual(jobs[3], Job{}) {
		t.Errorf("got %+v", jobs[2:])
	}
	rec.Want(t, "GET "+route+"jobs")
}

// Each owner has its own listing, which is read once.
func TestCIRepositories_ofManyOwners(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `200 {"repositories":[{"fullName":"a/1"},{"fullName":"b/1"},{"fullName":"b/2"},{"fullName":"c/1"}]}`
	})
	for _, tc := range [][2]string{{"a", "a/1"}, {"A", "a/1"}, {"b", "b/1 b/2"}, {"c", "c/1"}, {"none", ""}, {"a", "a/1"}, {"c", "c/1"}, {"", "a/1 b/1 b/2 c/1"}} {
		found, err := c.Repositories(t.Context(), tc[0])
		if err != nil || texts(found, func(r Repository) string { return r.FullName }) != tc[1] {
			t.Errorf("%s: got %+v, %v", tc[0], found, err)
		}
	}
	from := "GET " + route + "repositories"
	rec.Want(t, from+"?owner=a", from+"?owner=A", from+"?owner=b", from+"?owner=c", from+"?owner=none", from)
}

// A field that exists may still have no message.
func TestFault(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]ErrorText{
		`null`: "", `""`: "", `" "`: "", `false`: "", `{}`: "", `{ }`: "", `[]`: "", `"no"`: "no", `true`: "true", `0`: "0", `{"message": "no"}`: `{"message":"no"}`, `["no"]`: `["no"]`,
	} {
		var got struct{ Error ErrorText }
		if err := json.Unmarshal([]byte(`{"error":`+raw+`}`), &got); err != nil || got.Error != want {
			t.Errorf("%s: got %q, %v", raw, got.Error, err)
		}
	}
}

func TestCIRepositoryOwners_readsEveryField(t *testing.T) {
	t.Parallel()
	yes := true
	for answer, want := range map[string]Owners{
		`200 {"owners":[{"login":"robin","type":"user"},{"login":"acme","type":"something"},{}],"integration":{"connected":true,"new":1}}`: {
			Owners: []Owner{{Kept: raw(`{}`)}, {raw(`{"login":"acme","type":"something"}`), "acme", "something"}, {raw(`{"login":"robin","type":"user"}`), "robin", "user"}}, Integration: &Integration{Connected: &yes},
		},
		`200 {"owners":[],"integration":{}}`:     {Owners: []Owner{}, Integration: &Integration{}},
		`200 {"owners":null}`:                    {},
		`200 [{"login":"acme"}]`:                 {Owners: []Owner{{Kept: raw(`{"login":"acme"}`), Login: "acme"}}},
		`200 {"owners":[],"integration":null}`:   {Owners: []Owner{}},
		`200 {"integration":{"connected":true}}`: {},
	} {
		c, rec, _ := area.ServeShort(t, func(string) string { return answer })
		found, err := c.RepositoryOwners(t.Context())
		if !strings.Contains(answer, "owners") && !strings.Contains(answer, "200 [") {
			if err == nil || !strings.Contains(err.Error(), "the field owners is missing") {
				t.Errorf("%s: got %+v, %v", answer, found, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(*found, want) {
			t.Errorf("%s: got %+v, %v", answer, found, err)
		}
		rec.Want(t, "GET "+route+"repository-owners")
	}
}

// The fields of a run are not documented, so the whole item is kept, and likely fields are read if possible.
func TestCIRuns_keepsWholeItems(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `200 {"runs":[{"id":12345678901234567890,"repoFullName":"acme/api","status":"odd","conclusion":null,"jobs":[{"n":1.50}]},{"id":"r2","status":{"a": 1}},"text",null]}`
	})
	found, err := c.Runs(t.Context())
	if err != nil || len(found.Runs) != 4 || found.Integration != nil {
		t.Fatalf("got %+v, %v", found, err)
	}
	one := found.Runs[0]
	if one.ID != "12345678901234567890" || one.RepoFullName != "acme/api" || one.Status != "odd" || one.Conclusion != "" || !strings.Contains(string(one.Raw), `"jobs":[{"n":1.50}]`) {
		t.Errorf("got %+v", one)
	}
	if two := found.Runs[1]; two.ID != "r2" || two.Status != `{"a":1}` || two.RepoFullName != "" {
		t.Errorf("got %+v", two)
	}
	if string(found.Runs[2].Raw) != `"text"` || string(found.Runs[3].Raw) != "null" || found.Runs[2].ID != "" {
		t.Errorf("got %+v", found.Runs[2:])
	}
	rec.Want(t, "GET "+route+"runs")
}

func TestScanCIWorkflows_readsEveryField(t *testing.T) {
	t.Parallel()
	c, rec, clk := area.ServeShort(t, func(call string) string {
		if strings.Contains(call, "forceRefresh") {
			return `200 {"workflows":[],"scannedAt":null}`
		}
		return `200 {"workflows":[{"repoFullName":"acme/web","filePath":"b.yml"},
			{"repoFullName":"acme/web","filePath":"a.yml","workflowName":"A","triggerEvents":["push","issues"],"scheduleCron":"0 6 * * 1","templateId":"code-review","agentActionInputs":{"b":1,"a":2},
			 "githubUrl":"https://code.example/acme/web/a.yml","fileSha":"abc","authoredBy":{"login":"robin","name":"Robin"},"userPermission":"write"},
			{"repoFullName":"acme/api","filePath":"z.yml","triggerEvents":null,"agentActionInputs":null,"authoredBy":null}],
			"scannedAt":1772323200000,"cacheTtlMs":1800000,"integration":{"connected":false}}`
	})
	found, err := c.Scan(t.Context())
	if err != nil || texts(found.Workflows, func(w Workflow) string { return w.RepoFullName + ":" + w.FilePath }) != "acme/api:z.yml acme/web:a.yml acme/web:b.yml" {
		t.Fatalf("got %+v, %v", found, err)
	}
	if found.ScannedAt != 1772323200000 || *found.CacheTTL != 1800000 || *found.Integration.Connected {
		t.Errorf("got %+v", found)
	}
	one := found.Workflows[1]
	if !strings.Contains(string(one.Raw), `"triggerEvents":["push","issues"]`) || string(found.Workflows[2].Raw) != `{"repoFullName":"acme/web","filePath":"b.yml"}` {
		t.Errorf("got %s and %s", one.Raw, found.Workflows[2].Raw)
	}
	if one.WorkflowName != "A" || !slices.Equal(one.TriggerEvents, []string{"issues", "push"}) || one.ScheduleCron != "0 6 * * 1" || one.TemplateID != "code-review" || string(one.AgentActionInputs) != `{"b":1,"a":2}` ||
		one.GithubURL == "" || one.FileSHA != "abc" || *one.AuthoredBy != (Author{"robin", "Robin"}) || one.UserPermission != "write" {
		t.Errorf("got %+v", one)
	}
	if other := found.Workflows[0]; other.TriggerEvents != nil || other.AuthoredBy != nil || other.WorkflowName != "" {
		t.Errorf("got %+v", other)
	}
	// A forced scan is a different request, and each of the two is sent once while responses are shared.
	for range 2 {
		if forced, err := c.ForceScan(t.Context()); err != nil || forced.ScannedAt != 0 || forced.CacheTTL != nil {
			t.Errorf("got %+v, %v", forced, err)
		}
		if _, err := c.Scan(t.Context()); err != nil {
			t.Error(err)
		}
	}
	rec.Want(t, "GET "+route+"scan", "GET "+route+"scan?forceRefresh=true")
	clk.Advance(time.Minute)
	if _, err := c.Scan(t.Context()); err != nil || rec.Count(http.MethodGet) != 3 {
		t.Errorf("%d requests, %v", rec.Count(http.MethodGet), err)
	}
}

// readsOfCI has all reads, by their operations and lists.
var readsOfCI = map[string]struct {
	list string
	read func(context.Context, *Client) error
}{
	"listCiJobs":             {"jobs", func(ctx context.Context, c *Client) error { _, err := c.Jobs(ctx); return err }},
	"listCiRepositories":     {"repositories", func(ctx context.Context, c *Client) error { _, err := c.Repositories(ctx, "acme"); return err }},
	"listCiRepositoryOwners": {"owners", func(ctx context.Context, c *Client) error { _, err := c.RepositoryOwners(ctx); return err }},
	"listCiRuns":             {"runs", func(ctx context.Context, c *Client) error { _, err := c.Runs(ctx); return err }},
	"scanCiWorkflows":        {"workflows", func(ctx context.Context, c *Client) error { _, err := c.ForceScan(ctx); return err }},
}

// A gateway timeout counts like the request's own timeout.
func TestExchange_slowReadIsNotRepeatedAfterAGatewayTimeout(t *testing.T) {
	t.Parallel()
	for requests, scan := range map[int]func(*Client, context.Context) (*Scan, error){1: (*Client).ForceScan, 4: (*Client).Scan} {
		c, rec, _ := area.ServeShort(t, func(string) string { return "504 <html>" })
		if _, err := scan(c, t.Context()); transport.StatusOf(err) != 504 || rec.Count(http.MethodGet) != requests {
			t.Errorf("%d requests instead of %d, %v", rec.Count(http.MethodGet), requests, err)
		}
	}
}
