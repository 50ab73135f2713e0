package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// expiryIsNear is how long before its expiry a key stands out.
const expiryIsNear = 7 * 24 * time.Hour

// ownersKey is the note to what only the owner can do. Nobody else can import the object.
const ownersKey = "Needs an API key of the owner."

// The kinds of objects, as in the addresses of their pages.
const (
	objectComputers    = "computers"
	objectEnvironments = "environments"
	objectSessions     = "sessions"
	objectAccounts     = "service-accounts"
	objectKeys         = "api-keys"
	objectMembers      = "members"
	objectInvitations  = "invitations"
	objectLimits       = "usage-limits"
	objectWikis        = "wiki-runs"
	objectRepositories = "repositories"
	objectJobs         = "ci-jobs"
)

// objectKinds are all kinds, in the order of the status page.
func objectKinds() []*statusKind {
	return []*statusKind{
		{ID: objectComputers, Name: "Computers", One: "Computer", Heading: "Status", resource: "agentyard_computer", operation: "getComputer"},
		{ID: objectEnvironments, Name: "Environments", One: "Environment", Heading: "Status", resource: "agentyard_environment", operation: "getEnvironment", note: "Scripts and logs are not shown here."},
		{ID: objectSessions, Name: "Sessions", One: "Session", Heading: "Status", resource: "agentyard_session", operation: "getSession", note: "The title, prompts, and messages are not shown here."},
		{ID: objectAccounts, Name: "Service accounts", One: "Service account", Heading: "Status", resource: "agentyard_service_account", operation: "getServiceAccount"},
		{ID: objectKeys, Name: "API keys", One: "API key", Heading: "Status", resource: "agentyard_api_key", operation: "listApiKeys", note: "The value of a key is never shown. Terraform's plan shows due rotations."},
		{ID: objectMembers, Name: "Members", One: "Member", Heading: "Role", resource: "agentyard_member_invitation", operation: "listMembers"},
		{ID: objectInvitations, Name: "Invitations", One: "Invitation", Heading: "Role", note: "The API does not return pending invitations."},
		{ID: objectLimits, Name: "Usage limits", One: "Usage limit", Heading: "Limit", resource: "agentyard_user_usage_limit", operation: "getUserUsageLimits"},
		{ID: objectWikis, Name: "Wiki runs", One: "Wiki run", Heading: "Privacy", resource: "agentyard_wiki_run", operation: "getWikiRun", note: "A video overview is not shown here."},
		{ID: objectRepositories, Name: "Repositories", One: "Repository", Heading: "Permission", operation: "listCiRepositories"},
		{ID: objectJobs, Name: "CI jobs", One: "CI job", Heading: "Pull request", operation: "listCiJobs"},
	}
}

// statusKind is all objects of one kind.
type statusKind struct {
	ID, Name, One, Heading string // As in addresses, of several, of one, and what the state of such an object is.
	States                 []stateCount
	Total                  int
	Rows                   []statusRow // Failed ones first, then the newest.
	Rest                   int         // How many rows only the list of all has.
	Dated, Moved           bool        // Whether objects have times, and whether the clock was moved.

	resource        string // What imports an object.
	operation, note string // The operation that returns an object, and what about it is worth knowing.
}

type stateCount struct {
	State, Class string
	Count        int
}

// statusRow is an object.
type statusRow struct {
	objectRef
	State, Class string
	Owner        string
	Note, Badge  string // The badge is a note that stands out.
	At           objectTime
	born

	importID string // The ID that imports it, if that is another one.
	foreign  bool   // Only the owner can delete and import it.
	requests string // What the path or the query of a request for it contains, if that is not the ID.
	detail   func() (objectDetail, error)
}

// objectDetail is what only the page of an object shows.
type objectDetail struct {
	body    any // What the API returns; nil if it returns nothing.
	history []historyEvent
	actions []statusAction
}

// historyEvent is something that happened to an object and that its JSON does not say.
type historyEvent struct {
	at          int64
	Text, Class string
}

