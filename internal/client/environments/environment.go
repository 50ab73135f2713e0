package environments

import (
	"encoding/json"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Scopes of an environment.
const (
	ScopeUser         = "user"
	ScopeOrganization = "organization"
)

// Statuses of an environment, which are those of its latest build.
const (
	StatusBuilding = "building"
	StatusReady    = "ready"
	StatusFailed   = "failed"
)

// Environment is a named development environment: repositories and scripts from which the service builds what sessions start in.
type Environment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Scope is who may use it: "user" or "organization"; empty where the service does not tell.
	Scope string `json:"scope"`
	// Repositories, SetupScript and Source are what was asked for last; the active ones are what the last successful build was made of.
	Repositories       []Repository `json:"repositories"`
	ActiveRepositories []Repository `json:"activeRepositories"`
	SetupScript        string       `json:"setupScript"`
	Source             *Source      `json:"source"`
	ActiveSource       *Source      `json:"activeSource"`
	Status             string       `json:"status"`
	IsDefault          *bool        `json:"isDefault"`
	LatestBuild        *Build       `json:"latestBuild"`
	// LastSuccessfulBuildAt is zero before the first success.
	LastSuccessfulBuildAt transport.Millis `json:"lastSuccessfulBuildAt"`
	// FailureReason may be in the single read only, as may be the failure of the latest build and its excerpt.
	FailureReason string           `json:"failureReason"`
	CreatedAt     transport.Millis `json:"createdAt"`
	UpdatedAt     transport.Millis `json:"updatedAt"`

	// OrganizationDefault is the ID of the organization's default environment, where the record comes from a listing that told it.
	OrganizationDefault string `json:"-"`
	// isListed says that the record comes from a listing, which lacks the reasons of failures.
	isListed bool
}

// Repository is a repository of an environment and the script that sets it up.
type Repository struct {
	URL    string `json:"url"`
	Script string `json:"script"`
}

// Source is what an environment is built from.
type Source struct {
	ID                   string         `json:"id"`
	Name                 string         `json:"name"`
	SupportsRepositories bool           `json:"supportsRepositories"`
	SupportsSetupScripts bool           `json:"supportsSetupScripts"`
	Provider             SourceProvider `json:"provider"`
	Unavailable          bool           `json:"unavailable"`
}

// SourceProvider is who provides sources.
type SourceProvider struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CreateRequest is the body of createEnvironment. What is empty is not sent.
type CreateRequest struct {
	Name                    string       `json:"name"`
	Scope                   string       `json:"scope,omitempty"`
	Repositories            []Repository `json:"repositories"`
	SetupScript             string       `json:"setupScript,omitempty"`
	SourceID                string       `json:"sourceId,omitempty"`
	MakeOrganizationDefault bool         `json:"makeOrganizationDefault,omitempty"`
}

// UpdateRequest is the body of updateEnvironment. Nil means "leave as it is".
type UpdateRequest struct {
	Name         *string      `json:"name,omitempty"`
	Repositories []Repository `json:"repositories,omitzero"`
	// SetupScript is empty to remove the script.
	SetupScript *string `json:"-"`
	SourceID    *string `json:"sourceId,omitempty"`
}

// MarshalJSON writes the removal of the setup script as null.
func (b UpdateRequest) MarshalJSON() ([]byte, error) {
	type fields UpdateRequest
	if b.SetupScript == nil {
		return json.Marshal(fields(b))
	}
	script := b.SetupScript
	if *script == "" {
		script = nil
	}
	return json.Marshal(struct {
		fields
		SetupScript *string `json:"setupScript"`
	}{fields(b), script})
}

// IsEmpty reports that nothing is to be changed.
func (b UpdateRequest) IsEmpty() bool { return b.Name == nil && !b.Builds() }

// Builds reports that the change concerns what is built.
func (b UpdateRequest) Builds() bool {
	return b.Repositories != nil || b.SetupScript != nil || b.SourceID != nil
}

// Change is the answer to what may start a build. BuildID is empty where none was started.
type Change struct {
	ID      string `json:"id"`
	BuildID string `json:"buildId"`
}

func (e *Change) Identifier() string { return e.ID }

func (e *Change) MissingField() string { return "" }

func (e *Environment) Identifier() string { return e.ID }

func (e *Environment) MissingField() string {
	switch {
	case e.Name == "":
		return "name"
	case e.Repositories == nil:
		// Taken for none, it would have all of them built anew. An environment without any has an empty list.
		return "repositories"
	}
	return ""
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

// hasFailed reports that the environment or its latest build failed, of which the single read tells more.
func (e *Environment) hasFailed() bool {
	return e.Status == StatusFailed || e.LatestBuild != nil && e.LatestBuild.Status == BuildFailed
}

// names are the name, and the name within its scope: the same one may stand in both scopes.
func (e *Environment) names() []string {
	if e.Scope == "" {
		return []string{e.Name, inScope(ScopeUser, e.Name), inScope(ScopeOrganization, e.Name)}
	}
	return []string{e.Name, inScope(e.Scope, e.Name)}
}

// existing is what an error tells of an environment that stands in the way.
func (e *Environment) existing() create.ExistsError {
	return create.ExistsError{Object: "environment", Name: e.Name, ID: e.ID, ImportID: e.ID, CreatedAt: e.CreatedAt.Time()}
}

// asked is the environment as the request asked for it.
func (b CreateRequest) asked(change *Change) *Environment {
	e := &Environment{ID: change.ID, Name: b.Name, Scope: b.Scope, Repositories: b.Repositories, SetupScript: b.SetupScript}
	if change.BuildID != "" {
		e.LatestBuild = &Build{ID: change.BuildID}
	}
	return e
}

// isWanted reports that an environment is what the request asked for, as far as its record tells.
func (b CreateRequest) isWanted(e *Environment) bool {
	return SameText(b.Name, e.Name) && (b.Scope == "" || e.Scope == "" || b.Scope == e.Scope) &&
		slices.EqualFunc(b.Repositories, e.Repositories, sameRepository) &&
		SameText(b.SetupScript, e.SetupScript) && (b.SourceID == "" || b.SourceID == e.SourceID())
}

// matches reports that an environment is as the request wants it.
func (b UpdateRequest) matches(e *Environment) bool {
	return (b.Name == nil || SameText(*b.Name, e.Name)) &&
		(b.Repositories == nil || slices.EqualFunc(b.Repositories, e.Repositories, sameRepository)) &&
		(b.SetupScript == nil || SameText(*b.SetupScript, e.SetupScript)) &&
		(b.SourceID == nil || *b.SourceID == e.SourceID())
}
