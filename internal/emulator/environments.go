package emulator

import (
	"errors"
	"net/http"
	"slices"
)

const (
	scopeUser         = "user"
	scopeOrganization = "organization"
)

// environment is an environment as it is stored: what was asked for last. What was built of it, and its status, follow
// from its builds and the clock.
type environment struct {
	ID, Name string
	// Owner is the principal of an environment of user scope, else scopeOrganization. No principal has that ID.
	Owner string
	born
	UpdatedAt int64
	definition
	LatestBuild string // ID of a build.
	// ActiveBuild is the last one that had succeeded when the latest began; empty if none had.
	ActiveBuild string
}

// Environments are by ID, builds by environment ID and build ID, and the ID of the default is under scopeOrganization.
var (
	environmentsByName = index[environment]{"environment_names", func(env *environment) string { return key(env.Owner, env.Name) }}
	environmentTable   = &table[environment]{"environments", []index[environment]{environmentsByName}}
	buildTable         = &table[build]{name: "builds"}
	defaultTable       = &table[string]{name: "defaults"}
)

// definition is what an environment is built from.
type definition struct {
	Repositories []repository
	SetupScript  string // Empty means none.
	SourceID     string
}

type repository struct {
	URL    string `json:"url"`
	Script string `json:"script"`
}

func (d definition) equal(other definition) bool {
	return slices.Equal(d.Repositories, other.Repositories) && d.SetupScript == other.SetupScript && d.SourceID == other.SourceID
}

// environmentView is an environment as the API shows it.
type environmentView struct {
	ID                    string       `json:"id"`
	Name                  string       `json:"name"`
	Scope                 string       `json:"scope"`
	Repositories          []repository `json:"repositories"`
	ActiveRepositories    []repository `json:"activeRepositories,omitzero"`
	SetupScript           string       `json:"setupScript,omitempty"`
	Source                sourceView   `json:"source"`
	ActiveSource          *sourceView  `json:"activeSource,omitempty"`
	Status                string       `json:"status"`
	IsDefault             bool         `json:"isDefault"`
	LatestBuild           buildView    `json:"latestBuild"`
	LastSuccessfulBuildAt int64        `json:"lastSuccessfulBuildAt,omitempty"`
	FailureReason         string       `json:"failureReason,omitempty"`
	CreatedAt             int64        `json:"createdAt"`
	UpdatedAt             int64        `json:"updatedAt"`
}

// environmentChange is the response to a request that may start a build.
type environmentChange struct {
	ID      string `json:"id"`
	BuildID string `json:"buildId,omitempty"`
}

func environmentArea() area {
	routes := []route{
		{operation: "listEnvironments", handle: listEnvironments},
		{operation: "createEnvironment", handle: createEnvironment},
		{operation: "getEnvironmentBuildStatuses", handle: getEnvironmentBuildStatuses},
		{operation: "provisionDefaultEnvironment", handle: managersOnly(provisionDefaultEnvironment)},
		{operation: "setDefaultEnvironment", handle: managersOnly(setDefaultEnvironment)},
		{operation: "getEnvironmentSourceOptions", handle: getEnvironmentSourceOptions},
		{operation: "getEnvironment", handle: on((*request).environmentInPath, getEnvironment)},
		{operation: "deleteEnvironment", handle: on((*request).environmentToChange, deleteEnvironment)},
		{operation: "updateEnvironment", handle: on((*request).environmentToChange, updateEnvironment)},
		{operation: "getEnvironmentBuildDiagnostics", handle: on((*request).environmentInPath, getEnvironmentBuildDiagnostics)},
		{operation: "createEnvironmentBuild", handle: on((*request).environmentToChange, createEnvironmentBuild)},
		{operation: "cancelEnvironmentBuild", handle: on((*request).environmentToChange, cancelEnvironmentBuild)},
		{operation: "getBuildDiagnostics", handle: on((*request).environmentInPath, getBuildDiagnostics)},
	}
	return area{routes, []anyTable{environmentTable, buildTable, defaultTable}}
}

