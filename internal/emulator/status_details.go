package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// notShown stands for what the API returns and the page does not show, because the page needs no key.
	notShown = "(not shown here)"
	// ownersKey is the note to what only the owner can do. Nobody else can import the object.
	ownersKey = "Needs an API key of the owner."
)

// objectDetail is what only the page of an object shows.
type objectDetail struct {
	body      any    // What the API returns; nil if it returns nothing.
	operation string // Which operation returns it.
	note      string // What about the body, or its absence, is worth knowing.
	history   []historyEvent
	imports   importBlock
	names     []string // How requests name the object, besides its ID.
	// namesOfOwner are names that only requests of an owner, or for one, mean.
	namesOfOwner []string
	owner        string
	actions      []statusAction
}

// historyEvent is something that happened to an object, or will happen. Without a time, the data file does not know when.
type historyEvent struct {
	at          int64
	Text, Class string
}

// happened adds an event whose time is known.
func (d *objectDetail) happened(at int64, format string, args ...any) {
	if at != 0 {
		d.history = append(d.history, historyEvent{at, fmt.Sprintf(format, args...), ""})
	}
}

// sorted puts the newest event first, after those without a time.
func (d *objectDetail) sorted() {
	slices.Reverse(d.history) // Of several events at one time, the last comes first.
	slices.SortStableFunc(d.history, func(a, b historyEvent) int {
		return cmp.Or(cmp.Compare(min(1, a.at), min(1, b.at)), cmp.Compare(b.at, a.at))
	})
}

var errNoObject = errors.New("the object is not in the database")

func computerDetail(r *request, id string) (*objectDetail, error) {
	c, err := computerTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	p := c.progressAt(r.now)
	d := &objectDetail{body: c.view(r.now, true), operation: "getComputer", imports: importBlock{"agentyard_computer", c.Name, c.ID}, namesOfOwner: []string{c.Name, c.HostID}, owner: c.OwnerID}
	if c.FleetPrefix != "" {
		d.happened(c.CreatedAt, "Created by bulkCreateComputers with the prefix %s", c.FleetPrefix)
	} else {
		d.happened(c.CreatedAt, "Created")
	}
	for _, step := range p.steps {
		switch step.Status {
		case "in_progress":
			d.history = append(d.history, historyEvent{step.StartedAt, step.Name + ": started", "busy"})
		case "failed":
			d.history = append(d.history, historyEvent{step.CompletedAt, step.Name + " failed: " + shortText(step.Error), "bad"})
		case "completed":
			d.happened(step.CompletedAt, "%s: completed", step.Name)
		}
	}
	if managed := c.ProviderType != providerBYOM; managed && p.endedAt != 0 && (p.status == statusActive || c.Broken) {
		d.happened(p.endedAt, "Active")
		for _, slept := range c.Slept {
			d.happened(slept.From, "Fell asleep")
			d.happened(slept.To, "Woke up")
		}
		d.happened(c.LastActiveAt, "Last recorded activity")
		if !c.Broken {
			d.happened(c.asleepSince(r.now, p.endedAt), "Fell asleep")
		}
	}
	if c.Broken {
		d.history = append(d.history, historyEvent{0, "Failed after it was active", "bad"})
	}
	if c.ProviderType != providerBYOM && p.status == statusActive {
		d.actions = append(d.actions, controlAction("Break", "POST", "computers/"+c.ID+"/break", "").confirmed())
	}
	d.actions = append(d.actions, controlAction("Delete", "DELETE", "computers/"+c.ID, "").confirmed())
	return d, nil
}