// stateClasses are the states that stand out.
var stateClasses = map[string]string{
	statusError: "bad", "failed": "bad",
	statusProvisioning: "busy", "building": "busy", sessionRunning: "busy", sessionPending: "busy",
	"expired": "warn", "grace period": "warn",
}

// statusObjects collects what the status page shows of the stored objects.
type statusObjects struct {
	*request
	owners map[string]string // Their names, by the ID of a principal.
	kinds  []*statusKind
	err    error
}

// readObjects reads all objects, and what the page of one shows if it is named and exists. States depend on the clock, so counting
// them takes reading each object.
func (e *Emulator) readObjects(kind, id string) (kinds []*statusKind, row *statusRow, d objectDetail, err error) {
	s := &statusObjects{kinds: objectKinds(), owners: map[string]string{scopeOrganization: "organization"}}
	err = e.store.db.View(func(tx *bolt.Tx) error {
		// The buttons of the page act with the bootstrap key.
		m, err := firstManager(tx)
		if err != nil {
			return err
		}
		s.request = &request{e: e, tx: tx, now: e.clock.Now(), who: principal{Kind: kindHuman, ID: m.ID, Role: m.Role}}
		s.read()
		if k := s.kind(kind); k != nil && s.err == nil {
			if at := slices.IndexFunc(k.Rows, func(r statusRow) bool { return r.ID == id }); at >= 0 {
				one := k.Rows[at]
				row = &one
				d, s.err = row.detail()
			}
		}
		return s.err
	})
	for _, k := range s.kinds {
		k.Moved = e.clock.By() > 0
		k.finish()
	}
	return s.kinds, row, d, err
}

