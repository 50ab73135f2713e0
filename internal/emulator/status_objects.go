package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// statusMore is how many further rows of a kind open on the page itself. Beyond that there is a list of all.
	statusMore = 100
	// expiryIsNear is how long before its expiry a key stands out.
	expiryIsNear = 7 * 24 * time.Hour
)

// The kinds of objects, as in the addresses of their pages.
const (
	objectComputers    = "computers"
	objectFleets       = "fleets"
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

// objectKind is a kind of objects that the status page shows.
type objectKind struct {
	id, name, one string // As in addresses, of several, and of one.
	heading       string // What the state of such an object is.
	detail        func(r *request, key string) (*objectDetail, error)
}

// objectKinds are all kinds, in the order of the status page.
func objectKinds() []objectKind {
	return []objectKind{
		{objectComputers, "Computers", "Computer", "Status", computerDetail},
		{objectEnvironments, "Environments", "Environment", "Status", environmentDetail},
		{objectSessions, "Sessions", "Session", "Status", sessionDetail},
		{objectAccounts, "Service accounts", "Service account", "Status", accountDetail},
		{objectKeys, "API keys", "API key", "Status", keyDetail},
		{objectMembers, "Members", "Member", "Role", memberDetail},
		{objectInvitations, "Invitations", "Invitation", "Role", invitationDetail},
		{objectLimits, "Usage limits", "Usage limit", "Limit", limitDetail},
		{objectWikis, "Wiki runs", "Wiki run", "Privacy", wikiRunDetail},
		{objectRepositories, "Repositories", "Repository", "Permission", repositoryDetail},
		{objectJobs, "CI jobs", "CI job", "Pull request", jobDetail},
	}
}

// objectRef is the address of an object's page. Without a kind, it is only a name.
type objectRef struct{ Kind, ID, Name string }

// Path is the path of the page, or empty.
func (o objectRef) Path() string {
	if o.Kind == "" {
		return ""
	}
	return objectsPrefix + o.Kind + "/" + url.PathEscape(o.ID)
}

// OwnID is the ID, or empty if the object has only a key that the emulator made of the IDs of others.
func (o objectRef) OwnID() string {
	if o.Kind == objectLimits || o.Kind == objectFleets {
		return ""
	}
	return o.ID
}

// ShownID is OwnID, or empty if the name contains it.
func (o objectRef) ShownID() string {
	if strings.Contains(strings.ToLower(o.Name), strings.ToLower(o.ID)) {
		return ""
	}
	return o.OwnID()
}

func (o objectRef) is(other objectRef) bool { return o.Kind == other.Kind && o.ID == other.ID }

// relation is an object that another one belongs to.
type relation struct {
	What string
	objectRef
}

// statusKind is all objects of one kind.
type statusKind struct {
	Name, ID, Heading string
	Total             int
	States            []stateCount
	Rows, More        []statusRow // Failed ones first, then the newest: those that are shown, and those that open.
	Rest              int         // How many rows only the list of all has.
	Dated, Moved      bool        // Whether objects have times, and whether the clock was moved.
	List              string      // The address of the list of all.

	all []statusRow
}

type stateCount struct {
	State, Class string
	Count        int
}

// statusRow is an object, or a fleet with its computers as members.
type statusRow struct {
	objectRef
	State, Class string
	Owner        string
	Note, Badge  string // The badge is a note that stands out.
	At           objectTime
	Counts       []stateCount // Of the members.
	Members      []statusRow
	MemberCount  int
	born

	relations []relation
	key       string // Of the object in its table.
	deleted   bool   // It has a page, but no row.
}

// objectTime is a time on the emulator's clock, to the minute and to the second.
type objectTime struct{ Short, Exact string }

func objectTimeOf(ms int64) objectTime {
	if ms == 0 {
		return objectTime{}
	}
	at := timeOf(ms)
	return objectTime{at.Format("2006-01-02 15:04"), at.Format("2006-01-02 15:04:05")}
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
	owners map[string]objectRef // By the ID of a principal.
	gone   map[string]bool      // Which of them are deleted.
	kinds  []*statusKind
	err    error
}

// arrange arranges the objects for the status page: kinds with failures first.
func (s *statusObjects) arrange() []*statusKind {
	for _, k := range s.kinds {
		k.finish(groupFleets)
	}
	slices.SortStableFunc(s.kinds, func(a, b *statusKind) int { return cmp.Compare(a.severity(), b.severity()) })
	return s.kinds
}

// byID returns all objects by their IDs. The ID of a limit is that of a member.
func (s *statusObjects) byID() map[string]objectRef {
	objects := map[string]objectRef{}
	for _, k := range s.kinds {
		for i := range k.all {
			if k.ID != objectLimits {
				objects[k.all[i].ID] = k.all[i].objectRef
			}
		}
	}
	return objects
}

// readObjects reads all objects. States depend on the clock, so counting them takes reading each object.
func readObjects(r *request) *statusObjects {
	s := &statusObjects{request: r, gone: map[string]bool{}, owners: map[string]objectRef{scopeOrganization: {Name: "organization"}}}
	for _, k := range objectKinds() {
		s.kinds = append(s.kinds, &statusKind{Name: k.name, ID: k.id, Heading: k.heading, List: objectsPrefix + k.id, Moved: r.e.clock.By() > 0})
	}
	// Principals come first, because the others have them as owners.
	addRows(s, objectMembers, memberTable, func(id string, m *member) *statusRow {
		s.owners[id] = objectRef{objectMembers, id, m.Email}
		return &statusRow{objectRef: s.owners[id], State: m.Role, born: born{CreatedAt: m.CreatedAt}}
	})
	addRows(s, objectAccounts, accountTable, func(id string, a *serviceAccount) *statusRow {
		row := &statusRow{objectRef: objectRef{objectAccounts, id, a.Name}, State: a.Status, born: a.born, deleted: a.DeletedAt != 0}
		if row.deleted {
			row.State = "deleted"
		}
		s.owners[id], s.gone[id] = row.objectRef, row.deleted
		return row
	})
	addRows(s, objectInvitations, invitationTable, func(key string, i *invitation) *statusRow {
		return &statusRow{objectRef: objectRef{objectInvitations, key, i.Email}, State: i.Role, born: born{CreatedAt: i.CreatedAt}}
	})
	addRows(s, objectComputers, computerTable, s.computerRow)
	addRows(s, objectEnvironments, environmentTable, s.environmentRow)
	addRows(s, objectSessions, sessionTable, s.sessionRow)
	addRows(s, objectKeys, keyTable, s.keyRow)
	addRows(s, objectLimits, limitTable, func(owner string, credits *int64) *statusRow {
		row := &statusRow{objectRef: objectRef{objectLimits, owner, s.owners[owner].Name}, State: thousands(*credits) + " credits"}
		return row.ownedBy("Member", s.owners[owner], false)
	})
	addRows(s, objectRepositories, repositoryTable, func(key string, c *connectedRepository) *statusRow {
		return &statusRow{objectRef: objectRef{objectRepositories, key, c.URL}, State: c.UserPermission}
	})
	addRows(s, objectWikis, wikiRunTable, s.wikiRow)
	addRows(s, objectJobs, jobTable, func(_ string, j *ciJob) *statusRow {
		row := &statusRow{objectRef: objectRef{objectJobs, j.Job.ID, j.Job.RepoFullName + " " + j.Job.FilePath}, State: "merged", Note: j.Job.Action, born: j.Born}
		if j.Open {
			row.State = "open"
		}
		row.relate("Repository", objectRef{objectRepositories, repositoryKey(j.Job.RepoFullName), j.Job.RepoFullName})
		return row
	})
	return s
}

// kind returns the kind with an ID, or nil.
func (s *statusObjects) kind(id string) *statusKind {
	for _, k := range s.kinds {
		if k.ID == id {
			return k
		}
	}
	return nil
}

// addRows adds a row for each object in a table, except those that have none.
func addRows[T any](s *statusObjects, kind string, t *table[T], row func(key string, object *T) *statusRow) {
	k := s.kind(kind)
	s.err = errors.Join(s.err, t.each(s.tx, "", func(key string, object *T) error {
		r := row(key, object)
		if r == nil {
			return nil
		}
		r.key, r.Class, r.At = key, stateClasses[r.State], objectTimeOf(r.CreatedAt)
		k.all = append(k.all, *r)
		return nil
	}))
}

// relate links a row to an object that it belongs to. Some have none.
func (r *statusRow) relate(what string, to objectRef) {
	if to.ID != "" {
		r.relations = append(r.relations, relation{what, to})
	}
}

// ownedBy sets the owner of a row, and returns the row.
func (r *statusRow) ownedBy(what string, owner objectRef, shown bool) *statusRow {
	if shown {
		r.Owner = owner.Name
	}
	r.relate(what, owner)
	return r
}

// finish counts the states, and arranges the rows as the status page shows them.
func (k *statusKind) finish(group func([]statusRow) []statusRow) {
	rows := slices.DeleteFunc(slices.Clone(k.all), func(r statusRow) bool { return r.deleted })
	k.all, k.Total = rows, len(rows)
	if k.ID != objectLimits {
		k.States = countStates(rows)
	}
	if group != nil {
		rows = group(rows)
	}
	sortRows(rows)
	k.Dated = len(rows) > 0 && rows[0].CreatedAt != 0
	shown := min(len(rows), statusRows)
	k.Rows, rows = rows[:shown], rows[shown:]
	if len(rows) > statusMore {
		k.Rest = len(rows)
		return
	}
	k.More = rows
}

// severity orders kinds.
func (k *statusKind) severity() int {
	if len(k.Rows) > 0 {
		return severity(k.Rows[0])
	}
	return 1
}

// countStates counts the states of rows, the most frequent first.
func countStates(rows []statusRow) (states []stateCount) {
	counts := map[string]int{}
	for i := range rows {
		counts[rows[i].State]++
	}
	for state, n := range counts {
		states = append(states, stateCount{state, stateClasses[state], n})
	}
	slices.SortFunc(states, func(a, b stateCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State))
	})
	return states
}

