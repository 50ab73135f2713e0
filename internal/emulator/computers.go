package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const providerBYOM = "byom"

var (
	// managedProviders are all identifiers the API knows; the first two are available to the organization.
	managedProviders   = []string{"managed-a", "managed-b", "managed-c", "managed-d"}
	availableProviders = managedProviders[:2]
	// knownTemplates are the templates and execution templates that exist.
	knownTemplates = []string{"template-base", "template-node"}
)

// computer is a computer as it is stored. What changes by itself is computed from it and the clock.
// Empty fields are left out, because listings decode thousands of records.
type computer struct {
	ID, Name     string
	HostID       string `json:",omitempty"`
	ProviderType string
	RemoteUser   string
	IsListed     bool
	born
	OwnerKind        string
	OwnerID          string
	Repos            []string        `json:",omitempty"`
	AutoInstallDeps  bool            `json:",omitempty"`
	Source           *computerSource `json:",omitempty"`
	DraftKey         string          `json:",omitempty"` // Key in bucketSoftwareDrafts; empty without a receipt.
	Plan             []plannedStep   `json:",omitempty"`
	InstallSessionID string          `json:",omitempty"`
	LastActiveAt     int64           `json:",omitempty"` // 0 until the first activity.
	SleepingSince    int64           `json:",omitempty"` // Set when sleep was ordered or recorded; see asleepSince.
	Slept            []span          `json:",omitempty"`
	DaemonDown       bool            `json:",omitempty"`
	Broken           bool            `json:",omitempty"` // Failed after it was active.
}

// span is a period that is over, in Unix milliseconds.
type span struct{ From, To int64 }

type computerSource struct {
	Kind       string `json:"kind"`
	TemplateID string `json:"templateId,omitempty"`
	ComputerID string `json:"computerId,omitempty"`
}

// computerView is a computer as the API shows it.
type computerView struct {
	ID                    string             `json:"id"`
	HostID                string             `json:"hostId,omitempty"`
	Name                  string             `json:"name"`
	Hostname              string             `json:"hostname,omitempty"`
	IsListed              bool               `json:"isListed"`
	ProviderType          string             `json:"providerType"`
	Status                string             `json:"status"`
	CreatedAt             int64              `json:"createdAt"`
	ProvisioningSteps     []provisioningStep `json:"provisioningSteps,omitzero"`
	InstallSessionID      string             `json:"installSessionId,omitempty"`
	RelayClientURL        string             `json:"relayClientUrl"`
	RelayAgentURL         string             `json:"relayAgentUrl"`
	RemoteUser            string             `json:"remoteUser"`
	ClonedRepoDirectories []string           `json:"clonedRepoDirectories,omitempty"`
	OwnerPrincipalKind    string             `json:"ownerPrincipalKind"`
	OwnerID               string             `json:"ownerId"`
	ComputerSource        *computerSource    `json:"computerSource,omitempty"`
}

type computerList struct {
	Computers []computerView `json:"computers"`
}

func (e *Emulator) computerRoutes() []route {
	const one = "/api/v0/computers/{computerId}"
	return []route{
		{operation: "listComputers", method: "GET", pattern: "/api/v0/computers", handle: listComputers, admit: needsTeam,
			query: []string{"hostId", "serviceAccountId", "includeProvisioningSteps", "includeUnlisted"}},
		{operation: "createComputer", method: "POST", pattern: "/api/v0/computers", body: requiredBody, handle: createComputer, admit: needsTeam},
		{operation: "bulkCreateComputers", method: "POST", pattern: "/api/v0/computers/bulk", body: requiredBody, handle: bulkCreateComputers, admit: needsTeam},
		{operation: "getComputerByName", method: "GET", pattern: "/api/v0/computers/name/{name}", handle: getComputerByName, admit: needsTeam,
			query: []string{"serviceAccountId", "includeProvisioningSteps"}},
		{operation: "listComputerProviders", method: "GET", pattern: "/api/v0/computers/providers", handle: listComputerProviders},
		{operation: "getComputer", method: "GET", pattern: one, handle: getComputer, query: []string{"includeProvisioningSteps"}},
		{operation: "deleteComputer", method: "DELETE", pattern: one, handle: deleteComputer},
		{operation: "updateComputer", method: "PATCH", pattern: one, body: requiredBody, handle: updateComputer},
		{operation: "recordComputerActivity", method: "POST", pattern: one + "/activity", handle: recordComputerActivity},
		{operation: "createFileUpload", method: "POST", pattern: one + "/files/{fileName}/create-upload", body: requiredBody, handle: createFileUpload},
		{operation: "completeFileUpload", method: "POST", pattern: one + "/files/{fileName}/complete-upload", body: optionalBody, handle: completeFileUpload},
		{operation: "createFileDownload", method: "POST", pattern: one + "/files/{fileName}/create-download", body: optionalBody, handle: createFileDownload},
		{operation: "installComputerDeps", method: "POST", pattern: one + "/install-deps", handle: installDeps},
		{operation: "getComputerMetrics", method: "GET", pattern: one + "/metrics", query: []string{"start"}, handle: getComputerMetrics},
		{operation: "refreshComputer", method: "POST", pattern: one + "/refresh", handle: refreshComputer},
		{operation: "restartComputer", method: "POST", pattern: one + "/restart", body: optionalBody, handle: restartComputer, admit: needsTeam},
	}
}

