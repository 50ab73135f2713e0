package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// environmentsClient calls the operations on environments and their builds.
type environmentsClient struct {
	*conn

	environments *shared[Environment]
	buildPolls   *poller[BuildStatus]
	// environmentReads are those after a write or a build.
	environmentReads *poller[Environment]
	sources          sourceOptions
}

func newEnvironments(conn *conn) *environmentsClient {
	c := &environmentsClient{conn: conn}
	c.environments = newShared(conn.Clock, 1, c.listEnvironments, (*Environment).identifier, (*Environment).names)
	c.buildPolls, c.environmentReads = c.newBuildPolls(), c.newEnvironmentReads()
	return c
}

// Scopes of an environment.
const (
	ScopeUser         = "user"
	ScopeOrganization = "organization"
)

// Statuses of an environment, which are those of its latest build.
const (
	EnvironmentBuilding = "building"
	EnvironmentReady    = "ready"
	EnvironmentFailed   = "failed"
)

// Environment is a named development environment: repositories and scripts from which the service builds what sessions start in.
type Environment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Scope is who may use it: "user" or "organization"; empty where the service does not tell.
	Scope string `json:"scope"`
	// Repositories, SetupScript and Source are what was asked for last; the active ones are what the last successful build was made of.
	Repositories       []EnvironmentRepository `json:"repositories"`
	ActiveRepositories []EnvironmentRepository `json:"activeRepositories"`
	SetupScript        string                  `json:"setupScript"`
	Source             *EnvironmentSource      `json:"source"`
	ActiveSource       *EnvironmentSource      `json:"activeSource"`
	Status             string                  `json:"status"`
	IsDefault          *bool                   `json:"isDefault"`
	LatestBuild        *Build                  `json:"latestBuild"`
	// LastSuccessfulBuildAt is zero before the first success.
	LastSuccessfulBuildAt Millis `json:"lastSuccessfulBuildAt"`
	// FailureReason may be in the single read only, as may be the failure of the latest build and its excerpt.
	FailureReason string `json:"failureReason"`
	CreatedAt     Millis `json:"createdAt"`
	UpdatedAt     Millis `json:"updatedAt"`

	// OrganizationDefault is the ID of the organization's default environment, where the record comes from a listing that told it.
	OrganizationDefault string `json:"-"`
	// isListed says that the record comes from a listing, which lacks the reasons of failures.
	isListed bool
}

// EnvironmentRepository is a repository of an environment and the script that sets it up.
type EnvironmentRepository struct {
	URL    string `json:"url"`
	Script string `json:"script"`
}