// environmentView shows an environment now. Listings leave out why a build failed.
func (r *request) environmentView(env *environment, defaultID string, listed bool) (environmentView, error) {
	latest, active, err := r.builds(env)
	if err != nil {
		return environmentView{}, err
	}
	v := environmentView{
		ID: env.ID, Name: env.Name, Scope: scopeUser, Repositories: arrange(r.e, env.Repositories), SetupScript: env.SetupScript, Source: r.e.sourceView(env.SourceID),
		Status: latest.at(r.now).environmentStatus(), IsDefault: env.ID == defaultID, LatestBuild: latest.view(r.now),
		CreatedAt: env.CreatedAt, UpdatedAt: env.UpdatedAt,
	}
	if env.Owner == scopeOrganization {
		v.Scope = scopeOrganization
	}
	if active != nil {
		source := r.e.sourceView(active.SourceID)
		v.ActiveRepositories, v.ActiveSource, v.LastSuccessfulBuildAt = arrange(r.e, active.Repositories), &source, active.at(r.now).finishedAt
	}
	v.LatestBuild.Repositories, v.FailureReason = arrange(r.e, v.LatestBuild.Repositories), v.LatestBuild.FailureReason
	if listed {
		v.FailureReason, v.LatestBuild.FailureReason, v.LatestBuild.FailureCategory, v.LatestBuild.Excerpt = "", "", "", ""
	}
	return v, nil
}

// environment finds an environment that the caller sees. Any other answers 404 to every operation.
func (r *request) environment(id string) (*environment, error) {
	return r.environmentSeenBy(r.who.ID, id)
}

func (r *request) environmentSeenBy(principalID, id string) (*environment, error) {
	missing := notFound("No environment with the ID %q was found.", id)
	env, err := environmentTable.get(r.tx, id, missing)
	if err == nil && env.Owner != scopeOrganization && env.Owner != principalID {
		return nil, missing
	}
	return env, err
}

// environmentToChange finds an environment that the caller may change.
func (r *request) environmentToChange() (*environment, error) {
	env, err := r.environmentInPath()
	if err == nil && env.Owner == scopeOrganization {
		err = r.mayChangeOrganization()
	}
	return env, err
}

func (r *request) mayChangeOrganization() error {
	if !r.who.manages() {
		return forbidden("Only a member with the Manager role or higher may change the environments of the organization.")
	}
	return nil
}

// viewer returns the principal whose environments a request shows: the caller, or the service account it names.
func (r *request) viewer() (principal, error) {
	id, named := r.query.Get("serviceAccountId"), r.query.Has("serviceAccountId")
	who, err := r.owner(id, named)
	if err != nil && asAPIError(err).status == http.StatusNotFound {
		return who, refuse("account-unknown", "No service account with the ID %q was found.", id)
	}
	return who, err
}

func listEnvironments(r *request) (reply, error) {
	who, err := r.viewer()
	if err != nil {
		return reply{}, err
	}
	var environments []*environment
	for _, owner := range []string{scopeOrganization, who.ID} {
		owned, err := environmentTable.pick(r.tx, environmentsByName.keys(r.tx, key(owner, "")))
		if err != nil {
			return reply{}, err
		}
		environments = append(environments, owned...)
	}
	defaultID, err := defaultEnvironment(r.tx)
	if err != nil {
		return reply{}, err
	}
	list := make([]environmentView, len(environments))
	for i, env := range newest(environments) {
		if list[i], err = r.environmentView(env, defaultID, true); err != nil {
			return reply{}, err
		}
	}
	body := values{"environments": list}
	if defaultID != "" {
		body["defaultEnvironmentId"] = defaultID
	}
	return reply{200, body}, nil
}

func getEnvironment(r *request, env *environment) (reply, error) {
	defaultID, err := defaultEnvironment(r.tx)
	if err != nil {
		return reply{}, err
	}
	view, err := r.environmentView(env, defaultID, false)
	return reply{200, view}, err
}

// deleteEnvironment refuses while a build runs, and refuses to delete the default while another one could replace it.
func deleteEnvironment(r *request, env *environment) (reply, error) {
	latest, err := r.build(env, env.LatestBuild)
	if err != nil {
		return reply{}, err
	}
	if latest.at(r.now).running() {
		return reply{}, conflict("The build %s of the environment %q is running; cancel it or wait until it ends.", latest.ID, env.Name)
	}
	defaultID, err := defaultEnvironment(r.tx)
	if err != nil {
		return reply{}, err
	}
	if env.ID == defaultID {
		if siblings := environmentsByName.keys(r.tx, key(scopeOrganization, "")); len(siblings) > 1 {
			return reply{}, conflict("The environment %q is the organization's default; make another one the default first.", env.Name)
		}
		if err := putDefaultEnvironment(r.tx, ""); err != nil {
			return reply{}, err
		}
	}
	r.noteChange(env.ID, env.Name)
	return reply{status: 204}, errors.Join(environmentTable.remove(r.tx, env.ID), buildTable.removeAll(r.tx, key(env.ID, "")))
}
