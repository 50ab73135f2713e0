package evidence

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// reads are an operation with its queries; a dash is none. A value in braces stands in an earlier answer.
var reads = strings.Split(strings.ReplaceAll(strings.TrimSpace(`
listServiceAccounts
getServiceAccount
listApiKeys
listComputerProviders
listComputers - serviceAccountId={serviceAccountId}
getComputer includeProvisioningSteps=true
getComputerByName
getComputerMetrics
getEnvironmentSourceOptions
listEnvironments
getEnvironment
getEnvironmentBuildStatuses environmentIds={environmentId}
getEnvironmentBuildDiagnostics
getBuildDiagnostics
listSessions limit=2 limit=2&cursor={sessionCursor} limit=2&computerId={sessionComputer}
getSession
listSessionMessages limit=2
listSessionChildren
listMembers limit=2 limit=2&cursor={memberCursor}
listEnterpriseControlHistory limit=2 limit=2&cursor={changeCursor}
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
	"sessionCursor":    "listSessions pagination nextCursor",
	"sessionComputer":  "listSessions sessions computerId",
	"memberCursor":     "listMembers pagination nextCursor",
	"changeCursor":     "listEnterpriseControlHistory pagination nextCursor",
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