// EnvironmentSource is what an environment is built from.
type EnvironmentSource struct {
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

// CreateEnvironmentRequest is the body of createEnvironment. What is empty is not sent.
type CreateEnvironmentRequest struct {
	Name                    string                  `json:"name"`
	Scope                   string                  `json:"scope,omitempty"`
	Repositories            []EnvironmentRepository `json:"repositories"`
	SetupScript             string                  `json:"setupScript,omitempty"`
	SourceID                string                  `json:"sourceId,omitempty"`
	MakeOrganizationDefault bool                    `json:"makeOrganizationDefault,omitempty"`
}

// UpdateEnvironmentRequest is the body of updateEnvironment. Nil means "leave as it is".
type UpdateEnvironmentRequest struct {
	Name         *string                 `json:"name,omitempty"`
	Repositories []EnvironmentRepository `json:"repositories,omitzero"`
	// SetupScript is empty to remove the script.
	SetupScript *string `json:"-"`
	SourceID    *string `json:"sourceId,omitempty"`
}

// MarshalJSON writes the removal of the setup script as null.
func (b UpdateEnvironmentRequest) MarshalJSON() ([]byte, error) {
	type fields UpdateEnvironmentRequest
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
func (b UpdateEnvironmentRequest) IsEmpty() bool { return b.Name == nil && !b.Builds() }

// Builds reports that the change concerns what is built.
func (b UpdateEnvironmentRequest) Builds() bool {
	return b.Repositories != nil || b.SetupScript != nil || b.SourceID != nil
}

// EnvironmentChange is the answer to what may start a build. BuildID is empty where none was started.
type EnvironmentChange struct {
	ID      string `json:"id"`
	BuildID string `json:"buildId"`
}

func (e *EnvironmentChange) identifier() string { return e.ID }

func (e *EnvironmentChange) missing() string { return "" }

func (e *Environment) identifier() string { return e.ID }

func (e *Environment) missing() string {
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
	return e.Status == EnvironmentFailed || e.LatestBuild != nil && e.LatestBuild.Status == BuildFailed
}

// names are the name, and the name within its scope: the same one may stand in both scopes.
func (e *Environment) names() []string {
	if e.Scope == "" {
		return []string{e.Name, inScope(ScopeUser, e.Name), inScope(ScopeOrganization, e.Name)}
	}
	return []string{e.Name, inScope(e.Scope, e.Name)}
}

// inScope is what an environment of a name and a scope is found by. Without a scope, which the service chooses then, any counts.
func inScope(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "\x00" + name
}

// existing is what an error tells of an environment that stands in the way.
func (e *Environment) existing() ExistsError {
	return ExistsError{Object: "environment", Name: e.Name, ID: e.ID, ImportID: e.ID, CreatedAt: e.CreatedAt.Time()}
}

// Environments returns the environments that the API key sees, or those of a service account, ordered by name; many calls in a short time share one listing.
func (c *environmentsClient) Environments(ctx context.Context, account string) ([]Environment, error) {
	all, err := c.environments.all(ctx, account)
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b Environment) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// EnvironmentsNamed returns the environments of a name, in any scope, from the same listing.
func (c *environmentsClient) EnvironmentsNamed(ctx context.Context, name string) ([]Environment, error) {
	return c.environments.find(ctx, organization, name)
}

// listEnvironments always asks the service.
func (c *environmentsClient) listEnvironments(ctx context.Context, account string) ([]Environment, error) {
	q := url.Values{}
	setIf(q, "serviceAccountId", account)
	r := request{op: operation{name: "listEnvironments", method: http.MethodGet, route: "/api/v0/environments"}, query: q}
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	found, err := readList[Environment](answer.body, "environments")
	if err != nil {
		return nil, unusable(r.op, err)
	}
	var envelope struct {
		DefaultEnvironmentID string `json:"defaultEnvironmentId"`
	}
	// A bare list has no envelope, and its objects say themselves which is the default.
	_ = json.Unmarshal(answer.body, &envelope)
	for i := range found {
		if found[i].IsDefault != nil && *found[i].IsDefault {
			envelope.DefaultEnvironmentID = cmp.Or(envelope.DefaultEnvironmentID, found[i].ID)
		}
	}
	for i := range found {
		found[i].isListed, found[i].OrganizationDefault = true, envelope.DefaultEnvironmentID
		if found[i].IsDefault == nil {
			isDefault := found[i].ID == envelope.DefaultEnvironmentID
			found[i].IsDefault = &isDefault
		}
	}
	return each[Environment](r, found)
}

// Environment reads one environment. Many reads in a short time share one listing, and only a failed one costs a read of
// its own. One that does not exist is a *GoneError.
func (c *environmentsClient) Environment(ctx context.Context, id string) (*Environment, error) {
	found, err := c.environments.get(ctx, organization, id, func(ctx context.Context) (*Environment, error) { return c.EnvironmentAlone(ctx, id) })
	if err != nil {
		return nil, err
	}
	return c.WithFailure(ctx, found)
}

// EnvironmentAlone reads one environment from the service itself.
func (c *environmentsClient) EnvironmentAlone(ctx context.Context, id string) (*Environment, error) {
	return one[Environment](ctx, c.conn, request{
		op:   operation{name: "getEnvironment", method: http.MethodGet, route: "/api/v0/environments/{environmentId}"},
		path: []string{id},
		noun: "environment",
	}, id)
}

// WithFailure returns a record with all that it may show, and nothing else, however it was read: one of a failure that
// comes from a listing is read alone, one without a failure loses what a listing lacks, and one that does not say whether
// it is the default is completed from the shared listing.
func (c *environmentsClient) WithFailure(ctx context.Context, e *Environment) (*Environment, error) {
	whole := *e
	if e.isListed && e.hasFailed() {
		alone, err := c.EnvironmentAlone(ctx, e.ID)
		if IsNotFound(err) {
			err = c.environments.confirmGone(ctx, organization, e.ID, err)
		}
		if err != nil {
			return nil, err
		}
		whole = *alone
		whole.OrganizationDefault = e.OrganizationDefault
		if whole.IsDefault == nil {
			whole.IsDefault = e.IsDefault
		}
	}
	if !whole.hasFailed() && (whole.Status == EnvironmentReady || whole.Status == EnvironmentBuilding) {
		whole.FailureReason = ""
		if whole.LatestBuild != nil {
			// Others may hold the same build.
			build := *whole.LatestBuild
			build.FailureReason, build.FailureCategory, build.Excerpt = "", "", ""
			whole.LatestBuild = &build
		}
	}
	if err := c.tellDefault(ctx, &whole); err != nil {
		return nil, err
	}
	return &whole, nil
}

// tellDefault completes a record that does not say whether it is the default, which every listing does.
func (c *environmentsClient) tellDefault(ctx context.Context, e *Environment) error {
	if e.IsDefault != nil {
		return nil
	}
	id, err := c.DefaultEnvironment(ctx)
	switch {
	case cannotList(err):
		return nil
	case err != nil:
		return err
	}
	isDefault := id == e.ID
	e.IsDefault = &isDefault
	return nil
}

// gatherReads is how long a read after a write waits for others to share its listing.
const gatherReads = 250 * time.Millisecond

// EnvironmentNow reads one environment with a request that is sent after the call. Reads made within gatherReads share a listing.
func (c *environmentsClient) EnvironmentNow(ctx context.Context, id string) (*Environment, error) {
	found, err := c.environmentReads.watch(organization, id).Next(ctx, gatherReads)
	if err != nil {
		return nil, err
	}
	return c.WithFailure(ctx, found)
}

func (c *environmentsClient) newEnvironmentReads() *poller[Environment] {
	return newPoller(c.Clock, pollSource[Environment]{
		single: c.EnvironmentAlone,
		many: func(ctx context.Context, account string, _ []string) ([]Environment, error) {
			return c.listEnvironments(ctx, account)
		},
		manyIsAll: true,
		id:        (*Environment).identifier,
	})
}

// CreateEnvironment makes an environment, whose first build the service starts, and reconciles a lost answer; see creation.
// The service answers with IDs alone: what is returned otherwise is what was asked for.
func (c *environmentsClient) CreateEnvironment(ctx context.Context, body CreateEnvironmentRequest) (*Environment, error) {
	made, err := create(ctx, c.conn, creation[Environment]{
		object:     "environment",
		name:       body.Name,
		collection: c.environments,
		key:        organization,
		listedAs:   inScope(body.Scope, body.Name),
		send: func(ctx context.Context) (*Environment, error) {
			change, err := one[EnvironmentChange](ctx, c.conn, request{
				op:   operation{name: "createEnvironment", method: http.MethodPost, route: "/api/v0/environments"},
				body: body,
				noun: "environment",
			}, newObject)
			if err != nil {
				return nil, err
			}
			return body.asked(change), nil
		},
		nameOf:    func(e *Environment) string { return e.Name },
		createdAt: func(e *Environment) Millis { return e.CreatedAt },
		isWanted:  body.isWanted,
		existing:  (*Environment).existing,
	})
	c.environments.discardAll()
	if err != nil {
		return nil, err
	}
	c.environments.wrote(organization, made)
	return made, nil
}

// asked is the environment as the request asked for it.
func (b CreateEnvironmentRequest) asked(change *EnvironmentChange) *Environment {
	e := &Environment{ID: change.ID, Name: b.Name, Scope: b.Scope, Repositories: b.Repositories, SetupScript: b.SetupScript}
	if change.BuildID != "" {
		e.LatestBuild = &Build{ID: change.BuildID}
	}
	return e
}

// isWanted reports that an environment is what the request asked for, as far as its record tells.
func (b CreateEnvironmentRequest) isWanted(e *Environment) bool {
	return SameText(b.Name, e.Name) && (b.Scope == "" || e.Scope == "" || b.Scope == e.Scope) &&
		slices.EqualFunc(b.Repositories, e.Repositories, sameRepository) &&
		SameText(b.SetupScript, e.SetupScript) && (b.SourceID == "" || b.SourceID == e.SourceID())
}

// SameText reports that two texts differ at most in trailing blanks, which a service may trim.
func SameText(a, b string) bool {
	return strings.TrimRightFunc(a, unicode.IsSpace) == strings.TrimRightFunc(b, unicode.IsSpace)
}

// SameURL reports that two URLs of a repository differ at most in ".git" or a slash at their ends.
func SameURL(a, b string) bool { return trimURL(a) == trimURL(b) }

func trimURL(address string) string {
	return strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(address), "/"), ".git")
}