// view shows a computer at one moment. Steps are shown only where the caller asked for them.
func (c *computer) view(now time.Time, steps bool) computerView {
	p := c.progressAt(now)
	relay := "wss://relay.agentyard.example/v0/computer/" + c.ID
	v := computerView{
		ID: c.ID, HostID: c.HostID, Name: c.Name, IsListed: c.IsListed, ProviderType: c.ProviderType, Status: p.status,
		CreatedAt: c.CreatedAt, RelayClientURL: relay + "/client", RelayAgentURL: relay + "/agent", RemoteUser: c.RemoteUser,
		ClonedRepoDirectories: c.clonedDirectories(p), OwnerPrincipalKind: c.OwnerKind, OwnerID: c.OwnerID, ComputerSource: c.Source,
	}
	if c.ProviderType != providerBYOM {
		v.Hostname = "computer-" + c.ID[:8]
	}
	if s := p.step(stepInstall); s != nil && s.Status != "pending" {
		v.InstallSessionID = c.InstallSessionID
	}
	if steps {
		v.ProvisioningSteps = p.steps
	}
	return v
}

// computer finds a computer the caller may reach: its own, or for managers one of a service account.
// Any other answers 404 to every operation, as one that does not exist.
func (r *request) computer(id string) (*computer, error) {
	c := &computer{}
	err := get(r.tx, bucketComputers, strings.ToLower(id), c)
	if err != nil && !errors.Is(err, errNotStored) {
		return nil, err
	}
	switch {
	case err != nil:
	case c.OwnerID == r.who.ID:
		return c, nil
	case c.OwnerKind == kindService && r.who.manages():
		return c, nil
	}
	return nil, notFound("No computer with the ID %q was found.", id)
}

// owner returns whose computers a request is about: the caller's, or those of the service account it names.
func (r *request) owner(serviceAccountID string, named bool) (principal, error) {
	if !named {
		return r.who, nil
	}
	if !r.who.manages() {
		return principal{}, forbidden("Only a human with the manager role or higher may use serviceAccountId.")
	}
	a, err := r.account(serviceAccountID)
	if err != nil {
		return principal{}, err
	}
	return principal{Kind: kindService, ID: a.ID}, nil
}

