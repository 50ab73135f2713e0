package emulator

import (
	"cmp"
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
	DraftKey         string          `json:",omitempty"` // Entry in computersByDraft; empty without a receipt.
	Plan             []plannedStep   `json:",omitempty"`
	InstallSessionID string          `json:",omitempty"`
	LastActiveAt     int64           `json:",omitempty"` // 0 until the first activity.
	SleepingSince    int64           `json:",omitempty"` // Set when sleep was ordered or recorded; see asleepSince.
	Slept            []span          `json:",omitempty"`
	DaemonDown       bool            `json:",omitempty"`
	Broken           bool            `json:",omitempty"` // Failed after it was active.
}

// Computers are by ID.
var (
	computersByOwner = index[computer]{"computer_owners", func(c *computer) string { return key(c.OwnerID, c.ID) }}
	computersByName  = index[computer]{"computer_names", func(c *computer) string { return key(c.OwnerID, c.Name) }}
	computersByHost  = index[computer]{"computer_hosts", func(c *computer) string {
		if c.HostID == "" {
			return ""
		}
		return key(c.OwnerID, c.HostID)
	}}
	computersByDraft = index[computer]{"software_drafts", func(c *computer) string { return c.DraftKey }}
	computerTable    = &table[computer]{"computers", []index[computer]{computersByOwner, computersByName, computersByHost, computersByDraft}}
)

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

func computerArea() area {
	routes := []route{
		{operation: "listComputers", handle: listComputers, admit: needsTeam},
		{operation: "createComputer", handle: createComputer, admit: needsTeam},
		{operation: "bulkCreateComputers", handle: bulkCreateComputers, admit: needsTeam},
		{operation: "getComputerByName", handle: getComputerByName, admit: needsTeam},
		{operation: "listComputerProviders", handle: listComputerProviders},
		{operation: "getComputer", handle: on((*request).computerInPath, getComputer)},
		{operation: "deleteComputer", handle: on((*request).computerInPath, deleteComputer)},
		{operation: "updateComputer", handle: on((*request).computerInPath, updateComputer)},
		{operation: "recordComputerActivity", handle: recordComputerActivity},
		{operation: "createFileUpload", handle: on((*request).fileComputer, createFileUpload)},
		{operation: "completeFileUpload", handle: on((*request).fileComputer, completeFileUpload)},
		{operation: "createFileDownload", handle: on((*request).fileComputer, createFileDownload)},
		{operation: "installComputerDeps", handle: on((*request).computerInPath, installDeps)},
		{operation: "getComputerMetrics", handle: getComputerMetrics},
		{operation: "refreshComputer", handle: on((*request).computerInPath, refreshComputer)},
		{operation: "restartComputer", handle: restartComputer, admit: needsTeam},
	}
	return area{routes, []anyTable{computerTable, uploadTable, fileTable}}
}

// computerView shows a computer now. Its directories have no order.
func (r *request) computerView(c *computer, steps bool) computerView {
	v := c.view(r.now, steps)
	v.ClonedRepoDirectories = arrange(r.e, v.ClonedRepoDirectories)
	return v
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
	missing := notFound("No computer with the ID %q was found.", id)
	c, err := computerTable.get(r.tx, strings.ToLower(id), missing)
	if err == nil && c.OwnerID != r.who.ID && (c.OwnerKind != kindService || !r.who.manages()) {
		return nil, missing
	}
	return c, err
}

// owner returns whose computers a request is about: the caller's, or those of the service account it names.
func (r *request) owner(serviceAccountID string, named bool) (principal, error) {
	if !named {
		return r.who, nil
	}
	if !r.who.manages() {
		return principal{}, forbidden("Only a member with the Manager role or higher may use serviceAccountId.")
	}
	a, err := r.account(serviceAccountID)
	if err != nil {
		return principal{}, err
	}
	return principal{Kind: kindService, ID: a.ID}, nil
}

func listComputers(r *request) (reply, error) {
	steps := r.query.Get("includeProvisioningSteps") == "true"
	unlisted := r.query.Get("includeUnlisted") == "true"
	hostID := strings.ToLower(r.query.Get("hostId"))
	owner, err := r.owner(r.query.Get("serviceAccountId"), r.query.Has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	computers, err := computersOf(r.tx, owner.ID)
	list := []computerView{}
	for _, c := range computers {
		if (c.IsListed || unlisted) && (hostID == "" || c.HostID == hostID) {
			list = append(list, r.computerView(c, steps))
		}
	}
	return reply{200, values{"computers": list}}, err
}

// computersOf returns all computers of an owner, newest first.
func computersOf(tx *bolt.Tx, ownerID string) ([]*computer, error) {
	computers, err := computerTable.pick(tx, computersByOwner.keys(tx, key(ownerID, "")))
	return newest(computers), err
}

func listComputerProviders(*request) (reply, error) {
	return reply{200, values{"providers": availableProviders}}, nil
}

func getComputerByName(r *request) (reply, error) {
	steps := r.query.Get("includeProvisioningSteps") == "true"
	owner, err := r.owner(r.query.Get("serviceAccountId"), r.query.Has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	id := computersByName.find(r.tx, key(owner.ID, r.params["name"]))
	c, err := computerTable.get(r.tx, id, notFound("No computer named %q was found.", r.params["name"]))
	if err != nil {
		return reply{}, err
	}
	return reply{200, r.computerView(c, steps)}, nil
}

func getComputer(r *request, c *computer) (reply, error) {
	return reply{200, r.computerView(c, false)}, nil
}

func deleteComputer(r *request, c *computer) (reply, error) {
	r.noteChange(c.ID, c.Name)
	return reply{status: 204}, r.e.removeComputer(r.tx, c)
}

// updateComputer renames a computer, changes its remote user, or assigns the host ID it does not have yet.
// The host ID it already has is accepted again, so that a repeated request succeeds.
func updateComputer(r *request, c *computer) (reply, error) {
	f := r.fields()
	name, hostID, remoteUser := f.text("name"), f.uuid("hostId"), f.text("remoteUser")
	if hostID != "" && c.HostID != "" && hostID != c.HostID {
		return reply{}, conflict("The computer %q already has the host ID %s, which cannot be changed.", c.Name, c.HostID)
	}
	c.Name, c.HostID, c.RemoteUser = cmp.Or(name, c.Name), cmp.Or(hostID, c.HostID), cmp.Or(remoteUser, c.RemoteUser)
	r.noteChange(c.ID, c.Name)
	return reply{200, r.computerView(c, false)}, saveComputer(r.tx, c)
}

// checkUnique answers 409 when the owner has another computer of this name or host ID.
func checkUnique(tx *bolt.Tx, c *computer) error {
	taken := func(x index[computer]) bool {
		id := x.find(tx, x.entry(c))
		return id != "" && id != c.ID
	}
	switch {
	case taken(computersByName):
		return conflict("The owner already has a computer named %q; names are unique per owner.", c.Name)
	case taken(computersByHost):
		return conflict("The owner already has a computer with the host ID %s.", c.HostID)
	}
	return nil
}

// saveComputer stores a computer, unless checkUnique objects.
func saveComputer(tx *bolt.Tx, c *computer) error {
	if err := checkUnique(tx, c); err != nil {
		return err
	}
	return computerTable.put(tx, c.ID, *c)
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
	return computerTable.remove(tx, c.ID)
}
