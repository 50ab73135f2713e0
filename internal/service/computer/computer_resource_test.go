package computer_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Arguments that are removed keep the service's value, and those of the provider alone send no request.
func TestComputer_leastThenEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, computerType)
	for n, step := range []struct {
		more    acctest.Values
		action  acctest.Action
		name    string
		want    string // The attribute's value in the state.
		patches int
	}{
		{acctest.Values{}, "create", "provider_type", "managed-a", 0},
		{acctest.Values{"name": "renamed"}, "update", "name", "renamed", 1},
		{acctest.Values{"remote_user": "dev"}, "update", "remote_user", "dev", 2},
		{acctest.Values{}, "none", "remote_user", "dev", 2},
		{acctest.Values{"host_id": hostA}, "update", "host_id", hostA, 3},
		{acctest.Values{}, "none", "host_id", hostA, 3},
		{acctest.Values{"wait_for_active": false, "timeouts": map[string]any{"delete": "3m"}}, "update", "name", "renamed", 3},
		{acctest.Values{"host_id": hostB}, "replace", "host_id", hostB, 3},
		{acctest.Values{"host_id": hostB, "provider_type": "managed-b"}, "replace", "provider_type", "managed-b", 3},
		{acctest.Values{"provider_type": "byom", "remote_user": "me"}, "replace", "status", "active", 3},
	} {
		config := acctest.Values{"name": map[bool]string{true: "least", false: "renamed"}[n == 0]}
		maps.Copy(config, step.more)
		before := i.ID()
		e.Apply(t, i, config).MustDo(t, step.action)
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		if i.Attribute(step.name) != step.want || only(t, e).ID != i.ID() || (i.ID() == before) != (step.action == "update" || step.action == "none") {
			t.Errorf("step %d: %s", n, i.State)
		}
		e.WantRequests(t, "updateComputer", step.patches)
	}
}

// A create-only argument is adopted right after an import, and forces replacement at any other time.
func TestComputer_createOnlyAttributesReplace(t *testing.T) {
	t.Parallel()
	app, tools := []any{"https://git.example/acme/app"}, []any{"https://git.example/acme/tools"}
	draft := map[string]any{"workstream_id": hostA, "creation_session_id": hostA, "first_turn_id": hostA}
	template := func(listed bool, draft any) acctest.Values {
		return acctest.Values{"source": map[string]any{"kind": "template", "template_id": "template-base", "is_listed": listed, "software_draft": draft}}
	}
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	for name, steps := range map[string][]acctest.Values{
		"repos":              {nil, {"repos": app}, {"repos": tools}},
		"auto_install_deps":  {{"repos": app}, {"repos": app, "auto_install_deps": true}, {"repos": app, "auto_install_deps": false}},
		"source":             {nil, template(false, nil), template(true, nil), template(true, draft), template(false, draft)},
		"service_account_id": {nil, {"service_account_id": account}, nil},
	} {
		i := e.NewInstance(t, computerType)
		for n, step := range steps {
			config, action := acctest.Values{"name": name}, acctest.ActionReplace
			maps.Copy(config, step)
			if n == 0 {
				action = "create"
			}
			e.Apply(t, i, config).MustDo(t, action)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
	}
}

// A failed creation is tainted. It is not protected, because it could not be replaced then.
func TestComputer_failedProvisioningNamesTheStepAndIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.FailProvisioning(emulator.FailStep{Name: "broken", Step: "clone-repos", Error: "the repository refuses the credentials", Times: 1})
	config := acctest.Values{"name": "broken", "repos": []any{"https://git.example/acme/app"}, "deletion_protection": true}
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, config).MustFail(t, "", "Computer failed to provision", "refuses the credentials", "the next apply replaces it")
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	if got := only(t, e); got.ID != i.ID() || got.Status != "active" || i.Attribute("status") != "active" {
		t.Errorf("the emulator holds %+v, the state %s", got, i.State)
	}
	e.Plan(t, i, nil).MustFail(t, "", "Cannot destroy protected computer")
}