// sortRows puts what failed first, and then the newest.
func sortRows(rows []statusRow) {
	slices.SortStableFunc(rows, func(a, b statusRow) int {
		return cmp.Or(cmp.Compare(severity(a), severity(b)), compareNewest(a.born, b.born), cmp.Compare(a.Name, b.Name))
	})
}

func severity(r statusRow) int {
	if r.Class == "bad" {
		return 0
	}
	return 1
}

// groupFleets makes one row of the computers of a fleet. A fleet is certain: its computers were made by bulkCreateComputers with
// one name prefix for one owner, which each of them remembers, and still have a name of that form. Equal names alone prove nothing.
func groupFleets(rows []statusRow) []statusRow {
	fleets := map[string][]statusRow{}
	for i := range rows {
		if fleet, ok := rows[i].fleet(); ok {
			fleets[fleet.ID] = append(fleets[fleet.ID], rows[i])
		}
	}
	var grouped []statusRow
	for _, row := range rows {
		fleet, ok := row.fleet()
		switch members := fleets[fleet.ID]; {
		case !ok || len(members) == 1:
			grouped = append(grouped, row)
		case len(members) > 1: // At the first of them.
			grouped = append(grouped, fleetRow(fleet, members))
			fleets[fleet.ID] = nil
		}
	}
	return grouped
}