func sameRepository(a, b EnvironmentRepository) bool {
	return SameURL(a.URL, b.URL) && SameText(a.Script, b.Script)
}

// UpdateEnvironment changes what is set in body and returns the ID of the build that this started; empty if none shows.
// Latest is the environment's latest build as it was known before.
func (c *environmentsClient) UpdateEnvironment(ctx context.Context, id, latest string, body UpdateEnvironmentRequest) (string, error) {
	defer c.environments.discardAll()
	r := request{
		op:   operation{name: "updateEnvironment", method: http.MethodPatch, route: "/api/v0/environments/{environmentId}"},
		path: []string{id},
		body: body,
	}
	since := c.serviceTime()
	answer, err := c.exchange(ctx, r, wantStatus)
	if err != nil {
		return "", err
	}
	var change EnvironmentChange
	isNamed := decode(answer.body, "environment", &change) == nil && change.ID != ""
	if problem := unlike(&change, id); isNamed && problem != "" {
		return "", r.strange(problem)
	}
	if isNamed && (change.BuildID != "" || !body.Builds()) {
		return change.BuildID, nil
	}
	// A retry of a request whose response was lost changes nothing and names no build.
	readCtx, cancel := outlive(ctx, afterStop)
	defer cancel()
	present, err := c.EnvironmentAlone(readCtx, id)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w (the answer to %s names no build, so the environment was read back)", err, r.op.name)
	case !isNamed && !body.matches(present):
		return "", r.strange("it holds no object, and the environment, read back, is not changed")
	case !body.Builds():
		return "", nil
	case present.builtSince(latest, since):
		return present.LatestBuildID(), nil
	}
	build, _ := c.newerBuild(ctx, id, latest, since) // The change itself is known to have succeeded.
	return build, nil
}

// matches reports that an environment is as the request wants it.
func (b UpdateEnvironmentRequest) matches(e *Environment) bool {
	return (b.Name == nil || SameText(*b.Name, e.Name)) &&
		(b.Repositories == nil || slices.EqualFunc(b.Repositories, e.Repositories, sameRepository)) &&
		(b.SetupScript == nil || SameText(*b.SetupScript, e.SetupScript)) &&
		(b.SourceID == nil || *b.SourceID == e.SourceID())
}

// CheckEnvironments is CheckComputers for an environment.
func (c *environmentsClient) CheckEnvironments(ctx context.Context) error {
	return c.checkOnce("environments", func() error { _, err := c.environments.known(ctx, organization, "", c.lastHeard()); return err })
}
