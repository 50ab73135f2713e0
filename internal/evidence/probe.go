package evidence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// MaxProbes is the number of requests that a probe sends at most.
const MaxProbes = 60

// pace is how many requests a probe sends in a second.
const pace = 2

// Probe reads what a key can read, one request after the other. It only sends GETs.
type Probe struct {
	Base      *url.URL
	Key       string
	UserAgent string
	Recorder  *Recorder
	Clock     clock.Clock
	// Progress gets a line for each request.
	Progress io.Writer

	conn   *transport.Conn
	sent   int
	failed int   // Requests without an answer.
	end    error // Why nothing more is sent.
}

// Run sends the requests. An error says why it ended early; the recorder has what was seen until then.
func (p *Probe) Run(ctx context.Context) error {
	conn, err := transport.New(transport.Config{
		BaseURL: p.Base.String(), APIKey: p.Key, UserAgent: p.UserAgent, Clock: p.Clock, AllowInsecureHTTP: true, // The caller decides on that.
		Transport: attempt{p}, RequestsPerSecond: pace, RequestTimeout: 2 * time.Minute, // A first list of sessions may be slow.
	})
	if err != nil {
		return err
	}
	p.conn = conn
	p.readAll(ctx)
	return p.end
}

// attempt sends one request, if the probe may send more.
type attempt struct{ *Probe }

// RoundTrip implements http.RoundTripper.
func (p attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.sent == MaxProbes {
		p.end = fmt.Errorf("%d requests were sent, which is the limit", MaxProbes)
		return nil, p.end
	}
	p.sent++
	operation, _ := p.Recorder.doc.Match(api(req))
	resp, err := p.Recorder.Transport(http.DefaultTransport).RoundTrip(req)
	said := "no answer"
	if err != nil {
		p.failed++
	} else {
		said = strconv.Itoa(resp.StatusCode)
	}
	_, _ = fmt.Fprintf(p.Progress, "%2d %s: %s\n", p.sent, operation, said) // Progress that cannot be shown stops nothing.
	return resp, err
}

// get sends a request and returns the answer if it is JSON.
func (p *Probe) get(ctx context.Context, route string, query url.Values, ids ...string) (answer any) {
	got, err := p.conn.Exchange(ctx, transport.Get("probe", route, ids...).Where(query), transport.AnyBody)
	switch status := transport.StatusOf(err); {
	case err == nil:
		_ = json.Unmarshal(got.Body, &answer) // The recorder has noted what is no JSON.
	case p.end != nil: // The number of requests.
	case ctx.Err() != nil:
		p.end = errors.New("interrupted")
	case status == http.StatusTooManyRequests || errors.Is(err, transport.ErrHeldBack):
		p.end = errors.New("the rate limit of the service lets no more requests pass; run the probe again later")
	case status == http.StatusUnauthorized && p.sent == 1:
		p.end = errors.New("the service refuses the API key (status 401)")
	case status == 0 && (p.failed == p.sent || p.failed == 3):
		p.end = fmt.Errorf("the service does not answer: %w", err)
	}
	return answer
}

// reads are an operation with its queries; a dash is none. A value in braces stands in an earlier answer.
var reads = strings.Split(strings.ReplaceAll(strings.TrimSpace(`
listServiceAccounts
getServiceAccount
listApiKeys
listComputerProviders
listComputers - serviceAccountId={serviceAccountId}
getComputer
getComputerByName
getComputerMetrics
getEnvironmentSourceOptions
listEnvironments
getEnvironment
getEnvironmentBuildStatuses environmentIds={environmentId}
getEnvironmentBuildDiagnostics
getBuildDiagnostics
listSessions limit=2 limit=2&cursor={cursor} limit=2&computerId={sessionComputer}
getSession
listSessionMessages limit=2
listSessionChildren
listMembers limit=2 limit=2&cursor={cursor}
listEnterpriseControlHistory limit=2 limit=2&cursor={cursor}
getGlobalUsageLimit
getUserUsageLimits
listWikiRuns
getWikiRun
getWikiHistory
searchWikiRun q=the
exportWikiRun
getWikiPage
listCiRepositoryOwners
listCiRepositories
listCiJobs
listCiRuns
scanCiWorkflows
getProductivityAnalytics DAYS
getTokenAnalytics DAYS group_by=model&DAYS
getToolAnalytics DAYS group_by=tool_name&DAYS
getActivityAnalytics DAYS group_by=client&DAYS
getUserAnalytics limit=2&DAYS limit=2&cursor={userCursor}&DAYS
queryMyCost queryKey=headline_daily&DAYS queryKey=cost_summary&DAYS queryKey=top_sessions&DAYS queryKey=by_model&DAYS queryKey=my_activity_summary&DAYS
`), "DAYS", "startDate={week}&endDate={yesterday}"), "\n")

