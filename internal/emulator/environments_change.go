package emulator

import (
	"fmt"
	"net/http"
	"unicode/utf8"
)

const (
	maxEnvironmentName = 128
	maxRepositories    = 50
	maxScript          = 64 << 10
)

func readEnvironmentName(f *fields) string {
	name := f.text("name")
	if n := utf8.RuneCountInString(name); n > maxEnvironmentName {
		f.problemBy("environment-name", "name", "must have at most %d characters, not %d", maxEnvironmentName, n)
	}
	return name
}

// readRepositories returns nil if there are none in the body.
func readRepositories(f *fields) []repository {
	items := f.objects("repositories")
	if !f.has("repositories") {
		return nil
	}
	if len(items) > maxRepositories {
		f.problemBy("repository-count", "repositories", "must have at most %d items, not %d", maxRepositories, len(items))
	}
	list, first := make([]repository, len(items)), map[string]int{}
	for i, item := range items {
		list[i] = repository{item.text("url"), readScript(item, "script")}
		if other, twice := first[list[i].URL]; twice && list[i].URL != "" {
			f.problemBy("repository-twice", fmt.Sprintf("repositories[%d].url", i), "repeats that of repositories[%d]", other)
		}
		first[list[i].URL] = i
	}
	return list
}

func readScript(f *fields, name string) string {
	script := f.text(name)
	if len(script) > maxScript {
		f.problemBy("script-size", name, "must have at most %d bytes, not %d", maxScript, len(script))
	}
	return script
}

func createEnvironment(r *request) (reply, error) {
	if r.e.switched().noEnvironments {
		return reply{}, fail(http.StatusMethodNotAllowed, "The organization does not allow environments.")
	}
	f := r.fields()
	env := &environment{ID: newID("env_", r.now), Name: readEnvironmentName(f), Owner: r.who.ID}
	if f.text("scope") == scopeOrganization {
		env.Owner = scopeOrganization
	}
	env.Repositories, env.SetupScript, env.SourceID = readRepositories(f), readScript(f, "setupScript"), f.text("sourceId")
	makeDefault := f.boolean("makeOrganizationDefault")
	if makeDefault && env.Owner != scopeOrganization {
		f.problemBy("default-scope", "makeOrganizationDefault", "needs the scope organization")
	}
	if err := f.done(); err != nil {
		return reply{}, err
	}
	if env.Owner == scopeOrganization {
		if err := r.mayChangeOrganization(); err != nil {
			return reply{}, err
		}
	}
	var err error
	if env.SourceID == "" {
		if env.SourceID, err = r.e.defaultSource(http.StatusConflict); err != nil {
			return reply{}, err
		}
	} else if err := r.e.checkSource(env.SourceID); err != nil {
		return reply{}, err
	}
	if err := env.supported(); err != nil {
		return reply{}, err
	}
	change, err := r.addEnvironment(env, makeDefault)
	return reply{201, change}, err
}

// addEnvironment stores a new environment and starts its first build.
func (r *request) addEnvironment(env *environment, makeDefault bool) (change environmentChange, err error) {
	if env.born, err = r.bornNow(environmentTable); err != nil {
		return change, err
	}
	env.UpdatedAt = env.CreatedAt
	if err := r.checkEnvironmentName(env); err != nil {
		return change, err
	}
	if err := r.startBuild(env, "create"); err != nil {
		return change, err
	}
	if makeDefault {
		if err := putDefaultEnvironment(r.tx, env.ID); err != nil {
			return change, err
		}
	}
	return environmentChange{env.ID, env.LatestBuild}, environmentTable.put(r.tx, env.ID, *env)
}

// checkEnvironmentName answers 409 when the name is taken.
func (r *request) checkEnvironmentName(env *environment) error {
	switch {
	case environmentsByName.find(r.tx, key(env.Owner, env.Name)) == "":
		return nil
	case env.Owner == scopeOrganization:
		return conflict("The organization already has an environment named %q.", env.Name)
	}
	return conflict("The owner already has an environment named %q; names are unique per owner.", env.Name)
}

// updateEnvironment starts a build if what the environment is built from changes; one that runs is then superseded.
func updateEnvironment(r *request, env *environment) (reply, error) {
	f := r.fields()
	name, repositories, sourceID := readEnvironmentName(f), readRepositories(f), f.text("sourceId")
	var script string
	if !f.null("setupScript") {
		script = readScript(f, "setupScript")
	}
	if err := f.done(); err != nil {
		return reply{}, err
	}
	change, before := environmentChange{ID: env.ID}, *env
	if name != "" && name != env.Name {
		env.Name = name
		if err := r.checkEnvironmentName(env); err != nil {
			return reply{}, err
		}
	}
	if f.has("repositories") {
		env.Repositories = repositories
	}
	if f.has("setupScript") {
		env.SetupScript = script
	}
	if sourceID != "" && sourceID != env.SourceID {
		if err := r.e.checkSource(sourceID); err != nil {
			return reply{}, err
		}
		env.SourceID = sourceID
	}
	builds := !env.equal(before.definition)
	if !builds && env.Name == before.Name {
		return reply{200, change}, nil
	}
	env.UpdatedAt = millis(r.now)
	if builds {
		if err := env.supported(); err != nil {
			return reply{}, err
		}
		if err := r.startBuild(env, "edit"); err != nil {
			return reply{}, err
		}
		change.BuildID = env.LatestBuild
	} else {
		r.noteChange(env.ID, env.Name)
	}
	return reply{200, change}, environmentTable.put(r.tx, env.ID, *env)
}
