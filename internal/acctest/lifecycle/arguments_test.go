package lifecycle

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// emptyIsMeant are the text arguments that may be empty, with the reason.
var emptyIsMeant = map[string]string{
	"resource agentyard_environment repositories[0].script":                  "the repository needs no script",
	"resource agentyard_computer_file_upload content":                        "the file is empty",
	"resource agentyard_computer_file_upload content_base64":                 "the file is empty",
	"resource agentyard_computer_file_upload content_wo":                     "the file is empty",
	"resource agentyard_ci_workflow_edit changes.name":                       "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_prompt":              "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.schedule":                   "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.yaml_params":                "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_ci_model":            "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_ci_reasoning_effort": "an edit removes it",
}

var isTime = regexp.MustCompile(`(_at|_timestamp|_time|^start|^end)$`)

// eachText calls do with the path of each text argument, nested ones too, and of an element of each list of texts.
func eachText(at string, attributes []*tfprotov6.SchemaAttribute, do func(path string, a *tfprotov6.SchemaAttribute)) {
	for _, a := range attributes {
		path := at + a.Name
		switch {
		case !a.Optional && !a.Required:
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			eachText(path+".", a.NestedType.Attributes, do)
		case a.NestedType != nil:
			eachText(path+"[0].", a.NestedType.Attributes, do)
		case a.Type.Is(tftypes.String):
			do(path, a)
		case a.Type.Is(tftypes.List{ElementType: tftypes.String}), a.Type.Is(tftypes.Set{ElementType: tftypes.String}):
			do(path+"[0]", a)
		}
	}
}

// set returns a copy of a value with the text at a path.
func set(v any, path []string, text any) any {
	if len(path) == 0 {
		return text
	}
	if path[0] == "0" {
		list, _ := v.([]any)
		if list = slices.Clone(list); len(list) == 0 {
			list = []any{nil}
		}
		list[0] = set(list[0], path[1:], text)
		return list
	}
	object, _ := v.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	object[path[0]] = set(object[path[0]], path[1:], text)
	return object
}

func with(config acctest.Values, path string, text any) acctest.Values {
	return set(config, namesIn(path), text).(map[string]any)
}

