package emulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// expiryIsNear is how long before its expiry a key stands out.
const expiryIsNear = 7 * 24 * time.Hour

// objectKinds are all kinds, in the order of the status page.
func objectKinds() []*statuspage.Kind {
	return []*statuspage.Kind{
		{ID: "computers", Name: "Computers", One: "Computer", Heading: "Status", Resource: "agentyard_computer", Operation: "getComputer"},
		{ID: "environments", Name: "Environments", One: "Environment", Heading: "Status", Resource: "agentyard_environment", Operation: "getEnvironment", Note: "Scripts and logs are not shown here."},
		{ID: "sessions", Name: "Sessions", One: "Session", Heading: "Status", Resource: "agentyard_session", Operation: "getSession", Note: "The title, prompts, and messages are not shown here."},
		{ID: "service-accounts", Name: "Service accounts", One: "Service account", Heading: "Status", Resource: "agentyard_service_account", Operation: "getServiceAccount"},
		{ID: "api-keys", Name: "API keys", One: "API key", Heading: "Status", Resource: "agentyard_api_key", Operation: "listApiKeys", Note: "The value of a key is never shown. Terraform's plan shows due rotations."},
		{ID: "members", Name: "Members", One: "Member", Heading: "Role", Resource: "agentyard_member_invitation", Operation: "listMembers"},
		{ID: "invitations", Name: "Invitations", One: "Invitation", Heading: "Role", Note: "The API does not return pending invitations."},
		{ID: "usage-limits", Name: "Usage limits", One: "Usage limit", Heading: "Limit", Resource: "agentyard_user_usage_limit", Operation: "getUserUsageLimits"},
		{ID: "wiki-runs", Name: "Wiki runs", One: "Wiki run", Heading: "Privacy", Resource: "agentyard_wiki_run", Operation: "getWikiRun", Note: "A video overview is not shown here."},
		{ID: "repositories", Name: "Repositories", One: "Repository", Heading: "Permission", Operation: "listCiRepositories"},
		{ID: "ci-jobs", Name: "CI jobs", One: "CI job", Heading: "Pull request", Operation: "listCiJobs"},
	}
}

// statusRow is an object, and what its page shows.
type statusRow struct {
	statuspage.Row
	detail func() (statuspage.Detail, error)
}

// statusObjects collects what the status page shows of the stored objects.
type statusObjects struct {
	*request
	kind, id string            // Whose page is read.
	owners   map[string]string // Their names, by the ID of a principal.
	kinds    []*statuspage.Kind
	row      *statusRow // The object whose page is read, if it exists.
	err      error
}

// Objects reads all objects. States depend on the clock, so counting them takes reading each object.
func (e statusSource) Objects(kind, id string) (kinds []*statuspage.Kind, row *statuspage.Row, d statuspage.Detail, err error) {
	s := &statusObjects{kind: kind, id: id, kinds: objectKinds(), owners: map[string]string{scopeOrganization: "organization"}}
	err = e.store.db.View(func(tx *bolt.Tx) error {
		// The buttons of the page act with the bootstrap key.
		m, err := firstManager(tx)
		if err != nil {
			return err
		}
		s.request = &request{e: e.Emulator, tx: tx, now: e.clock.Now(), who: principal{Kind: kindHuman, ID: m.ID, Role: m.Role}}
		if s.read(); s.row != nil && s.err == nil {
			row = &s.row.Row
			d, s.err = s.row.detail()
		}
		return s.err
	})
	return s.kinds, row, d, err
}