// fleet is the fleet of a computer.
func (r *statusRow) fleet() (objectRef, bool) {
	for _, to := range r.relations {
		if to.Kind == objectFleets {
			return to.objectRef, true
		}
	}
	return objectRef{}, false
}

// fleetRow is the row of a fleet. It failed if one of its computers did.
func fleetRow(fleet objectRef, members []statusRow) statusRow {
	sortRows(members)
	row := statusRow{
		objectRef: fleet, Owner: members[0].Owner, Class: members[0].Class, Counts: countStates(members), MemberCount: len(members),
		Members: members[:min(len(members), statusMore)], born: members[0].born,
	}
	for i := range members {
		row.CreatedAt = max(row.CreatedAt, members[i].CreatedAt)
	}
	row.At = objectTimeOf(row.CreatedAt)
	return row
}

func (s *statusObjects) computerRow(id string, c *computer) *statusRow {
	p := c.progressAt(s.now)
	row := &statusRow{objectRef: objectRef{objectComputers, id, c.Name}, State: p.status, born: c.born}
	row.ownedBy("Owner", s.owners[c.OwnerID], true)
	if suffix, ok := strings.CutPrefix(c.Name, c.FleetPrefix+"-"); ok && c.FleetPrefix != "" && isDigits(suffix) {
		row.relate("Fleet", objectRef{objectFleets, c.OwnerID + "/" + c.FleetPrefix, c.FleetPrefix + "-*"})
	}
	for _, step := range p.steps {
		if step.Status == "in_progress" || step.Status == "failed" {
			row.Note = step.Name
		}
		if step.Error != "" {
			row.Note += ": " + shortText(step.Error)
			break
		}
	}
	return row
}