func (s *statusObjects) read() {
	// Principals come first, because the others have them as owners.
	addRows(s, objectMembers, memberTable, func(id string, m *member) *statusRow {
		s.owners[id] = m.Email
		row := &statusRow{objectRef: objectRef{ID: id, Name: m.Email}, State: m.Role, born: born{CreatedAt: m.CreatedAt}, importID: m.Email, requests: m.Email}
		remove := []statusAction{removeMemberAction("Remove", m.Email)}
		if id == s.who.ID {
			remove = nil
		}
		return row.with(m.view(), remove...)
	})
	addRows(s, objectAccounts, accountTable, func(id string, a *serviceAccount) *statusRow {
		if a.DeletedAt != 0 {
			return nil
		}
		s.owners[id] = a.Name
		return (&statusRow{objectRef: objectRef{ID: id, Name: a.Name}, State: a.Status, born: a.born}).with(a.view(), apiAction("Delete", "DELETE", "/api/v0/service-accounts/"+a.ID, "").confirmed())
	})
	addRows(s, objectInvitations, invitationTable, func(key string, i *invitation) *statusRow {
		row := &statusRow{objectRef: objectRef{ID: key, Name: i.Email}, State: i.Role, born: born{CreatedAt: i.CreatedAt}, requests: i.Email}
		return row.with(nil, removeMemberAction("Revoke", i.Email))
	})
	addRows(s, objectComputers, computerTable, s.computerRow)
	addRows(s, objectEnvironments, environmentTable, s.environmentRow)
	addRows(s, objectSessions, sessionTable, s.sessionRow)
	addRows(s, objectKeys, keyTable, s.keyRow)
	addRows(s, objectLimits, limitTable, func(owner string, credits *int64) *statusRow {
		row := &statusRow{objectRef: objectRef{ID: owner, Name: s.owners[owner]}, State: thousands(*credits) + " credits", importID: s.owners[owner]}
		if owner == scopeOrganization {
			row.requests = "/usage/limits/global"
			return row.with(globalLimit{credits}, apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/global", `{"limit":null}`).confirmed())
		}
		removal := jsonText(map[string]any{"users": []userLimit{{row.Name, nil}}})
		return row.with(userLimit{row.Name, credits}, apiAction("Remove", "PUT", "/api/v0/organization/usage/limits/users", removal).confirmed())
	})
	addRows(s, objectRepositories, repositoryTable, func(key string, c *connectedRepository) *statusRow {
		row := &statusRow{objectRef: objectRef{ID: key, Name: c.URL}, State: c.UserPermission}
		return row.with(c.view(), controlAction("Disconnect", "DELETE", "repositories?url="+queryText(c.URL), "").confirmed())
	})
	addRows(s, objectWikis, wikiRunTable, func(id string, w *wikiRun) *statusRow {
		row := &statusRow{objectRef: objectRef{ID: id, Name: w.RepoURL}, State: w.PrivacyLevel, Note: "branch " + w.Branch, born: w.born, Owner: s.owners[w.Owner.ID], foreign: !s.sees(w)}
		row.detail = func() (objectDetail, error) {
			asOwner := *s.request
			asOwner.who = w.Owner
			view, err := asOwner.wikiRunView(w)
			return objectDetail{body: view, actions: []statusAction{apiAction("Delete", "DELETE", "/api/v0/wiki/"+id, "").confirmed()}}, err
		}
		return row
	})
	addRows(s, objectJobs, jobTable, func(_ string, j *ciJob) *statusRow {
		row := &statusRow{objectRef: objectRef{ID: j.Job.ID, Name: j.Job.RepoFullName + " " + j.Job.FilePath}, State: "merged", Note: j.Job.Action, born: j.Born}
		if !j.Open {
			return row.with(j.Job)
		}
		row.State = "open"
		return row.with(j.Job, controlAction("Merge", "POST", "ci/merge", jsonText(map[string]string{"repoFullName": j.Job.RepoFullName, "filePath": j.Job.FilePath})).confirmed())
	})
}

// with adds what the page of an object shows, if there is no more to read for it.
func (r *statusRow) with(body any, actions ...statusAction) *statusRow {
	r.detail = func() (objectDetail, error) { return objectDetail{body: body, actions: actions}, nil }
	return r
}

// kind returns the kind with an ID, or nil.
func (s *statusObjects) kind(id string) *statusKind {
	if at := slices.IndexFunc(s.kinds, func(k *statusKind) bool { return k.ID == id }); at >= 0 {
		return s.kinds[at]
	}
	return nil
}

// addRows adds a row for each object in a table, except those that have none.
func addRows[T any](s *statusObjects, kind string, t *table[T], row func(key string, object *T) *statusRow) {
	k := s.kind(kind)
	s.err = errors.Join(s.err, t.each(s.tx, "", func(key string, object *T) error {
		if r := row(key, object); r != nil {
			r.Kind, r.Class, r.At = kind, stateClasses[r.State], objectTimeOf(r.CreatedAt)
			k.Rows = append(k.Rows, *r)
		}
		return nil
	}))
}

// finish counts the states, and sorts the rows: what failed first, and then the newest.
func (k *statusKind) finish() {
	k.Total = len(k.Rows)
	counts := map[string]int{}
	for i := range k.Rows {
		counts[k.Rows[i].State]++
	}
	for state, n := range counts {
		k.States = append(k.States, stateCount{state, stateClasses[state], n})
	}
	slices.SortFunc(k.States, func(a, b stateCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State))
	})
	slices.SortStableFunc(k.Rows, func(a, b statusRow) int {
		return cmp.Or(cmp.Compare(severity(a), severity(b)), compareNewest(a.born, b.born), cmp.Compare(a.Name, b.Name))
	})
	k.Dated = k.Total > 0 && k.Rows[0].CreatedAt != 0
	if k.ID == objectLimits {
		k.States = nil
	}
}

func severity(r statusRow) int {
	if r.Class == "bad" {
		return 0
	}
	return 1
}

