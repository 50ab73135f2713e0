package emulator

import (
	"cmp"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// WikiRun is a run of a repository's wiki.
type WikiRun struct {
	ID string `json:"-"` // Made by AddWikiRun.
	// RepoURL is the address of a connected repository; the branch and the commit follow from it if they are empty.
	RepoURL    string `json:"repoUrl"`
	Branch     string `json:"branch"`
	CommitHash string `json:"commitHash"`
	// OwnerEmail is of the member whose run it is; empty means the manager that every emulator begins with. It is empty in
	// what WikiRuns returns for the run of a service account.
	OwnerEmail string `json:"email"`
	// PrivacyLevel is private or organization; empty means organization.
	PrivacyLevel string `json:"privacyLevel"`
	// SourceSessionID is the session that made the pages, if that is known.
	SourceSessionID string `json:"sourceSessionId"`
	// PageCount is how many pages there are. AddWikiRun makes them as the service does.
	PageCount int `json:"-"`
}

// AddWikiRun makes a run as a member would, and returns its ID.
// An error means that the repository is not covered, or that there is no such member or level.
func (e *Emulator) AddWikiRun(given WikiRun) (id string, err error) {
	err = e.store.db.Update(func(tx *bolt.Tx) error {
		owner, err := firstManager(tx)
		if given.OwnerEmail != "" {
			owner, err = memberByEmail(tx, given.OwnerEmail, fmt.Errorf("no member has the email address %q", given.OwnerEmail))
		}
		if err != nil {
			return err
		}
		r := &request{e: e, tx: tx, now: e.clock.Now(), who: principal{Kind: kindHuman, ID: owner.ID, Role: owner.Role}}
		run := &wikiRun{
			Branch: given.Branch, CommitHash: given.CommitHash, PrivacyLevel: cmp.Or(given.PrivacyLevel, privacyOrganization), SourceSessionID: given.SourceSessionID,
		}
		repo, covered, err := r.repositoryByURL(given.RepoURL)
		switch {
		case err != nil:
			return err
		case !covered:
			return fmt.Errorf("the repository %q is not connected", given.RepoURL)
		case run.PrivacyLevel != privacyPrivate && run.PrivacyLevel != privacyOrganization:
			return fmt.Errorf("the privacy level %q is not private or organization", run.PrivacyLevel)
		}
		err = r.finishWikiRun(run, repo, nil)
		id = run.ID
		return err
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// WikiRuns returns all runs, including private ones, newest first.
func (e *Emulator) WikiRuns() ([]WikiRun, error) {
	list := []WikiRun{}
	err := e.store.db.View(func(tx *bolt.Tx) error {
		runs, err := wikiRunTable.list(tx, "")
		if err != nil {
			return err
		}
		members, err := memberTable.list(tx, "")
		emails := map[string]string{}
		for _, m := range members {
			emails[m.ID] = m.Email
		}
		for _, run := range newest(runs) {
			list = append(list, WikiRun{
				ID: run.ID, RepoURL: run.RepoURL, Branch: run.Branch, CommitHash: run.CommitHash, OwnerEmail: emails[run.Owner.ID],
				PrivacyLevel: run.PrivacyLevel, SourceSessionID: run.SourceSessionID, PageCount: run.PageCount,
			})
		}
		return err
	})
	return list, err
}

// SetVideoOverview sets a run's video overview, with any fields; nil removes it. It returns an error if there is no
// such run.
func (e *Emulator) SetVideoOverview(runID string, overview map[string]any) error {
	return edit(e, wikiRunTable, runID, "wiki run", func(_ *request, run *wikiRun) error { run.VideoOverview = overview; return nil })
}