func (s *statusObjects) read() {
	// Principals come first, because the others have them as owners.
	addRows(s, "members", memberTable, func(id string, m *member) *statusRow {
		s.owners[id] = m.Email
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: id, Name: m.Email}, State: m.Role, CreatedAt: millis(m.CreatedAt), ImportID: m.Email, Requests: m.Email}}
		remove := []statuspage.Action{removeMemberAction("Remove", m.Email)}
		if id == s.who.ID {
			remove = nil
		}
		return row.with(m.memberView, remove...)
	})
	addRows(s, "service-accounts", accountTable, func(id string, a *serviceAccount) *statusRow {
		if a.DeletedAt != 0 {
			return nil
		}
		s.owners[id] = a.Name
		return (&statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: id, Name: a.Name}, State: a.Status, CreatedAt: a.CreatedAt, Seq: a.Seq}}).with(a.accountView, apiAction("Delete", "DELETE", "/api/v0/service-accounts/"+a.ID, ""))
	})
	addRows(s, "invitations", invitationTable, func(key string, i *invitation) *statusRow {
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: key, Name: i.Email}, State: i.Role, CreatedAt: i.CreatedAt, Requests: i.Email}}
		return row.with(nil, removeMemberAction("Revoke", i.Email))
	})
	addRows(s, "computers", computerTable, s.computerRow)
	addRows(s, "environments", environmentTable, s.environmentRow)
	addRows(s, "sessions", sessionTable, s.sessionRow)
	addRows(s, "api-keys", keyTable, s.keyRow)
	addRows(s, "usage-limits", limitTable, func(owner string, credits *int64) *statusRow {
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: owner, Name: s.owners[owner]}, State: thousands(*credits) + " credits", ImportID: s.owners[owner]}}
		if owner == scopeOrganization {
			row.Requests, row.Resource = "/usage/limits/global", "agentyard_global_usage_limit"
			return row.with(values{"limit": credits}, apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/global", `{"limit":null}`))
		}
		removal := jsonText(values{"users": []userLimit{{row.Name, nil}}})
		return row.with(userLimit{row.Name, credits}, apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/users", removal))
	})
	addRows(s, "repositories", repositoryTable, func(key string, c *connectedRepository) *statusRow {
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: key, Name: c.URL}, State: c.UserPermission}}
		return row.with(c, controlAction("Disconnect", "DELETE", "repositories?url="+url.QueryEscape(c.URL), ""))
	})
	addRows(s, "wiki-runs", wikiRunTable, func(id string, w *wikiRun) *statusRow {
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: id, Name: w.RepoURL}, State: w.PrivacyLevel, Note: "branch " + w.Branch, CreatedAt: w.CreatedAt, Seq: w.Seq, Owner: s.owners[w.Owner.ID], Foreign: !s.sees(w)}}
		row.detail = func() (statuspage.Detail, error) {
			asOwner := *s.request
			asOwner.who = w.Owner
			view, err := asOwner.wikiRunView(w)
			return statuspage.Detail{Body: view, Actions: []statuspage.Action{apiAction("Delete", "DELETE", "/api/v0/wiki/"+id, "")}}, err
		}
		return row
	})
	addRows(s, "ci-jobs", jobTable, func(_ string, j *ciJob) *statusRow {
		row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: j.Job.ID, Name: j.Job.RepoFullName + " " + j.Job.FilePath}, State: "merged", Note: j.Job.Action, CreatedAt: j.Born.CreatedAt, Seq: j.Born.Seq}}
		if !j.Open {
			return row.with(j.Job)
		}
		row.State = "open"
		return row.with(j.Job, controlAction("Merge", "POST", "ci/merge", jsonText(map[string]string{"repoFullName": j.Job.RepoFullName, "filePath": j.Job.FilePath})))
	})
}

// with adds what the page of an object shows, if there is no more to read for it.
func (r *statusRow) with(body any, actions ...statuspage.Action) *statusRow {
	r.detail = func() (statuspage.Detail, error) { return statuspage.Detail{Body: body, Actions: actions}, nil }
	return r
}

// addRows adds a row for each object in a table, except those that have none.
func addRows[T any](s *statusObjects, kind string, t *table[T], row func(key string, object *T) *statusRow) {
	k := s.kinds[slices.IndexFunc(s.kinds, func(k *statuspage.Kind) bool { return k.ID == kind })]
	s.err = errors.Join(s.err, t.each(s.tx, "", func(key string, object *T) error {
		r := row(key, object)
		if r == nil {
			return nil
		}
		r.Kind = kind
		k.Rows = append(k.Rows, r.Row)
		if kind == s.kind && r.ID == s.id {
			s.row = r
		}
		return nil
	}))
}