// environmentDetail does not show scripts and logs.
func environmentDetail(r *request, id string) (*objectDetail, error) {
	env, err := environmentTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	defaultID, err := defaultEnvironment(r.tx)
	if err != nil {
		return nil, err
	}
	view, err := r.environmentView(env, defaultID, false)
	if err != nil {
		return nil, err
	}
	view.Repositories, view.ActiveRepositories = withoutScripts(view.Repositories), withoutScripts(view.ActiveRepositories)
	view.SetupScript, view.LatestBuild.Excerpt = hidden(view.SetupScript), hidden(view.LatestBuild.Excerpt)
	d := &objectDetail{
		body: view, operation: "getEnvironment", note: "Scripts and logs are not shown here.", imports: importBlock{"agentyard_environment", env.Name, env.ID},
	}
	d.happened(env.CreatedAt, "Created")
	if env.UpdatedAt != env.CreatedAt {
		d.happened(env.UpdatedAt, "Last update")
	}
	builds, err := buildTable.list(r.tx, key(env.ID, ""))
	for _, b := range builds {
		s := b.at(r.now)
		event := historyEvent{cmp.Or(s.finishedAt, s.startedAt, b.CreatedAt), fmt.Sprintf("Build %s (%s): %s", b.ID, b.Trigger, s.status), stateClasses[s.status]}
		if s.failure != nil {
			event.Text += ": " + shortText(s.failure.Reason)
		}
		if s.running() {
			event.Class = "busy"
		}
		d.history = append(d.history, event)
	}
	remove := apiAction("Delete", "DELETE", "/api/v0/environments/"+env.ID, "").confirmed()
	if env.Owner != scopeOrganization && env.Owner != r.who.ID {
		remove.Note, d.imports = ownersKey, importBlock{}
	}
	d.actions = []statusAction{remove}
	return d, err
}

func hidden(text string) string {
	if text == "" {
		return ""
	}
	return notShown
}

func withoutScripts(repositories []repository) []repository {
	shown := slices.Clone(repositories)
	for i := range shown {
		shown[i].Script = hidden(shown[i].Script)
	}
	return shown
}

// sessionDetail shows who wrote messages and when, but no texts.
func sessionDetail(r *request, id string) (*objectDetail, error) {
	s, err := sessionTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	view := s.view(s.present(r.now))
	view.ServiceCredits, view.Title = &s.Credits, hidden(view.Title) // The agent takes the title from the first message.
	d := &objectDetail{body: view, operation: "getSession", note: "The title, prompts, and messages are not shown here.", imports: importBlock{"agentyard_session", "session", s.ID}}
	d.happened(s.CreatedAt, "Created")
	for _, a := range s.Activities {
		if a.At > s.CreatedAt && a.At <= millis(r.now) {
			d.history = append(d.history, historyEvent{a.At, "Status " + a.Status, stateClasses[a.Status]})
		}
	}
	d.happened(s.CompletedAt, "Completed")
	d.happened(s.DeletedAt, "Deleted")
	err = messageTable.each(r.tx, key(s.ID, ""), func(_ string, m *message) error {
		if m.CreatedAt <= millis(r.now) {
			d.happened(m.CreatedAt, "Message: %s", m.Role)
		}
		return nil
	})
	if s.DeletedAt != 0 {
		d.body, d.imports, d.note = nil, importBlock{}, "Deleted. The API returns 404."
		return d, err
	}
	d.actions = []statusAction{apiAction("Delete", "DELETE", "/api/v0/sessions/"+s.ID, "").confirmed()}
	return d, err
}

func accountDetail(r *request, id string) (*objectDetail, error) {
	a, err := accountTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	d := &objectDetail{body: a.view(), operation: "getServiceAccount", imports: importBlock{"agentyard_service_account", a.Name, a.ID}}
	d.happened(a.CreatedAt, "Created")
	d.happened(a.DeletedAt, "Deleted")
	if a.DeletedAt != 0 {
		d.body, d.imports, d.note = nil, importBlock{}, "Deleted. The API returns 404."
		return d, nil
	}
	d.actions = []statusAction{apiAction("Delete", "DELETE", "/api/v0/service-accounts/"+a.ID, "").confirmed()}
	return d, nil
}

func keyDetail(r *request, id string) (*objectDetail, error) {
	k, err := keyTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	d := &objectDetail{
		body: k.view(r.now), operation: "listApiKeys", note: "The value of a key is never shown. Terraform's plan shows due rotations.",
		imports: importBlock{"agentyard_api_key", k.Name, k.OwnerID + "/" + k.ID},
	}
	d.happened(k.CreatedAt, "Created")
	switch {
	case k.ExpiresAt == 0:
	case k.expired(r.now):
		d.history = append(d.history, historyEvent{k.ExpiresAt, "Expired", "warn"})
	default:
		d.happened(k.ExpiresAt, "Expires")
	}
	switch {
	case k.RevokedAt == 0:
	case k.revoked(r.now):
		d.happened(k.RevokedAt, "Revoked")
	default:
		d.history = append(d.history, historyEvent{k.RevokedAt, "The grace period after the rotation ends", "warn"})
	}
	if !k.revoked(r.now) {
		d.actions = []statusAction{apiAction("Revoke", "POST", "/api/v0/service-accounts/"+k.OwnerID+"/api-keys/"+k.ID+"/revoke", "").confirmed()}
	}
	return d, nil
}

