package emulator

import (
	"fmt"
	"net/http"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// sourceProvider offers sources. Its availability can be programmed.
type sourceProvider struct {
	providerOptions
	available bool // From the start.
}

// sourceProviders are all that exist.
var sourceProviders = []sourceProvider{
	{providerOptions{providerView{"provider-a", "Provider A"}, []source{
		{"source-base", "Base image", true, true},
		{"source-repositories", "Repositories without scripts", true, false},
		{"source-bare", "Bare image", false, false},
	}}, true},
	{providerOptions{providerView{"provider-b", "Provider B"}, []source{{"source-other", "Other image", true, true}}}, false},
}

type providerView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// sourceView is the source of an environment as the API shows it.
type sourceView struct {
	source
	Provider    providerView `json:"provider"`
	Unavailable bool         `json:"unavailable,omitempty"`
}

// source is what environments can be built from, as the options list it.
type source struct {
	ID                   string `json:"id"`
	Name                 string `json:"name"`
	SupportsRepositories bool   `json:"supportsRepositories"`
	SupportsSetupScripts bool   `json:"supportsSetupScripts"`
}

type providerOptions struct {
	providerView
	Sources []source `json:"sources"`
}

// findSource returns a source and its provider.
func findSource(id string) (source, sourceProvider, bool) {
	for _, p := range sourceProviders {
		for _, s := range p.Sources {
			if s.ID == id {
				return s, p, true
			}
		}
	}
	return source{}, sourceProvider{}, false
}

func (e *Emulator) sourceView(id string) sourceView {
	s, p, _ := findSource(id)
	return sourceView{s, p.providerView, !e.available(p)}
}

func getEnvironmentSourceOptions(r *request) (reply, error) {
	providers, unavailable := []providerOptions{}, []providerView{}
	for _, p := range sourceProviders {
		if !r.e.available(p) {
			unavailable = append(unavailable, p.providerView)
			continue
		}
		providers = append(providers, providerOptions{p.providerView, arrange(r.e, p.Sources)})
	}
	return reply{200, values{"providers": providers, "unavailableProviders": unavailable}}, nil
}

// checkSource answers whether an environment can be given a source.
func (e *Emulator) checkSource(id string) error {
	s, p, found := findSource(id)
	switch {
	case !found:
		return notFound("No source with the ID %q was found.", id)
	case !e.available(p):
		return conflict("The provider %q of the source %q is unavailable.", p.Name, s.ID)
	}
	return nil
}

// defaultSource is the source of an environment created without one. If none is available, it returns an error with the status.
func (e *Emulator) defaultSource(status int) (string, error) {
	for _, p := range sourceProviders {
		for _, s := range p.Sources {
			if s.SupportsRepositories && s.SupportsSetupScripts && e.available(p) {
				return s.ID, nil
			}
		}
	}
	return "", fail(status, "No source that supports repositories and setup scripts is available.")
}

// supported refuses a definition with features that its source lacks.
func (d definition) supported() error {
	s, _, _ := findSource(d.SourceID)
	switch {
	case len(d.Repositories) > 0 && !s.SupportsRepositories:
		return refuse("source-repositories", "The source %q does not support repositories.", s.ID)
	case d.SetupScript != "" && !s.SupportsSetupScripts:
		return refuse("source-setup-script", "The source %q does not support setup scripts.", s.ID)
	}
	return nil
}

// available reports whether a provider offers its sources now.
func (e *Emulator) available(p sourceProvider) bool {
	if programmed, found := e.switched().providers[p.ID]; found {
		return programmed
	}
	return p.available
}

// SetSourceProvider makes a provider of sources available or unavailable. It is an error if it does not exist.
func (e *Emulator) SetSourceProvider(id string, available bool) error {
	if !slices.ContainsFunc(sourceProviders, func(p sourceProvider) bool { return p.ID == id }) {
		return fmt.Errorf("source provider %s does not exist", id)
	}
	e.program(func(s *switches) {
		if s.providers == nil {
			s.providers = map[string]bool{}
		}
		s.providers[id] = available
	})
	return nil
}

// AllowEnvironments allows or forbids new environments in the organization. While forbidden, their creation returns 405.
func (e *Emulator) AllowEnvironments(allowed bool) {
	e.program(func(s *switches) { s.noEnvironments = !allowed })
}

// SetDefaultEnvironment changes the organization's default without a request, even to one that was never built;
// an empty ID removes the default. It returns an error if the organization has no such environment.
func (e *Emulator) SetDefaultEnvironment(id string) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		if id == "" {
			return putDefaultEnvironment(tx, "")
		}
		missing := fmt.Errorf("the organization has no environment %s", id)
		env, err := environmentTable.get(tx, id, missing)
		switch {
		case err != nil:
			return err
		case env.Owner != scopeOrganization:
			return missing
		}
		return putDefaultEnvironment(tx, id)
	})
}

// defaultEnvironment returns the ID of the organization's default, or "".
func defaultEnvironment(tx *bolt.Tx) (string, error) {
	id, err := defaultTable.get(tx, scopeOrganization, nil)
	if id == nil {
		return "", err
	}
	return *id, nil
}

func putDefaultEnvironment(tx *bolt.Tx, id string) error {
	if id == "" {
		return defaultTable.remove(tx, scopeOrganization)
	}
	return defaultTable.put(tx, scopeOrganization, id)
}

// provisionDefaultEnvironment creates a default without repositories if there is none.
func provisionDefaultEnvironment(r *request) (reply, error) {
	id, err := defaultEnvironment(r.tx)
	if err != nil || id != "" {
		return reply{status: 204}, err
	}
	if r.e.switched().noEnvironments {
		return reply{}, forbidden("The organization does not allow environments.")
	}
	env := &environment{ID: newID("env_", r.now), Name: "Default", Owner: scopeOrganization, definition: definition{Repositories: []repository{}}}
	for n := 2; environmentsByName.find(r.tx, key(env.Owner, env.Name)) != ""; n++ {
		env.Name = fmt.Sprintf("Default %d", n)
	}
	if env.SourceID, err = r.e.defaultSource(http.StatusServiceUnavailable); err != nil {
		return reply{}, err
	}
	_, err = r.addEnvironment(env, true)
	return reply{status: 204}, err
}

func setDefaultEnvironment(r *request) (reply, error) {
	f := r.fields()
	id := f.text("environmentId")
	env, err := r.environment(id)
	if err != nil {
		return reply{}, err
	}
	if env.Owner != scopeOrganization {
		return reply{}, refuse("default-scope", "The environment %q has the scope user; the default has the scope organization.", env.Name)
	}
	_, active, err := r.builds(env)
	if err != nil {
		return reply{}, err
	}
	if active == nil {
		return reply{}, conflict("The environment %q cannot be the default: no build of it has succeeded yet.", env.Name)
	}
	r.noteChange(env.ID, env.Name)
	return reply{200, values{"defaultEnvironmentId": env.ID}}, putDefaultEnvironment(r.tx, env.ID)
}
