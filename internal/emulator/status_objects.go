package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// statusKind is all objects of one kind.
type statusKind struct {
	Name, ID string // The ID is that of the section.
	Total    int
	States   []stateCount
	Rows     []statusRow // Failed ones first, then the newest; at most statusRows.
}

type stateCount struct {
	State, Class string
	Count        int
}

type statusRow struct {
	Name, State, Class, Owner, Note string
	At                              statusTime
	born
}

// stateClasses are the states that stand out.
var stateClasses = map[string]string{
	statusError: "bad", "failed": "bad",
	statusProvisioning: "busy", "building": "busy", sessionRunning: "busy", sessionPending: "busy",
}

// statusObjects collects what the status page shows of the stored objects.
type statusObjects struct {
	*request
	owners map[string]string // ID of a principal → email address or name.
	err    error
}

// statusKinds reads all objects. States depend on the clock, so counting them takes reading each object.
func statusKinds(r *request) ([]*statusKind, error) {
	s := &statusObjects{request: r, owners: map[string]string{scopeOrganization: "organization"}}
	accounts, members := kindOf("Service accounts"), kindOf("Members")
	addRows(s, members, memberTable, func(id string, m *member) *statusRow {
		s.owners[id] = m.Email
		return &statusRow{Name: m.Email, State: m.Role, born: born{CreatedAt: m.CreatedAt}}
	})
	addRows(s, members, invitationTable, func(_ string, i *invitation) *statusRow {
		return &statusRow{Name: i.Email, State: "invited", born: born{CreatedAt: i.CreatedAt}}
	})
	addRows(s, accounts, accountTable, func(id string, a *serviceAccount) *statusRow {
		if a.DeletedAt != 0 {
			return nil
		}
		s.owners[id] = a.Name
		return &statusRow{Name: a.Name, State: a.Status, born: a.born}
	})
	computers, environments, sessions := kindOf("Computers"), kindOf("Environments"), kindOf("Sessions")
	addRows(s, computers, computerTable, s.computerRow)
	addRows(s, environments, environmentTable, s.environmentRow)
	addRows(s, sessions, sessionTable, s.sessionRow)
	keys, limits, repositories := kindOf("API keys"), kindOf("Usage limits"), kindOf("Repositories")
	addRows(s, keys, keyTable, s.keyRow)
	addRows(s, limits, limitTable, func(owner string, credits *int64) *statusRow {
		return &statusRow{Name: s.owners[owner], Note: fmt.Sprintf("%d credits", *credits)}
	})
	wikis, jobs := kindOf("Wiki runs"), kindOf("CI jobs")
	addRows(s, wikis, wikiRunTable, func(_ string, w *wikiRun) *statusRow {
		return &statusRow{Name: w.RepoURL, State: w.PrivacyLevel, Owner: s.owners[w.Owner.ID], Note: "branch " + w.Branch, born: w.born}
	})
	addRows(s, repositories, repositoryTable, func(_ string, c *connectedRepository) *statusRow {
		return &statusRow{Name: c.URL, State: c.UserPermission}
	})
	addRows(s, jobs, jobTable, func(_ string, j *ciJob) *statusRow {
		state := "merged"
		if j.Open {
			state = "open"
		}
		return &statusRow{Name: j.Job.RepoFullName + " " + j.Job.FilePath, State: state, Note: j.Job.Action, born: j.Born}
	})
	kinds := []*statusKind{computers, environments, sessions, accounts, keys, members, limits, wikis, repositories, jobs}
	for _, k := range kinds {
		k.finish(s.now)
	}
	return kinds, s.err
}

func kindOf(name string) *statusKind {
	return &statusKind{Name: name, ID: strings.ReplaceAll(strings.ToLower(name), " ", "-")}
}

// addRows adds a row for each object in a table, except those that have none.
func addRows[T any](s *statusObjects, k *statusKind, t *table[T], row func(key string, object *T) *statusRow) {
	s.err = errors.Join(s.err, t.each(s.tx, "", func(key string, object *T) error {
		if r := row(key, object); r != nil {
			k.Rows = append(k.Rows, *r)
		}
		return nil
	}))
}

// finish counts the states and keeps the rows that are shown.
func (k *statusKind) finish(now time.Time) {
	k.Total = len(k.Rows)
	counts := map[string]int{}
	for i := range k.Rows {
		counts[k.Rows[i].State]++
		k.Rows[i].Class = stateClasses[k.Rows[i].State]
	}
	delete(counts, "")
	for state, n := range counts {
		k.States = append(k.States, stateCount{state, stateClasses[state], n})
	}
	slices.SortFunc(k.States, func(a, b stateCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.State, b.State))
	})
	slices.SortStableFunc(k.Rows, func(a, b statusRow) int {
		return cmp.Or(cmp.Compare(severity(a), severity(b)), compareNewest(a.born, b.born), cmp.Compare(a.Name, b.Name))
	})
	k.Rows = slices.Clone(k.Rows[:min(len(k.Rows), statusRows)])
	for i := range k.Rows {
		row := &k.Rows[i]
		row.Name, row.Note = shortText(row.Name), shortText(row.Note)
		if row.CreatedAt != 0 {
			row.At = statusTimeOf(timeOf(row.CreatedAt), now)
		}
	}
}

func severity(r statusRow) int {
	if r.Class == "bad" {
		return 0
	}
	return 1
}

func (s *statusObjects) computerRow(_ string, c *computer) *statusRow {
	p := c.progressAt(s.now)
	row := &statusRow{Name: c.Name, State: p.status, Owner: s.owners[c.OwnerID], born: c.born}
	for _, step := range p.steps {
		if step.Status == "in_progress" || step.Status == "failed" {
			row.Note = step.Name
		}
		if step.Error != "" {
			row.Note += ": " + step.Error
			break
		}
	}
	return row
}

func (s *statusObjects) environmentRow(_ string, env *environment) *statusRow {
	latest, err := s.build(env, env.LatestBuild)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	state := latest.at(s.now)
	row := &statusRow{Name: env.Name, State: state.environmentStatus(), Owner: s.owners[env.Owner], born: env.born}
	switch {
	case state.failure != nil:
		row.Note = state.failure.Reason
	case state.running():
		row.Note = state.status
	}
	return row
}

func (s *statusObjects) sessionRow(id string, o *session) *statusRow {
	if o.DeletedAt != 0 {
		return nil
	}
	return &statusRow{Name: id, State: o.present(s.now).Status, Owner: s.owners[o.OwnerID], born: born{CreatedAt: o.CreatedAt}}
}

// keyRow shows a key of a service account that exists.
func (s *statusObjects) keyRow(_ string, k *keyRecord) *statusRow {
	owner := s.owners[k.OwnerID]
	if k.OwnerKind != kindService || owner == "" {
		return nil
	}
	row := &statusRow{Name: k.Name, State: "valid", Owner: owner, born: k.born}
	switch {
	case k.revoked(s.now):
		row.State = "revoked"
	case k.expired(s.now):
		row.State = "expired"
	case k.RevokedAt != 0:
		row.State, row.Note = "grace period", "revoked in "+shortDuration(timeOf(k.RevokedAt).Sub(s.now))
	case k.ExpiresAt != 0:
		row.Note = "expires in " + shortDuration(timeOf(k.ExpiresAt).Sub(s.now))
	}
	return row
}