func (s *statusObjects) computerRow(id string, c *computer) *statusRow {
	p := c.progressAt(s.now)
	row := &statusRow{objectRef: objectRef{ID: id, Name: c.Name}, State: p.status, born: c.born, Owner: s.owners[c.OwnerID]}
	for _, step := range p.steps {
		if step.Status == "in_progress" || step.Status == "failed" {
			row.Note = step.Name
		}
		if step.Error != "" {
			row.Note += ": " + shortText(step.Error)
			break
		}
	}
	var actions []statusAction
	if c.ProviderType != providerBYOM && p.status == statusActive {
		actions = append(actions, controlAction("Break", "POST", "computers/"+id+"/break", "").confirmed())
	}
	return row.with(c.view(s.now, true), append(actions, controlAction("Delete", "DELETE", "computers/"+id, "").confirmed())...)
}

func (s *statusObjects) environmentRow(id string, env *environment) *statusRow {
	latest, err := s.build(env, env.LatestBuild)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	state := latest.at(s.now)
	row := &statusRow{
		objectRef: objectRef{ID: id, Name: env.Name}, State: state.environmentStatus(), born: env.born, Owner: s.owners[env.Owner],
		foreign: env.Owner != scopeOrganization && env.Owner != s.who.ID,
	}
	switch {
	case state.failure != nil:
		row.Note = shortText(state.failure.Reason)
	case state.running():
		row.Note = state.status
	}
	row.detail = func() (objectDetail, error) {
		defaultID, err := defaultEnvironment(s.tx)
		view, viewErr := s.environmentView(env, defaultID, false)
		builds, listErr := buildTable.list(s.tx, key(env.ID, ""))
		d := objectDetail{body: view, actions: []statusAction{apiAction("Delete", "DELETE", "/api/v0/environments/"+id, "").confirmed()}}
		for _, b := range builds {
			state := b.at(s.now)
			event := historyEvent{cmp.Or(state.finishedAt, state.startedAt, b.CreatedAt), fmt.Sprintf("Build %s (%s): %s", b.ID, b.Trigger, state.status), stateClasses[state.status]}
			if state.failure != nil {
				event.Text += ": " + shortText(state.failure.Reason)
			}
			d.history = append(d.history, event)
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
	row := &statusRow{objectRef: objectRef{ID: id, Name: id}, State: o.present(s.now).Status, born: born{CreatedAt: o.CreatedAt}, Owner: s.owners[o.OwnerID]}
	row.detail = func() (objectDetail, error) {
		view := o.view(o.present(s.now))
		view.ServiceCredits = &o.Credits
		messages, err := messageTable.list(s.tx, key(id, ""))
		d := objectDetail{body: view, actions: []statusAction{apiAction("Delete", "DELETE", "/api/v0/sessions/"+id, "").confirmed()}}
		for _, a := range o.Activities {
			if a.At > o.CreatedAt && a.At <= millis(s.now) {
				d.history = append(d.history, historyEvent{a.At, "Status " + a.Status, stateClasses[a.Status]})
			}
		}
		for _, m := range messages {
			if m.CreatedAt <= millis(s.now) {
				d.history = append(d.history, historyEvent{m.CreatedAt, "Message: " + m.Role, ""})
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
	row := &statusRow{objectRef: objectRef{ID: k.ID, Name: k.Name}, State: "valid", born: k.born, Owner: owner, importID: k.OwnerID + "/" + k.ID}
	left := timeOf(k.ExpiresAt).Sub(s.now)
	switch {
	case k.revoked(s.now):
		row.State = "revoked"
		return row.with(k.view(s.now))
	case k.expired(s.now):
		row.State = "expired"
	case k.RevokedAt != 0:
		row.State, row.Badge = "grace period", "revoked in "+shortDuration(timeOf(k.RevokedAt).Sub(s.now))
	case k.ExpiresAt != 0 && left <= expiryIsNear:
		row.Badge = "expires in " + shortDuration(left)
	case k.ExpiresAt != 0:
		row.Note = "expires in " + shortDuration(left)
	}
	return row.with(k.view(s.now), apiAction("Revoke", "POST", "/api/v0/service-accounts/"+k.OwnerID+"/api-keys/"+k.ID+"/revoke", "").confirmed())
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
