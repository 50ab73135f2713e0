package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// Who may see a wiki run.
const (
	privacyPrivate      = "private" // Its owner alone.
	privacyOrganization = "organization"
)

// wikiRun is a wiki of a repository, as it was made at one time. Only its privacy level changes. The pages are stored
// beside it.
type wikiRun struct {
	ID, RepoURL, Branch, CommitHash      string
	HasLocalChanges, HasNonRemoteCommits bool
	Owner                                principal
	born
	PrivacyLevel    string
	SourceSessionID string
	Generated       bool // The service made the pages.
	PageCount       int
	Tree            []wikiNode
	VideoOverview   map[string]any
}

// Runs are by ID, and pages by run ID and place in eight digits.
var (
	wikiRunTable  = &table[wikiRun]{name: "wiki_runs"}
	wikiPageTable = &table[wikiPage]{name: "wiki_pages"}
)

// wikiRunView is a run as the API shows it. Unset fields are left out.
type wikiRunView struct {
	WikiRunID           string         `json:"wikiRunId"`
	CreatedAt           int64          `json:"createdAt"`
	RepoURL             string         `json:"repoUrl"`
	CommitHash          string         `json:"commitHash"`
	Branch              string         `json:"branch"`
	HasLocalChanges     bool           `json:"hasLocalChanges"`
	HasNonRemoteCommits bool           `json:"hasNonRemoteCommits"`
	PageCount           int            `json:"pageCount"`
	PageTree            []wikiNode     `json:"pageTree"`
	SourceSessionID     string         `json:"sourceSessionId,omitempty"`
	OwnerUserID         string         `json:"ownerUserId,omitempty"`
	ModelUsed           values         `json:"modelUsed,omitempty"`
	AgentVersion        string         `json:"agentVersion,omitempty"`
	PrivacyLevel        string         `json:"privacyLevel"`
	CanUpdatePrivacy    bool           `json:"canUpdatePrivacy"`
	IsCovered           bool           `json:"isRepoCoveredByOrgIntegration"`
	VideoOverview       map[string]any `json:"videoOverview,omitempty"`
}

func wikiArea() area {
	routes := []route{
		{operation: "listWikiRuns", handle: listWikiRuns},
		{operation: "createWikiRun", maxBody: maxWikiBody, handle: createWikiRun},
		{operation: "getWikiHistory", handle: getWikiHistory},
		{operation: "createWikiVideoUploadUrl", handle: createWikiVideoUpload},
		{operation: "getWikiRun", handle: on((*request).wikiRun, getWikiRun)},
		{operation: "deleteWikiRun", handle: on((*request).wikiRunToChange, deleteWikiRun)},
		{operation: "exportWikiRun", handle: on((*request).wikiRun, exportWikiRun)},
		{operation: "getWikiPage", handle: on((*request).wikiRun, getWikiPage)},
		{operation: "updateWikiPrivacy", unknown: 422, handle: on((*request).wikiRunToChange, updateWikiPrivacy)},
		{operation: "searchWikiRun", handle: on((*request).wikiRun, searchWikiRun)},
	}
	for i := range routes {
		routes[i].admit = admitWiki
	}
	return area{routes, []anyTable{wikiRunTable, wikiPageTable}}
}

// admitWiki returns 403 if the organization has disabled wikis. A setting that the newest snapshot lacks is on.
func admitWiki(r *request) error {
	latest, err := latestControls(r.tx)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(latest.Settings["wikiCloudSync"])) == "false" {
		return forbidden("Wikis are disabled for the organization: its enterprise control setting wikiCloudSync is off.")
	}
	return nil
}

// sees reports whether the caller may see a run. Roles do not matter.
func (r *request) sees(run *wikiRun) bool {
	return run.PrivacyLevel != privacyPrivate || run.Owner.ID == r.who.ID
}

// changes reports whether the caller may change or delete a run that it sees.
func (r *request) changes(run *wikiRun) bool { return run.Owner.ID == r.who.ID || r.who.manages() }

func (r *request) wikiRunView(run *wikiRun) (wikiRunView, error) {
	_, covered, err := r.repositoryByURL(run.RepoURL)
	v := wikiRunView{
		WikiRunID: run.ID, CreatedAt: run.CreatedAt, RepoURL: run.RepoURL, CommitHash: run.CommitHash, Branch: run.Branch,
		HasLocalChanges: run.HasLocalChanges, HasNonRemoteCommits: run.HasNonRemoteCommits, PageCount: run.PageCount, PageTree: run.Tree,
		SourceSessionID: run.SourceSessionID, PrivacyLevel: run.PrivacyLevel, CanUpdatePrivacy: r.changes(run), IsCovered: covered,
	}
	if run.Owner.Kind == kindHuman {
		v.OwnerUserID = run.Owner.ID
	}
	if run.Generated {
		v.ModelUsed, v.AgentVersion = values{"id": "model-a", "reasoningEffort": "medium"}, "1.4.0"
	}
	return v, err
}