func namesIn(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// valueAt returns what is at a path, or nil.
func valueAt(config map[string]any, path string) any {
	v := any(config)
	for _, name := range namesIn(path) {
		if list, _ := v.([]any); len(list) > 0 {
			v = list[0]
			continue
		}
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// Each text argument refuses an empty text, and each time another text, at the argument itself.
func TestArguments_emptyTextsAndTimes(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	p := acctest.NewProcess(t, o.Env, nil)
	seen := map[string]bool{}
	eachObject(p.Schemas(), func(object object) {
		config := o.In(object.arguments)
		eachText("", object.schema.Block.Attributes, func(path string, a *tfprotov6.SchemaAttribute) {
			name := object.kind + " " + object.typeName + " " + path
			if seen[name] {
				return
			}
			seen[name] = true
			at := strings.NewReplacer("[0]", `(\[0\]|\[…\])`, ".", `\.`).Replace(path)
			refuses := func(text, want string) {
				out := p.Check(object.kind, object.typeName, with(config, path, text))
				if !out.Refuses(regexp.MustCompile("^"+at+"$"), want) {
					t.Errorf("%s: %q: %s", name, text, out)
				}
			}
			if emptyIsMeant[name] == "" {
				refuses("", "")
			}
			if isTime.MatchString(a.Name) || strings.Contains(a.Description, "RFC 3339") {
				refuses("yesterday", "RFC")
			}
		})
	})
	for name := range emptyIsMeant {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// Every argument, and each part of one, may come from another resource of the same apply: in a create, and in an update.
func TestResource_unknownAtPlan(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		full, changed := r.FullOrLeast()
		given := o.In(full)
		attributes := acctest.NewProcess(t, o.Env, nil).Schemas().ResourceSchemas[r.Type].Block.Attributes
		paths := map[string]bool{}
		eachText("", attributes, func(path string, _ *tfprotov6.SchemaAttribute) { paths[path] = true })
		for _, a := range argumentsOf("", attributes, false) {
			paths[a.path] = true
		}
		for path := range paths {
			if valueAt(given, path) == nil {
				continue
			}
			o := newOrganization(t)
			known := o.In(full)
			unknown := with(known, path, tftypes.UnknownValue)
			i := o.NewInstance(t, r.Type)
			acctest.NewProcess(t, o.Env, nil).ApplyLater(i, unknown, known).MustDo(t, acctest.ActionCreate)
			o.Plan(t, i, known).MustDo(t, acctest.ActionNone)
			o.MustApply(t, i, o.In(changed))
			if out := o.Plan(t, i.Clone(), unknown); len(out.Errors) > 0 || out.Action != acctest.ActionReplace {
				acctest.NewProcess(t, o.Env, nil).ApplyLater(i, unknown, known).MustSucceed(t)
				o.Plan(t, i, known).MustDo(t, acctest.ActionNone)
			}
		}
	})
}

// unknownResults are all results that any update in place makes unknown, with the reason. An unknown value can force the replacement of
// whatever uses it, with everything on it. So add a row only if this update can change the result.
var unknownResults = map[string]map[string]string{
	"agentyard_api_key": {
		"id": "a new key has another ID", "key": "a new key has another value", "fingerprint": "the same", "created_at": "the new key is created in the apply",
		"next_rotation_at": "counts from the creation of the new key", "rotated_at": "the apply rotates the key", "previous_key_id": "a grace period keeps the old key",
		"expires_at": "expires_in counts from the creation of the new key",
		"is_revoked": "a dead key may stay if the arguments turn out to be the same", "revoked_at": "the same",
	},
	"agentyard_computer": {
		"status": "the apply waits for a computer that was never active", "host_id": "the service sets it until then", "install_session_id": "the same", "cloned_repo_directories": "the same",
	},
	"agentyard_computer_fleet": {
		"computers": "an unknown quantity decides the names", "computers.id": "a new computer replaces a missing or a failed one", "computers.status": "the same", "computers.hostname": "the same",
		"computers.remote_user": "the same", "computers.relay_client_url": "the same", "computers.relay_agent_url": "the same", "computers.cloned_repo_directories": "the same",
	},
	"agentyard_environment": {
		"latest_build": "the apply starts a build, or waits for one", "latest_build_id": "the same", "status": "the same",
		"failure_reason":             "a failed environment has one until its new build starts",
		"last_successful_build_at":   "the apply waits for a build",
		"active_repositories":        "other repositories become active only if their build succeeds",
		"active_repositories.script": "another script becomes active only if its build succeeds",
		"active_source":              "another source becomes active only if its build succeeds", "source": "source_id selects another one",
		"is_default": "the apply makes the environment the default",
	},
	"agentyard_member_invitation": {"status": "a role is a new invitation"},
}

// situations are more updates than those that set an argument to an unknown value: they change the service, and return the configuration.
var situations = map[string][]func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values{
	"agentyard_api_key": {
		func(_ *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			e.API(http.MethodPost, "/api/v0/service-accounts/"+i.Attribute("service_account_id")+"/api-keys/"+i.ID()+"/revoke", nil, nil)
			return created
		},
		func(_ *testing.T, _ *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			return with(created, "expires_in", "24h")
		},
	},
	"agentyard_computer": {
		func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			created = with(created, "name", "slow")
			p := acctest.NewProcess(t, e, nil)
			*i = *p.NewInstance(i.Type)
			p.Apply(i, with(created, "wait_for_active", false)).MustSucceed(t)
			return created
		},
	},
	"agentyard_computer_fleet": {
		func(_ *testing.T, e *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			for _, id := range e.IDs("/api/v0/computers", "computers") {
				e.Try(http.MethodDelete, "/api/v0/computers/"+id, nil)
			}
			return with(created, "quantity", 3)
		},
	},
	"agentyard_environment": {
		func(_ *testing.T, _ *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			return with(created, "repositories", []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}})
		},
		func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			check.Must(t, e.FailBuild(emulator.BuildFailure{Category: "validation"}))
			e.API(http.MethodPost, "/api/v0/environments/"+i.ID()+"/builds", nil, nil)
			e.Clock.Advance(time.Hour)
			return created
		},
	},
}

// Each update leaves known what it does not change: each argument unknown, the updates of the specimens, and what changed elsewhere.
func TestResource_unknownResults(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		e, created, changed := o.Env, o.In(r.Least), o.In(r.Changed)
		_, i := e.Created(t, r.Type, created)
		seen := map[string]bool{}
		see := func(what, argument string, config acctest.Values) {
			out := e.Plan(t, i.Clone(), config)
			if len(out.Errors) > 0 || out.Action != acctest.ActionUpdate {
				return // Another argument excludes this one, or forces a new object.
			}
			for _, name := range out.Unknown(t) {
				if name == argument || strings.HasPrefix(name, argument+".") {
					continue
				}
				if seen[name] = true; unknownResults[r.Type][name] == "" {
					t.Errorf("%s: %s becomes unknown. Keep it known, or add the reason to unknownResults", what, name)
				}
			}
		}
		see("an update", "none", changed)
		for _, argument := range acctest.NewProcess(t, e, nil).Arguments(r.Type) {
			see("an unknown "+argument, argument, with(created, argument, tftypes.UnknownValue))
		}
		for _, change := range situations[r.Type] {
			see("a change elsewhere", "none", change(t, e, i, created))
		}
		for name := range unknownResults[r.Type] {
			if !seen[name] {
				t.Errorf("no update makes %s unknown", name)
			}
		}
	})
}