func listComputers(r *request) (reply, error) {
	steps, err := r.flag("includeProvisioningSteps")
	if err != nil {
		return reply{}, err
	}
	unlisted, err := r.flag("includeUnlisted")
	if err != nil {
		return reply{}, err
	}
	hostID := strings.ToLower(r.query.Get("hostId"))
	if r.query.Has("hostId") && !uuidPattern.MatchString(hostID) {
		return reply{}, invalid("The query parameter %q must be a UUID.", "hostId")
	}
	owner, err := r.owner(r.query.Get("serviceAccountId"), r.query.Has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	computers, err := computersOf(r.tx, owner.ID)
	if err != nil {
		return reply{}, err
	}
	list := computerList{Computers: make([]computerView, 0, len(computers))}
	for _, c := range computers {
		if (c.IsListed || unlisted) && (hostID == "" || c.HostID == hostID) {
			list.Computers = append(list.Computers, c.view(r.now, steps))
		}
	}
	return reply{200, list}, nil
}

// computersOf returns all computers of an owner, newest first.
func computersOf(tx *bolt.Tx, ownerID string) ([]*computer, error) {
	var computers []*computer
	err := scan(tx, bucketComputerOwners, key(ownerID, ""), func(_ string, value []byte) error {
		var id string
		if err := json.Unmarshal(value, &id); err != nil {
			return fmt.Errorf("read the index of computers: %w", err)
		}
		c := &computer{}
		if err := get(tx, bucketComputers, id, c); err != nil {
			return err
		}
		computers = append(computers, c)
		return nil
	})
	slices.SortStableFunc(computers, func(a, b *computer) int { return compareNewest(a.born, b.born) })
	return computers, err
}

func listComputerProviders(*request) (reply, error) {
	return reply{200, struct {
		Providers []string `json:"providers"`
	}{availableProviders}}, nil
}

func getComputerByName(r *request) (reply, error) {
	steps, err := r.flag("includeProvisioningSteps")
	if err != nil {
		return reply{}, err
	}
	owner, err := r.owner(r.query.Get("serviceAccountId"), r.query.Has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	var id string
	if err := get(r.tx, bucketComputerNames, key(owner.ID, r.params["name"]), &id); errors.Is(err, errNotStored) {
		return reply{}, notFound("No computer named %q was found.", r.params["name"])
	} else if err != nil {
		return reply{}, err
	}
	c := &computer{}
	if err := get(r.tx, bucketComputers, id, c); err != nil {
		return reply{}, err
	}
	return reply{200, c.view(r.now, steps)}, nil
}

func getComputer(r *request) (reply, error) {
	steps, err := r.flag("includeProvisioningSteps")
	if err != nil {
		return reply{}, err
	}
	c, err := r.computer(r.params["computerId"])
	if err != nil {
		return reply{}, err
	}
	return reply{200, c.view(r.now, steps)}, nil
}

func deleteComputer(r *request) (reply, error) {
	c, err := r.computer(r.params["computerId"])
	if err != nil {
		return reply{}, err
	}
	return reply{status: 204}, r.e.removeComputer(r.tx, c)
}

// updateComputer renames a computer, changes its remote user, or assigns the host ID it does not have yet.
// The host ID it already has is accepted again, so that a repeated request succeeds.
func updateComputer(r *request) (reply, error) {
	f, err := r.fields()
	if err != nil {
		return reply{}, err
	}
	name, hostID, remoteUser := f.text("name", 1, 63), f.uuid("hostId"), f.text("remoteUser", 1, 63)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	c, err := r.computer(r.params["computerId"])
	if err != nil {
		return reply{}, err
	}
	if hostID != "" && c.HostID != "" && hostID != c.HostID {
		return reply{}, conflict("The computer %q already has the host ID %s, which cannot be changed.", c.Name, c.HostID)
	}
	if err := unindexComputer(r.tx, c); err != nil {
		return reply{}, err
	}
	if name != "" {
		c.Name = name
	}
	if hostID != "" {
		c.HostID = hostID
	}
	if remoteUser != "" {
		c.RemoteUser = remoteUser
	}
	if err := saveComputer(r.tx, c); err != nil {
		return reply{}, err
	}
	return reply{200, c.view(r.now, false)}, nil
}

// checkUnique answers 409 when the owner has a computer of this name or host ID.
func checkUnique(tx *bolt.Tx, c *computer) error {
	if stored(tx, bucketComputerNames, key(c.OwnerID, c.Name)) {
		return conflict("The owner already has a computer named %q; names are unique per owner.", c.Name)
	}
	if c.HostID != "" && stored(tx, bucketComputerHosts, key(c.OwnerID, c.HostID)) {
		return conflict("The owner already has a computer with the host ID %s.", c.HostID)
	}
	return nil
}

// saveComputer stores a computer that is in no index, unless checkUnique objects.
func saveComputer(tx *bolt.Tx, c *computer) error {
	if err := checkUnique(tx, c); err != nil {
		return err
	}
	errs := []error{
		put(tx, bucketComputers, c.ID, c),
		put(tx, bucketComputerOwners, key(c.OwnerID, c.ID), c.ID),
		put(tx, bucketComputerNames, key(c.OwnerID, c.Name), c.ID),
	}
	if c.HostID != "" {
		errs = append(errs, put(tx, bucketComputerHosts, key(c.OwnerID, c.HostID), c.ID))
	}
	if c.DraftKey != "" {
		errs = append(errs, put(tx, bucketSoftwareDrafts, c.DraftKey, c.ID))
	}
	return errors.Join(errs...)
}

func unindexComputer(tx *bolt.Tx, c *computer) error {
	errs := []error{
		remove(tx, bucketComputerOwners, key(c.OwnerID, c.ID)),
		remove(tx, bucketComputerNames, key(c.OwnerID, c.Name)),
	}
	if c.HostID != "" {
		errs = append(errs, remove(tx, bucketComputerHosts, key(c.OwnerID, c.HostID)))
	}
	if c.DraftKey != "" {
		errs = append(errs, remove(tx, bucketSoftwareDrafts, c.DraftKey))
	}
	return errors.Join(errs...)
}

// removeComputer removes a computer and the files in its workspace. The sessions of a managed one are archived.
func (e *Emulator) removeComputer(tx *bolt.Tx, c *computer) error {
	if err := e.removeFilesOf(tx, c.ID); err != nil {
		return err
	}
	if c.ProviderType != providerBYOM {
		if err := archiveSessions(tx, c.ID, e.clock.Now()); err != nil {
			return err
		}
	}
	return errors.Join(unindexComputer(tx, c), remove(tx, bucketComputers, c.ID))
}