// wikiRuns shows the runs that the caller sees and that count, newest first.
func (r *request) wikiRuns(counts func(*wikiRun) bool) ([]wikiRunView, error) {
	list := []wikiRunView{}
	runs, err := wikiRunTable.list(r.tx, "")
	for _, run := range newest(runs) {
		if r.sees(run) && counts(run) {
			view, viewErr := r.wikiRunView(run)
			list, err = append(list, view), errors.Join(err, viewErr)
		}
	}
	return list, err
}

// list shows the newest run of each repository, among those that the caller sees.
func listWikiRuns(r *request) (reply, error) {
	shown := map[string]bool{}
	list, err := r.wikiRuns(func(run *wikiRun) bool {
		address := strings.ToLower(run.RepoURL)
		defer func() { shown[address] = true }()
		return !shown[address]
	})
	return reply{200, values{"wikiRuns": arrange(r.e, list)}}, err
}

func getWikiHistory(r *request) (reply, error) {
	repo, err := r.coveredRepository(r.params["repoUrl"])
	if err != nil {
		return reply{}, err
	}
	list, err := r.wikiRuns(func(run *wikiRun) bool { return strings.EqualFold(run.RepoURL, repo.URL) })
	return reply{200, values{"wikiRuns": list}}, err
}

// coveredRepository finds the repository that a wiki is about.
func (r *request) coveredRepository(address string) (connectedRepository, error) {
	repo, covered, err := r.repositoryByURL(address)
	if err == nil && !covered {
		err = forbidden("The organization's code-host integration does not cover the repository %q. Connect it there first, and name it by its whole https address.", address)
	}
	return repo, err
}

// createWikiRun stores the pages of the request, or generates some. A repeated request creates another run.
func createWikiRun(r *request) (reply, error) {
	f := r.fields()
	address := f.text("repoUrl")
	run := &wikiRun{
		CommitHash: f.text("commitHash"), Branch: f.text("branch"), PrivacyLevel: privacyOrganization,
		HasLocalChanges: f.boolean("hasLocalChanges"), HasNonRemoteCommits: f.boolean("hasNonRemoteCommits"),
	}
	pages := r.uploadedPages(f)
	run.Tree = uploadedTree(f, pages)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	repo, err := r.coveredRepository(address)
	if err != nil {
		return reply{}, err
	}
	if err := r.finishWikiRun(run, repo, pages); err != nil {
		return reply{}, err
	}
	view, err := r.wikiRunView(run)
	return reply{200, view}, err
}

// finishWikiRun fills in the missing fields of a caller's run and stores it. Without pages, it generates some.
func (r *request) finishWikiRun(run *wikiRun, repo connectedRepository, pages []wikiPage) (err error) {
	run.ID, run.Owner, run.RepoURL = newID("wiki_", r.now), r.who, repo.URL
	run.Branch = cmp.Or(run.Branch, repo.DefaultBranch)
	run.CommitHash = cmp.Or(run.CommitHash, repo.headCommit(run.Branch))
	if run.Generated = pages == nil; run.Generated {
		pages, run.Tree = generatedPages(repo, r.now)
	}
	if run.born, err = r.bornNow(wikiRunTable); err != nil {
		return err
	}
	r.noteChange(run.ID, run.RepoURL)
	return putWikiRun(r.tx, run, pages)
}

// wikiRun finds the run that a path names. A run that the caller cannot see answers 404.
func (r *request) wikiRun() (*wikiRun, error) {
	missing := notFound("There is no wiki run with the ID %q that this API key may see.", r.params["wikiRunId"])
	run, err := wikiRunTable.get(r.tx, r.params["wikiRunId"], missing)
	if err == nil && !r.sees(run) {
		return nil, missing
	}
	return run, err
}

// wikiRunToChange is wikiRun for what needs more than seeing it.
func (r *request) wikiRunToChange() (*wikiRun, error) {
	run, err := r.wikiRun()
	if err == nil && !r.changes(run) {
		err = forbidden("The wiki run %q belongs to another member; only its owner or a member with the Manager role or higher may do this.", run.ID)
	}
	return run, err
}

func getWikiRun(r *request, run *wikiRun) (reply, error) {
	view, err := r.wikiRunView(run)
	view.VideoOverview = run.VideoOverview
	return reply{200, view}, err
}

func deleteWikiRun(r *request, run *wikiRun) (reply, error) {
	r.noteChange(run.ID, run.RepoURL)
	return reply{200, values{"deleted": true}}, removeWikiRun(r.tx, run.ID)
}

func updateWikiPrivacy(r *request, run *wikiRun) (reply, error) {
	r.noteChange(run.ID, run.RepoURL)
	run.PrivacyLevel = r.fields().text("privacyLevel")
	view, err := r.wikiRunView(run)
	return reply{200, view}, errors.Join(err, wikiRunTable.put(r.tx, run.ID, *run))
}

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
