package emulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// scanTTL is how long the result of a scan is cached.
const scanTTL = 30 * time.Minute

// ownerTypes has the owners that are not organizations.
var ownerTypes = map[string]string{"robin": "user"}

// CIJob is the latest pull request for one workflow file.
type CIJob struct {
	ID           string `json:"id"`
	Action       string `json:"action"`
	RepoFullName string `json:"repoFullName"`
	FilePath     string `json:"filePath"`
	PRURL        string `json:"prUrl"`
	Status       string `json:"status"`
	CreatedAt    int64  `json:"createdAt"`
	UpdatedAt    int64  `json:"updatedAt"`
}

// ciJob is a job as it is stored. Merging its pull request makes the workflow what Wanted is.
type ciJob struct {
	Job    CIJob
	Born   born
	Wanted *ciWorkflow `json:",omitempty"` // Nil means that the workflow is deleted.
	Open   bool        // Its pull request is not merged.
}

func (j *ciJob) birth() born { return j.Born }

// Workflows and jobs are by full name in lower case and path, pull requests by full name and number, and runs by number. Both
// numbers have ten digits, and a run is as it was given.
var (
	workflowTable = &table[ciWorkflow]{name: "ci_workflows"}
	jobTable      = &table[ciJob]{name: "ci_jobs"}
	pullTable     = &table[string]{name: "ci_pulls"}
	runTable      = &table[json.RawMessage]{name: "ci_runs"}
)

// ciScan is what the latest scan found. It lives in memory only, so that a scan changes nothing that is stored.
type ciScan struct {
	mu        sync.Mutex
	at        time.Time // Zero before the first scan.
	workflows []ciWorkflowView
}

// integration says whether the code-host integration is connected.
func (r *request) integration() values { return values{"connected": !r.e.switched().noIntegration} }

func ciArea() area {
	routes := []route{
		{operation: "editCiWorkflow", handle: editCIWorkflow},
		{operation: "listCiJobs", handle: listCIJobs},
		{operation: "listCiRepositories", handle: listCIRepositories},
		{operation: "listCiRepositoryOwners", handle: listCIRepositoryOwners},
		{operation: "listCiRuns", handle: listCIRuns},
		{operation: "scanCiWorkflows", handle: scanCIWorkflows},
	}
	return area{routes, []anyTable{repositoryTable, workflowTable, jobTable, pullTable, runTable}}
}

func listCIRepositoryOwners(r *request) (reply, error) {
	repos, err := r.repositories()
	if err != nil {
		return reply{}, err
	}
	owners, seen := []values{}, map[string]bool{}
	for _, repo := range repos {
		owner := repositoryKey(repo.owner())
		if seen[owner] {
			continue
		}
		seen[owner] = true
		owners = append(owners, values{"login": repo.owner(), "type": cmp.Or(ownerTypes[owner], "organization")})
	}
	return reply{200, values{"owners": arrange(r.e, owners), "integration": r.integration()}}, nil
}

func listCIRepositories(r *request) (reply, error) {
	repos, err := r.repositories()
	owner := r.query.Get("owner")
	repos = slices.DeleteFunc(append([]*connectedRepository{}, repos...), func(c *connectedRepository) bool {
		return owner != "" && repositoryKey(owner) != repositoryKey(c.owner())
	})
	return reply{200, values{"repositories": arrange(r.e, repos)}}, err
}

func listCIJobs(r *request) (reply, error) {
	if r.e.switched().noIntegration {
		return reply{200, values{"jobs": []CIJob{}}}, nil
	}
	jobs, err := jobTable.list(r.tx, "")
	return reply{200, values{"jobs": views(newest(jobs), func(j *ciJob) CIJob { return j.Job })}}, err
}

// listRuns returns runs as AddCIRun received them: their fields are not documented.
func listCIRuns(r *request) (reply, error) {
	list := values{"runs": []any{}, "integration": r.integration()}
	if r.e.switched().noIntegration {
		return reply{200, list}, nil
	}
	runs, err := runTable.list(r.tx, "")
	slices.Reverse(runs)
	list["runs"] = append([]*json.RawMessage{}, runs...)
	return reply{200, list}, err
}

// scan returns the cached scan unless it is too old or a refresh is requested. Without the integration,
// there is nothing to scan, and nothing is cached.
func scanCIWorkflows(r *request) (reply, error) {
	force := r.query.Get("forceRefresh") == "true"
	response := values{"workflows": []any{}, "scannedAt": millis(r.now), "cacheTtlMs": scanTTL.Milliseconds(), "integration": r.integration()}
	if r.e.switched().noIntegration {
		return reply{200, response}, nil
	}
	latest := &r.e.ciScan
	latest.mu.Lock()
	defer latest.mu.Unlock()
	if force || latest.at.IsZero() || r.now.Sub(latest.at) >= scanTTL {
		found, err := r.ciWorkflows()
		if err != nil {
			return reply{}, err
		}
		latest.at, latest.workflows = r.now, found
	}
	response["scannedAt"], response["workflows"] = millis(latest.at), arrange(r.e, append([]ciWorkflowView{}, latest.workflows...))
	return reply{200, response}, nil
}

// clear forgets the latest scan.
func (s *ciScan) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.workflows = time.Time{}, nil
}

// ciWorkflows are those of all connected repositories.
func (r *request) ciWorkflows() ([]ciWorkflowView, error) {
	repos, err := r.repositories()
	if err != nil {
		return nil, err
	}
	var list []ciWorkflowView
	for _, repo := range repos {
		workflows, err := workflowTable.list(r.tx, key(repositoryKey(repo.FullName), ""))
		if err != nil {
			return nil, err
		}
		list = append(list, views(workflows, func(w *ciWorkflow) ciWorkflowView { return w.view(*repo) })...)
	}
	return list, nil
}

// MergeWorkflow merges the open pull request of a workflow file. The next fresh scan shows it.
// It is an error if there is no such pull request.
func (e *Emulator) MergeWorkflow(repoFullName, filePath string) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		at := key(repositoryKey(repoFullName), filePath)
		missing := fmt.Errorf("workflow %s of %s has no open pull request", filePath, repoFullName)
		j, err := jobTable.get(tx, at, missing)
		switch {
		case err != nil:
			return err
		case !j.Open:
			return missing
		}
		j.Open, j.Job.UpdatedAt = false, millis(e.clock.Now())
		if err := jobTable.put(tx, at, *j); err != nil {
			return err
		}
		if j.Wanted == nil {
			return workflowTable.remove(tx, at)
		}
		return workflowTable.put(tx, at, *j.Wanted)
	})
}

// AddCIRun adds a run of a workflow as the newest. Its fields are not documented, so they are returned as given.
// It returns an error if they are not a JSON object.
func (e *Emulator) AddCIRun(run map[string]any) error {
	if run == nil {
		return errors.New("the CI run must be an object")
	}
	return e.store.db.Update(func(tx *bolt.Tx) error {
		data, err := json.Marshal(run)
		if err != nil {
			return err
		}
		seq, err := runTable.bucket(tx).NextSequence()
		return errors.Join(err, runTable.put(tx, fmt.Sprintf("%010d", seq), data))
	})
}

// CIPullRequests are the addresses of all pull requests that were opened in a repository, oldest first.
func (e *Emulator) CIPullRequests(repoFullName string) ([]string, error) {
	var list []string
	err := e.store.db.View(func(tx *bolt.Tx) error {
		return pullTable.each(tx, key(repositoryKey(repoFullName), ""), func(_ string, address *string) error {
			list = append(list, *address)
			return nil
		})
	})
	return list, err
}