func TestComputer_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var many []any
	for range 21 {
		many = append(many, "https://git.example/a")
	}
	repo := "repos[0]"
	source := func(kind string, more map[string]any) acctest.Values {
		fields := map[string]any{"kind": kind}
		maps.Copy(fields, more)
		return acctest.Values{"source": fields}
	}
	in := func(name string) string { return "source." + name }
	draft := map[string]any{"workstream_id": "1", "creation_session_id": hostA, "first_turn_id": hostA}
	for _, tc := range []struct {
		values   acctest.Values
		at, want string
	}{
		{acctest.Values{"name": ""}, "name", "name must be 1 to 63 characters long"},
		{acctest.Values{"host_id": "not-a-uuid"}, "host_id", "must be a UUID"},
		{acctest.Values{"remote_user": strings.Repeat("u", 64)}, "remote_user", "remote_user must be 1 to 63 characters long"},
		{acctest.Values{"repos": many}, "repos", "repos list must contain at most 20 elements"},
		{acctest.Values{"repos": []any{"acme/app"}}, repo, "repos[0] must be an absolute URI"},
		{acctest.Values{"repos": []any{"https://git.example/" + strings.Repeat("a", 2048)}}, repo, "repos[0] must be at most 2048 characters long"},
		{source("image", nil), in("kind"), "source.kind must be \"template\", \"execution-template\", or \"computer\", not \"image\""},
		{source("computer", map[string]any{"source_computer_id": "x", "template_id": "t"}), in("template_id"), `source of kind "computer" cannot have template_id`},
		{source("template", map[string]any{"template_id": "t"}), in("is_listed"), `source of kind "template" requires is_listed`},
		{source("template", map[string]any{"template_id": "t", "is_listed": true, "software_draft": draft}), in("software_draft.workstream_id"), "must be a UUID"},
		{acctest.Values{"timeouts": map[string]any{"create": "0s"}}, "timeouts.create", "timeouts.create must be longer than 0s"},
	} {
		config := acctest.Values{"name": "n"}
		maps.Copy(config, tc.values)
		e.Plan(t, e.NewInstance(t, computerType), config).MustInclude(t, tc.at, tc.want)
	}
	mustBeSilent(t, e)
}

func TestComputer_errorsOfTheService(t *testing.T) {
	t.Parallel()
	const create = "Cannot create computer"
	for name, tc := range map[string]struct {
		values acctest.Values
		at     string
		want   []string
	}{
		"unknown template": {values: acctest.Values{"source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404", "check the IDs"}},
		"unknown account":  {values: acctest.Values{"service_account_id": "sa_unknown"}, at: "service_account_id", want: []string{create, "404", `No service account with the ID "sa_unknown"`}},
		"unknown template and account": {
			values: acctest.Values{"service_account_id": "sa_unknown", "source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404"},
		},
		"name taken": {at: "name", want: []string{create, "already exists", "2026-03-01T12:00:00Z", "terraform import ADDRESS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := acctest.Values{"name": "n"}
			maps.Copy(config, tc.values)
			if name == "name taken" {
				newComputer(e, map[string]any{"name": "n"})
			}
			mustCreateNothing(t, e, e.NewInstance(t, computerType), config).MustFail(t, tc.at, tc.want...)
		})
	}
}

// A plan shows what is changed, and no other computer of a fleet.
func TestComputer_plansShowWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := func(name string) acctest.Values {
		return acctest.Values{"name": name, "repos": []any{"https://git.example/acme/app"}}
	}
	p, i := e.Created(t, computerType, config("before"))
	acctest.Is(t, "a rename", p.Changes(i, config("after")), []string{"name"})

	for _, tc := range []struct{ config, known acctest.Values }{
		{config("new"), acctest.Values{"install_session_id": nil, "computer_source": nil}},
		{acctest.Values{"name": "new", "auto_install_deps": true}, acctest.Values{"computer_source": nil}},
		{
			acctest.Values{"name": "new", "source": map[string]any{"kind": "computer", "source_computer_id": i.ID()}},
			acctest.Values{"install_session_id": nil, "computer_source": map[string]any{"kind": "computer", "computer_id": i.ID(), "template_id": nil}},
		},
	} {
		planned := map[string]tftypes.Value{}
		acctest.Must(t, p.Plan(p.NewInstance(computerType), tc.config).Planned.As(&planned))
		for _, name := range []string{"host_id", "install_session_id", "computer_source"} {
			if want, ok := tc.known[name]; planned[name].IsFullyKnown() != ok || ok && !reflect.DeepEqual(acctest.Plain(t, planned[name]), want) {
				t.Errorf("%v: %s is %s", tc.config, name, planned[name])
			}
		}
	}

	_, i = e.Created(t, fleetType, fleetOf(5))
	shows := func(quantity int, want ...string) {
		t.Helper()
		var changed []string
		for _, at := range acctest.NewProcess(t, e, nil).Changes(i, fleetOf(quantity)) {
			computer, _, _ := strings.Cut(at, "].")
			changed = append(changed, strings.TrimSuffix(computer, "]"))
		}
		acctest.Is(t, "the changes", slices.Compact(changed), want)
	}
	shows(6, "computers", `computers["web-6"`, "quantity")
	shows(4, "computers", "quantity") // What is removed is in neither.
	deleteComputers(e, "web-2")
	shows(5, `computers["web-2"`)
}