func memberDetail(r *request, id string) (*objectDetail, error) {
	m, err := memberTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	d := &objectDetail{body: m.view(), operation: "listMembers", names: []string{m.Email}, imports: importBlock{"agentyard_member_invitation", localPart(m.Email), m.Email}}
	d.happened(m.CreatedAt, "Joined")
	d.happened(m.LastSignInAt, "Last sign-in")
	if m.ID != r.who.ID {
		d.actions = []statusAction{removeMemberAction("Remove", m.Email)}
	}
	return d, nil
}

func invitationDetail(r *request, id string) (*objectDetail, error) {
	i, err := invitationTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	d := &objectDetail{note: "The API does not return pending invitations.", names: []string{i.Email}, actions: []statusAction{removeMemberAction("Revoke", i.Email)}}
	d.happened(i.CreatedAt, "Invited")
	return d, nil
}

// limitDetail shows the limit of a member or, under the organization's ID, the global one.
func limitDetail(r *request, id string) (*objectDetail, error) {
	limit, err := limitTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	if id == scopeOrganization {
		return &objectDetail{
			body: globalLimit{limit}, operation: "getGlobalUsageLimit", imports: importBlock{"agentyard_global_usage_limit", "this", scopeOrganization},
			actions: []statusAction{apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/global", `{"limit":null}`).confirmed()},
		}, nil
	}
	m, err := memberTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	return &objectDetail{
		body: userLimit{m.Email, limit}, operation: "getUserUsageLimits", imports: importBlock{"agentyard_user_usage_limit", localPart(m.Email), m.Email},
		actions: []statusAction{apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/users", jsonText(map[string]any{"users": []userLimit{{m.Email, nil}}})).confirmed()},
	}, nil
}

func wikiRunDetail(r *request, id string) (*objectDetail, error) {
	run, err := wikiRunTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	asOwner := *r
	asOwner.who = run.Owner
	view, err := asOwner.wikiRunView(run)
	d := &objectDetail{body: view, operation: "getWikiRun", imports: importBlock{"agentyard_wiki_run", repositoryName(run.RepoURL), run.ID}}
	if run.VideoOverview != nil {
		d.note = "The video overview is not shown here."
	}
	d.happened(run.CreatedAt, "Created")
	remove := apiAction("Delete", "DELETE", "/api/v0/wiki/"+run.ID, "").confirmed()
	if !r.sees(run) {
		remove.Note, d.imports = ownersKey, importBlock{}
	}
	d.actions = []statusAction{remove}
	return d, err
}

func repositoryDetail(r *request, id string) (*objectDetail, error) {
	c, err := repositoryTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	return &objectDetail{
		body: c.view(), operation: "listCiRepositories", names: []string{c.URL, c.FullName},
		actions: []statusAction{controlAction("Disconnect", "DELETE", "repositories?url="+queryText(c.URL), "").confirmed()},
	}, nil
}

func jobDetail(r *request, id string) (*objectDetail, error) {
	j, err := jobTable.get(r.tx, id, errNoObject)
	if err != nil {
		return nil, err
	}
	d := &objectDetail{body: j.Job, operation: "listCiJobs"}
	d.happened(j.Job.CreatedAt, "Pull request opened")
	if !j.Open {
		d.history = append(d.history, historyEvent{Text: "Pull request merged"})
	} else {
		d.actions = []statusAction{controlAction("Merge", "POST", "ci/merge", jsonText(workflowMergeBody{j.Job.RepoFullName, j.Job.FilePath})).confirmed()}
	}
	return d, nil
}

// localPart is the part of an email address before the at sign.
func localPart(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}

// manager is the principal of the bootstrap key, with which the buttons of the page act.
func manager(tx *bolt.Tx) (principal, error) {
	m, err := firstManager(tx)
	if err != nil {
		return principal{}, err
	}
	return principal{Kind: kindHuman, ID: m.ID, Role: m.Role}, nil
}

// clockAge is how far a time is from now, on the emulator's clock.
func clockAge(at int64, now time.Time) string {
	switch by := now.Sub(timeOf(at)); {
	case by >= time.Second:
		return shortDuration(by) + " ago"
	case by <= -time.Second:
		return "in " + shortDuration(-by)
	}
	return "now"
}