func (s *statusObjects) computerRow(id string, c *computer) *statusRow {
	p := c.progressAt(s.now)
	row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: id, Name: c.Name}, State: p.status, CreatedAt: c.CreatedAt, Seq: c.Seq, Owner: s.owners[c.OwnerID]}}
	for _, step := range p.steps {
		if step.Status == "in_progress" || step.Status == "failed" {
			row.Note = step.Name
		}
		if step.Error != "" {
			row.Note += ": " + statuspage.Short(step.Error)
			break
		}
	}
	var actions []statuspage.Action
	if c.ProviderType != providerBYOM && p.status == statusActive {
		actions = append(actions, controlAction("Break", "POST", "computers/"+id+"/break", ""))
	}
	return row.with(c.view(s.now, true), append(actions, controlAction("Delete", "DELETE", "computers/"+id, ""))...)
}

func (s *statusObjects) environmentRow(id string, env *environment) *statusRow {
	latest, err := s.build(env, env.LatestBuild)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	state := latest.at(s.now)
	row := &statusRow{Row: statuspage.Row{
		Ref: statuspage.Ref{ID: id, Name: env.Name}, State: state.environmentStatus(), CreatedAt: env.CreatedAt, Seq: env.Seq, Owner: s.owners[env.Owner],
		Foreign: env.Owner != scopeOrganization && env.Owner != s.who.ID,
	}}
	switch {
	case state.failure != nil:
		row.Note = statuspage.Short(state.failure.Reason)
	case state.running():
		row.Note = state.status
	}
	row.detail = func() (statuspage.Detail, error) {
		defaultID, err := defaultEnvironment(s.tx)
		view, viewErr := s.environmentView(env, defaultID, false)
		builds, listErr := buildTable.list(s.tx, key(env.ID, ""))
		d := statuspage.Detail{Body: view, Actions: []statuspage.Action{apiAction("Delete", "DELETE", "/api/v0/environments/"+id, "")}}
		for _, b := range builds {
			state := b.at(s.now)
			event := statuspage.Event{At: cmp.Or(state.finishedAt, state.startedAt, b.CreatedAt), Text: fmt.Sprintf("Build %s (%s)", state.status, b.Trigger), Note: b.ID, State: state.status}
			if state.failure != nil {
				event.Text += ": " + statuspage.Short(state.failure.Reason)
			}
			d.History = append(d.History, event)
		}
		return d, errors.Join(err, viewErr, listErr)
	}
	return row
}

// sessionRow shows who wrote messages and when, but no texts.
func (s *statusObjects) sessionRow(id string, o *session) *statusRow {
	if o.DeletedAt != 0 {
		return nil
	}
	row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: id, Name: s.sessionName(o)}, State: o.present(s.now).Status, CreatedAt: o.CreatedAt, Owner: s.owners[o.OwnerID]}}
	row.detail = func() (statuspage.Detail, error) {
		view := o.view(o.present(s.now))
		view.ServiceCredits = &o.Credits
		messages, err := messageTable.list(s.tx, key(id, ""))
		d := statuspage.Detail{Body: view, Actions: []statuspage.Action{apiAction("Delete", "DELETE", "/api/v0/sessions/"+id, "")}}
		for _, a := range o.Activities {
			if a.At > o.CreatedAt && a.At <= millis(s.now) {
				d.History = append(d.History, statuspage.Event{At: a.At, Text: "Status " + a.Status, State: a.Status})
			}
		}
		for _, m := range messages {
			if m.CreatedAt <= millis(s.now) {
				d.History = append(d.History, statuspage.Event{At: m.CreatedAt, Text: "Message: " + m.Role})
			}
		}
		return d, err
	}
	return row
}

