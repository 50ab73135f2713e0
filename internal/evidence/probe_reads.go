package evidence

import (
	"context"
	"slices"
	"time"
)

const (
	v0        = "/api/v0"
	analytics = "/api/v1/analytics"
)

// readAll sends each GET of the contract at least once, if the service has an object for it.
func (p *Probe) readAll(ctx context.Context) {
	account := p.readAccounts(ctx)
	p.readComputers(ctx, account)
	p.readEnvironments(ctx)
	p.readSessions(ctx)
	p.readOrganization(ctx)
	p.readWikis(ctx)
	p.readCI(ctx)
	p.readAnalytics(ctx)
}

// readAccounts returns the ID of a service account.
func (p *Probe) readAccounts(ctx context.Context) string {
	const accounts = v0 + "/service-accounts"
	id := p.get(ctx, accounts).first("serviceAccounts", anyOne).Text("id")
	if p.need(id, "service account", "getServiceAccount", "listApiKeys") {
		p.get(ctx, accounts+segment(id))
		p.get(ctx, accounts+segment(id)+"/api-keys")
	}
	return id
}

func (p *Probe) readComputers(ctx context.Context, account string) {
	const computers = v0 + "/computers"
	p.get(ctx, computers+"/providers")
	all := p.get(ctx, computers)
	if account != "" {
		p.get(ctx, computers, "serviceAccountId", account)
	}
	computer := all.first("computers", anyOne)
	if p.need(computer.Text("id"), "computer", "getComputer", "getComputerByName") {
		p.get(ctx, computers+segment(computer.Text("id")), "includeProvisioningSteps", "true")
		p.get(ctx, computers+"/name"+segment(computer.Text("name")))
	}
	managed := all.first("computers", func(c Object) bool {
		return c.Text("providerType") != "byom" && c.Text("status") == "active"
	})
	if p.need(managed.Text("id"), "active managed computer", "getComputerMetrics") {
		p.get(ctx, computers+segment(managed.Text("id"))+"/metrics")
	}
}

func (p *Probe) readEnvironments(ctx context.Context) {
	const environments = v0 + "/environments"
	p.get(ctx, environments+"/source-options")
	environment := p.get(ctx, environments).first("environments", anyOne)
	id := environment.Text("id")
	if p.need(id, "environment", "getEnvironment", "getEnvironmentBuildStatuses", "getEnvironmentBuildDiagnostics") {
		p.get(ctx, environments+segment(id))
		p.get(ctx, environments+"/build-statuses", "environmentIds", id)
		p.get(ctx, environments+segment(id)+"/build-diagnostics")
	}
	build := environment.Object("latestBuild").Text("id")
	if p.need(build, "build", "getBuildDiagnostics") {
		p.get(ctx, environments+segment(id)+"/builds"+segment(build)+"/diagnostics")
	}
}

func (p *Probe) readSessions(ctx context.Context) {
	const sessions = v0 + "/sessions"
	all := p.get(ctx, sessions, "limit", "2")
	p.readNext(ctx, sessions, all.Object("pagination").Text("nextCursor"))
	session := all.first("sessions", anyOne)
	id := session.Text("sessionId")
	if p.need(id, "session", "getSession", "listSessionMessages", "listSessionChildren") {
		p.get(ctx, sessions+segment(id))
		p.get(ctx, sessions+segment(id)+"/messages", "limit", "2")
		p.get(ctx, sessions+segment(id)+"/children")
	}
	if computer := session.Text("computerId"); computer != "" {
		p.get(ctx, sessions, "limit", "2", "computerId", computer)
	}
}

// readNext reads the second page of a list, if there is one.
func (p *Probe) readNext(ctx context.Context, list, cursor string, more ...string) {
	if cursor != "" {
		p.get(ctx, list, slices.Concat(more, []string{"limit", "2", "cursor", cursor})...)
	}
}

func (p *Probe) readOrganization(ctx context.Context) {
	const organization = v0 + "/organization"
	for _, list := range []string{organization + "/users", organization + "/enterprise-controls/history"} {
		all := p.get(ctx, list, "limit", "2")
		p.readNext(ctx, list, all.Object("pagination").Text("nextCursor"))
	}
	p.get(ctx, organization+"/usage/limits/global")
	p.get(ctx, organization+"/usage/limits/users")
}

func (p *Probe) readWikis(ctx context.Context) {
	const wikis = v0 + "/wiki"
	listed := p.get(ctx, wikis).first("wikiRuns", anyOne)
	id := listed.Text("wikiRunId")
	if !p.need(id, "wiki run", "getWikiRun", "getWikiHistory", "searchWikiRun", "exportWikiRun", "getWikiPage") {
		return
	}
	run := p.get(ctx, wikis+segment(id))
	if repository := listed.Text("repoUrl"); p.need(repository, "repository of a wiki run", "getWikiHistory") {
		p.get(ctx, wikis+"/history"+segment(repository))
	}
	p.get(ctx, wikis+segment(id)+"/search", "q", "the")
	p.get(ctx, wikis+segment(id)+"/export")
	page := run.first("pageTree", anyOne).Text("pageId")
	if p.need(page, "page of a wiki run", "getWikiPage") {
		p.get(ctx, wikis+segment(id)+"/pages"+segment(page))
	}
}

func (p *Probe) readCI(ctx context.Context) {
	const ci = v0 + "/automations/ci"
	p.get(ctx, ci+"/repository-owners")
	p.get(ctx, ci+"/repositories")
	p.get(ctx, ci+"/jobs")
	p.get(ctx, ci+"/runs")
	p.get(ctx, ci+"/scan")
}

func (p *Probe) readAnalytics(ctx context.Context) {
	today := p.Clock.Now().UTC()
	week := []string{"startDate", today.AddDate(0, 0, -7).Format(time.DateOnly), "endDate", today.AddDate(0, 0, -1).Format(time.DateOnly)}
	with := func(more ...string) []string { return slices.Concat(more, week) }
	p.get(ctx, analytics+"/productivity", week...)
	for _, report := range []struct{ name, group string }{{"tokens", "model"}, {"tools", "tool_name"}, {"activity", "client"}} {
		p.get(ctx, analytics+"/"+report.name, week...)
		p.get(ctx, analytics+"/"+report.name, with("group_by", report.group)...)
	}
	users := p.get(ctx, analytics+"/users", with("limit", "2")...)
	p.readNext(ctx, analytics+"/users", users.Object("meta").Text("next_cursor"), week...)
	for _, key := range []string{"headline_daily", "cost_summary", "top_sessions", "by_model", "my_activity_summary"} {
		p.get(ctx, analytics+"/cost/me/query", with("queryKey", key)...)
	}
}
