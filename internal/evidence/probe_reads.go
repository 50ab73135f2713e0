package evidence

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// reads are the requests of a probe: an operation, and its query. A value in braces stands in an earlier answer.
var reads = strings.Split(strings.TrimSpace(`
listServiceAccounts
getServiceAccount
listApiKeys
listComputerProviders
listComputers
listComputers serviceAccountId={serviceAccountId}
getComputer includeProvisioningSteps=true
getComputerByName
getComputerMetrics
getEnvironmentSourceOptions
listEnvironments
getEnvironment
getEnvironmentBuildStatuses environmentIds={environmentId}
getEnvironmentBuildDiagnostics
getBuildDiagnostics
listSessions limit=2
listSessions limit=2&cursor={sessionCursor}
listSessions limit=2&computerId={sessionComputer}
getSession
listSessionMessages limit=2
listSessionChildren
listMembers limit=2
listMembers limit=2&cursor={memberCursor}
listEnterpriseControlHistory limit=2
listEnterpriseControlHistory limit=2&cursor={changeCursor}
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
getProductivityAnalytics startDate={week}&endDate={yesterday}
getTokenAnalytics startDate={week}&endDate={yesterday}
getTokenAnalytics group_by=model&startDate={week}&endDate={yesterday}
getToolAnalytics startDate={week}&endDate={yesterday}
getToolAnalytics group_by=tool_name&startDate={week}&endDate={yesterday}
getActivityAnalytics startDate={week}&endDate={yesterday}
getActivityAnalytics group_by=client&startDate={week}&endDate={yesterday}
getUserAnalytics limit=2&startDate={week}&endDate={yesterday}
getUserAnalytics limit=2&cursor={userCursor}&startDate={week}&endDate={yesterday}
queryMyCost queryKey=headline_daily&startDate={week}&endDate={yesterday}
queryMyCost queryKey=cost_summary&startDate={week}&endDate={yesterday}
queryMyCost queryKey=top_sessions&startDate={week}&endDate={yesterday}
queryMyCost queryKey=by_model&startDate={week}&endDate={yesterday}
queryMyCost queryKey=my_activity_summary&startDate={week}&endDate={yesterday}
`), "\n")

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
		operation, query, _ := strings.Cut(read, " ")
		missing := ""
		fill := func(name string) string {
			value, ok := days[name]
			if !ok {
				value = valueIn(answers, name, operation)
			}
			if value == "" {
				missing = name
			}
			return value
		}
		var ids []string
		for _, found := range placeholder.FindAllStringSubmatch(paths[operation], -1) {
			ids = append(ids, fill(found[1]))
		}
		query = placeholder.ReplaceAllStringFunc(query, func(name string) string { return url.QueryEscape(fill(strings.Trim(name, "{}"))) })
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

// valueIn returns a value of the earlier answers, or nothing. Only an active managed computer has metrics.
func valueIn(answers map[string]any, name, operation string) string {
	keys := strings.Fields(sources[name])
	value := answers[keys[0]]
	for _, key := range keys[1:] {
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