// keyRow shows a key of a service account.
func (s *statusObjects) keyRow(_ string, k *keyRecord) *statusRow {
	owner, known := s.owners[k.OwnerID]
	if k.OwnerKind != kindService || !known {
		return nil
	}
	row := &statusRow{Row: statuspage.Row{Ref: statuspage.Ref{ID: k.ID, Name: k.Name + " of " + owner}, State: "valid", CreatedAt: k.CreatedAt, Seq: k.Seq, ImportID: k.OwnerID + "/" + k.ID}}
	left := timeOf(k.ExpiresAt).Sub(s.now)
	switch {
	case k.revoked(s.now):
		row.State = "revoked"
		return row.with(k.view(s.now))
	case k.expired(s.now):
		row.State = "expired"
	case k.RevokedAt != 0:
		row.State, row.Badge = "grace period", "revoked in "+statuspage.Duration(timeOf(k.RevokedAt).Sub(s.now))
	case k.ExpiresAt != 0 && left <= expiryIsNear:
		row.Badge = "expires in " + statuspage.Duration(left)
	case k.ExpiresAt != 0:
		row.Note = "expires in " + statuspage.Duration(left)
	}
	return row.with(k.view(s.now), apiAction("Revoke", "POST", "/api/v0/service-accounts/"+k.OwnerID+"/api-keys/"+k.ID+"/revoke", ""))
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// controlAction is an operation of the control API.
func controlAction(label, method, path, body string) statuspage.Action {
	return apiAction(label, method, controlPrefix+path, body)
}

// apiAction is an operation of the API itself. It is in the journal, and faults affect it, as for anybody else.
func apiAction(label, method, path, body string) statuspage.Action {
	return statuspage.Action{Label: label, Method: method, Path: path, Body: body, Confirm: true}
}

func removeMemberAction(label, email string) statuspage.Action {
	return apiAction(label, "DELETE", "/api/v0/organization/users?email="+url.QueryEscape(email), "")
}

func jsonText(body any) string {
	data, _ := json.Marshal(body) // Bodies are plain values of ours.
	return string(data)
}

// statusSource is what the status page reads.
type statusSource struct{ *Emulator }

func (e statusSource) Version() int64          { return e.changes.Load() }
func (e statusSource) Connected() map[int]bool { return e.runs.connected() }
func (e statusSource) Requests() []Entry       { return e.journal.Entries() }

func (e statusSource) State() statuspage.State {
	s := e.switched()
	return statuspage.State{
		URL: e.URL(), ClockFile: e.ClockFile(), Tier: e.tier(), Now: e.clock.Now(), Ahead: e.clock.By(), Kept: e.opts.DataFile != "",
		Faults: append(e.faults.view(), s.view()...),
	}
}

func (e statusSource) NewestRuns(n, before int) (runs [][]Entry, older bool) {
	return e.journal.newestRuns(n, before)
}

func (e statusSource) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = notFound("There is no file at the path %s.", r.URL.Path)
	}
	e.writeError(w, r, err)
}

// view shows the faults that are still pending.
func (f *Faults) view() []statuspage.Fault {
	var views []statuspage.Fault
	for _, p := range f.Pending() {
		v := statuspage.Fault{Kind: string(p.Kind), For: "all operations", Left: timesLeft(p.Times)}
		if p.Operation != "" {
			v.For = p.Operation
		}
		if p.Match != "" {
			v.For += ", paths with " + statuspage.Short(p.Match)
		}
		if p.After > 0 {
			v.For += fmt.Sprintf(", after %d more", p.After)
		}
		views = append(views, v)
	}
	return views
}

// view shows the failures that were programmed for objects, and what is switched off.
func (p switches) view() []statuspage.Fault {
	var views []statuspage.Fault
	for _, f := range p.failSteps {
		views = append(views, statuspage.Fault{Kind: "provisioning failure", For: objectsNamed("computers", f.Name) + ", step " + f.Step, Left: timesLeft(f.Times)})
	}
	for _, f := range p.failBuilds {
		views = append(views, statuspage.Fault{Kind: "build failure", For: objectsNamed("environments", f.Name) + ", phase " + f.Phase, Left: timesLeft(f.Times)})
	}
	if p.bulk != nil {
		views = append(views, statuspage.Fault{Kind: "bulk failure", For: fmt.Sprintf("after %d computers", p.bulk.After), Left: timesLeft(1)})
	}
	off := map[string]bool{"environments": p.noEnvironments, "sessions": p.noSessions, "analytics": p.noAnalytics, "repositories": p.noIntegration}
	for id, available := range p.providers {
		off[id] = !available
	}
	for _, name := range slices.Sorted(maps.Keys(off)) {
		if off[name] {
			views = append(views, statuspage.Fault{Kind: "switched off", For: name, Left: timesLeft(-1)})
		}
	}
	return views
}

func objectsNamed(plural, name string) string {
	if name == "" {
		return "all " + plural
	}
	return plural + " " + statuspage.Short(name)
}

func timesLeft(times int) string {
	if times < 0 {
		return "always"
	}
	return fmt.Sprintf("%d left", times)
}
