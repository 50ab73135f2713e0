package environments

import (
	"cmp"
	"encoding/json"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Scopes of an environment.
const (
	ScopeUser         = "user"
	ScopeOrganization = "organization"
)

// Statuses of an environment: usually of its latest build, see StateOf.
const (
	StatusBuilding = "building"
	StatusReady    = "ready"
	StatusFailed   = "failed"
)

// Environment is a named development environment: repositories and scripts from which the service builds what sessions start in.
type Environment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Scope says who may use the environment: "user" or "organization"; empty if the service does not return it.
	Scope string `json:"scope"`
	// Repositories, SetupScript, and Source are the latest settings. The active ones are those of the last successful build.
	Repositories       wire.Unordered[Repository] `json:"repositories"`
	ActiveRepositories wire.Unordered[Repository] `json:"activeRepositories"`
	SetupScript        string                     `json:"setupScript"`
	Source             *Source                    `json:"source"`
	ActiveSource       *Source                    `json:"activeSource"`
	Status             string                     `json:"status"`
	IsDefault          *bool                      `json:"isDefault"`
	LatestBuild        *Build                     `json:"latestBuild"`
	// LastSuccessfulBuildAt is zero before the first success.
	LastSuccessfulBuildAt wire.Millis `json:"lastSuccessfulBuildAt"`
	// FailureReason, and the failure of the latest build, may be missing in a listing.
	FailureReason string      `json:"failureReason"`
	CreatedAt     wire.Millis `json:"createdAt"`
	UpdatedAt     wire.Millis `json:"updatedAt"`

	// isListed says that the record is from a listing. Then organizationDefault is the ID of the organization's default environment.
	isListed            bool
	organizationDefault string
}

// Repository is a repository of an environment and the script that sets it up.
type Repository struct {
	URL    string `json:"url"`
	Script string `json:"script"`
}

// Source is the source from which an environment is built.
type Source struct {
	ID                   string         `json:"id"`
	Name                 string         `json:"name"`
	SupportsRepositories bool           `json:"supportsRepositories"`
	SupportsSetupScripts bool           `json:"supportsSetupScripts"`
	Provider             SourceProvider `json:"provider"`
	Unavailable          bool           `json:"unavailable"`
}

// SourceProvider is the provider of a source.
type SourceProvider struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CreateRequest is the body of createEnvironment. Empty fields are not sent.
type CreateRequest struct {
	Name                    string       `json:"name"`
	Scope                   string       `json:"scope,omitempty"`
	Repositories            []Repository `json:"repositories"`
	SetupScript             string       `json:"setupScript,omitempty"`
	SourceID                string       `json:"sourceId,omitempty"`
	MakeOrganizationDefault bool         `json:"makeOrganizationDefault,omitempty"`
}

// UpdateRequest is the body of updateEnvironment. Nil means "keep".
type UpdateRequest struct {
	Name         *string      `json:"name,omitempty"`
	Repositories []Repository `json:"repositories,omitzero"`
	// SetupScript points to nil to remove the script.
	SetupScript **string `json:"setupScript,omitempty"`
	SourceID    *string  `json:"sourceId,omitempty"`
}

// isEmpty reports whether the request changes nothing, by what would be sent.
func (b UpdateRequest) isEmpty() bool {
	sent, err := json.Marshal(b)
	return err == nil && string(sent) == "{}"
}

// IsRename reports whether any 409 is blamed on the name: only a build can have another reason.
func (b UpdateRequest) IsRename() bool {
	return b.Name != nil && b.Repositories == nil && b.SetupScript == nil && b.SourceID == nil
}

// Change is the response to a request that may start a build. BuildID is empty if it did not.
type Change struct {
	ID      string `json:"id"`
	BuildID string `json:"buildId"`
}

func (e *Change) Ref() wire.Ref { return wire.Ref{ID: e.ID} }

func (e *Change) MissingField() string { return "" }

func (e *Environment) Ref() wire.Ref {
	return wire.Ref{Object: "environment", Name: e.Name, ID: e.ID, CreatedAt: e.CreatedAt.Time()}
}

// MissingField requires the repositories: as an empty list, which an environment without repositories has, they would plan a rebuild.
func (e *Environment) MissingField() string {
	return cmp.Or(wire.MissingIf(e.Name == "", "name"), wire.MissingIf(e.Repositories == nil, "repositories"))
}

// LatestBuildID is the ID of the latest build, or empty.
func (e *Environment) LatestBuildID() string {
	if e.LatestBuild == nil {
		return ""
	}
	return e.LatestBuild.ID
}

// SourceID is the ID of the source, or empty.
func (e *Environment) SourceID() string {
	if e.Source == nil {
		return ""
	}
	return e.Source.ID
}

// StateOf returns the status of an environment, given also that of its latest build. The environment's own may still be that of an earlier
// build. It decides if the latest build has no status, or was superseded and the newer one is not shown yet.
func StateOf(environment, build string) string {
	switch build {
	case BuildQueued, BuildBuilding, BuildValidating:
		return StatusBuilding
	case BuildSucceeded:
		return StatusReady
	case BuildFailed:
		return StatusFailed
	}
	return environment
}

func (e *Environment) state() string {
	if e.LatestBuild == nil {
		return e.Status
	}
	return StateOf(e.Status, e.LatestBuild.Status)
}

// IsBuilding reports whether the latest build is running.
func (e *Environment) IsBuilding() bool { return e.state() == StatusBuilding }

// HasFailed reports whether the latest build failed.
func (e *Environment) HasFailed() bool { return e.state() == StatusFailed }

// Failure is for the report of a run: in which category the latest build failed. The reason may repeat what a script has or prints.
func (e *Environment) Failure() string {
	if !e.HasFailed() || e.LatestBuild == nil {
		return ""
	}
	return StatusFailed + ": " + cmp.Or(e.LatestBuild.FailureCategory, "unknown")
}

// hasName reports whether an environment has the requested name in the requested scope: each scope may have an environment with
// the same name. An empty scope matches any: the service chooses it, or a listing does not tell it. After a creation without a scope,
// the scope is unknown here, and the service refuses a real duplicate.
func (b CreateRequest) hasName(e *Environment) bool {
	return wire.SameText(e.Name, b.Name) && (b.Scope == "" || e.Scope == b.Scope || e.Scope == "" && e.isListed)
}

// requested is the environment that the request describes.
func (b CreateRequest) requested(change *Change) *Environment {
	e := &Environment{ID: change.ID, Name: b.Name, Scope: b.Scope, Repositories: b.Repositories, SetupScript: b.SetupScript, Status: StatusBuilding}
	if change.BuildID != "" {
		e.LatestBuild = &Build{ID: change.BuildID}
	}
	return e
}

// isWanted reports whether an environment with the name matches the request, as far as a response shows.
func (b CreateRequest) isWanted(e *Environment) bool {
	return SameRepositories(b.Repositories, e.Repositories) &&
		wire.SameText(b.SetupScript, e.SetupScript) && (b.SourceID == "" || b.SourceID == e.SourceID())
}

// SameRepositories compares repositories and their scripts in any order.
func SameRepositories(a, b []Repository) bool {
	return wire.SameInAnyOrder(a, b, func(x, y Repository) bool { return wire.SameURL(x.URL, y.URL) && wire.SameText(x.Script, y.Script) })
}