// sources say where a value stands: the operation, and the fields that lead to it. Of a list, the first object counts.
var sources = map[string]string{
	"serviceAccountId": "listServiceAccounts serviceAccounts id",
	"computerId":       "listComputers computers id",
	"name":             "listComputers computers name",
	"environmentId":    "listEnvironments environments id",
	"buildId":          "listEnvironments environments latestBuild id",
	"sessionId":        "listSessions sessions sessionId",
	"sessionComputer":  "listSessions sessions computerId",
	"wikiRunId":        "listWikiRuns wikiRuns wikiRunId",
	"repoUrl":          "listWikiRuns wikiRuns repoUrl",
	"pageId":           "getWikiRun pageTree pageId",
	"userCursor":       "getUserAnalytics meta next_cursor",
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// readAll sends the requests for which the service has an object.
func (p *Probe) readAll(ctx context.Context) {
	paths, answers := map[string]string{}, map[string]any{}
	for _, o := range p.Recorder.doc.Operations() {
		paths[o.ID] = o.Path
	}
	today := p.Clock.Now().UTC()
	days := map[string]string{"week": today.AddDate(0, 0, -7).Format(time.DateOnly), "yesterday": today.AddDate(0, 0, -1).Format(time.DateOnly)}
	for _, read := range reads {
		operation, queries, _ := strings.Cut(read, " ")
		for query := range strings.SplitSeq(queries, " ") {
			missing := ""
			fill := func(name string) string {
				value := cmp.Or(days[name], valueIn(answers, name, operation))
				if value == "" {
					missing = name
				}
				return value
			}
			var ids []string
			for _, found := range placeholder.FindAllStringSubmatch(paths[operation], -1) {
				ids = append(ids, fill(found[1]))
			}
			query = placeholder.ReplaceAllStringFunc(strings.TrimPrefix(query, "-"), func(name string) string { return url.QueryEscape(fill(strings.Trim(name, "{}"))) })
			_, isRead := answers[operation]
			switch {
			case p.end != nil:
				return
			case missing == "":
				values, _ := url.ParseQuery(query) // It is one of reads.
				answer := p.get(ctx, paths[operation], values, ids...)
				if !isRead {
					answers[operation] = answer
				}
			case !isRead:
				p.Recorder.Skip(operation, "", "The answers show no "+missing+".")
			}
		}
	}
}

// valueIn returns a value of the earlier answers, or nothing. Only an active managed computer has metrics.
func valueIn(answers map[string]any, name, operation string) string {
	from, path, _ := strings.Cut(sources[name], " ")
	if name == "cursor" { // It leads on from the operation's own first page.
		from, path = operation, "pagination nextCursor"
	}
	value := answers[from]
	for _, key := range strings.Fields(path) {
		value = RecordOf(value)[key]
		list, _ := value.([]any)
		rows := objectsOf(list)
		if operation == "getComputerMetrics" {
			rows = slices.DeleteFunc(rows, func(c Object) bool { return c.Text("providerType") == "byom" || c.Text("status") != "active" })
		}
		if len(rows) > 0 {
			value = map[string]any(rows[0])
		}
	}
	text, _ := value.(string)
	return text
}

// Object is a JSON object of an answer. It is read with few demands, so that a deviation elsewhere in the answer stops nothing: a
// method returns the zero value if a field is absent, null, or something else.
type Object map[string]any

// Text returns the text of a field.
func (o Object) Text(field string) string { return valueOf[string](o, field) }

// Number returns the number of a field.
func (o Object) Number(field string) float64 { return valueOf[float64](o, field) }

// Truth returns the boolean of a field.
func (o Object) Truth(field string) bool { return valueOf[bool](o, field) }

// Object returns the object of a field.
func (o Object) Object(field string) Object { return valueOf[map[string]any](o, field) }

// List returns the objects of a field's list.
func (o Object) List(field string) []Object { return objectsOf(valueOf[[]any](o, field)) }

// Has reports whether a field has a value.
func (o Object) Has(field string) bool { return o[field] != nil }

func valueOf[T any](o Object, field string) (v T) {
	v, _ = o[field].(T)
	return v
}

func objectsOf(list []any) []Object {
	var all []Object
	for _, element := range list {
		if element, ok := element.(map[string]any); ok {
			all = append(all, element)
		}
	}
	return all
}

// RecordOf returns the object of an answer, also if it stands in a field that names its kind.
func RecordOf(body any) Object {
	o, _ := body.(map[string]any)
	if _, hasID := o["id"]; !hasID && len(o) == 1 {
		for _, inner := range o {
			if inner, ok := inner.(map[string]any); ok {
				return inner
			}
		}
	}
	return o
}

// RowsOf returns the objects of a listing, which are in a field or in a bare list.
func RowsOf(body any, field string) []Object {
	if list, ok := body.([]any); ok {
		return objectsOf(list)
	}
	return RecordOf(body).List(field)
}