func (s *statusObjects) environmentRow(id string, env *environment) *statusRow {
	latest, err := s.build(env, env.LatestBuild)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	state := latest.at(s.now)
	row := &statusRow{objectRef: objectRef{objectEnvironments, id, env.Name}, State: state.environmentStatus(), born: env.born}
	switch {
	case state.failure != nil:
		row.Note = shortText(state.failure.Reason)
	case state.running():
		row.Note = state.status
	}
	return row.ownedBy("Owner", s.owners[env.Owner], true)
}

func (s *statusObjects) sessionRow(id string, o *session) *statusRow {
	row := &statusRow{objectRef: objectRef{objectSessions, id, id}, State: o.present(s.now).Status, born: born{CreatedAt: o.CreatedAt}, deleted: o.DeletedAt != 0}
	if row.deleted {
		row.State = "deleted"
	}
	row.ownedBy("Owner", s.owners[o.OwnerID], true)
	row.relate("Computer", objectRef{objectComputers, o.ComputerID, o.ComputerID})
	row.relate("Parent session", objectRef{objectSessions, o.ParentID, o.ParentID})
	return row
}

// keyRow shows a key of a service account.
func (s *statusObjects) keyRow(_ string, k *keyRecord) *statusRow {
	owner, known := s.owners[k.OwnerID]
	if k.OwnerKind != kindService || !known {
		return nil
	}
	row := &statusRow{objectRef: objectRef{objectKeys, k.ID, k.Name}, State: "valid", born: k.born, deleted: s.gone[k.OwnerID]}
	left := timeOf(k.ExpiresAt).Sub(s.now)
	switch {
	case k.revoked(s.now):
		row.State = "revoked"
	case k.expired(s.now):
		row.State = "expired"
	case k.RevokedAt != 0:
		row.State, row.Badge = "grace period", "revoked in "+shortDuration(timeOf(k.RevokedAt).Sub(s.now))
	case k.ExpiresAt != 0 && left <= expiryIsNear:
		row.Badge = "expires in " + shortDuration(left)
	case k.ExpiresAt != 0:
		row.Note = "expires in " + shortDuration(left)
	}
	return row.ownedBy("Service account", owner, true)
}

func (s *statusObjects) wikiRow(id string, w *wikiRun) *statusRow {
	row := &statusRow{objectRef: objectRef{objectWikis, id, w.RepoURL}, State: w.PrivacyLevel, Note: "branch " + w.Branch, born: w.born}
	row.ownedBy("Owner", s.owners[w.Owner.ID], true)
	if _, fullName, ok := repositoryAddress(w.RepoURL); ok {
		row.relate("Repository", objectRef{objectRepositories, repositoryKey(fullName), w.RepoURL})
	}
	row.relate("Session", objectRef{objectSessions, w.SourceSessionID, w.SourceSessionID})
	return row
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
