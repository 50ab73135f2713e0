package lifecycle

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// newOperations returns an organization and the arguments of an operation that is possible. Prepare makes it possible again.
func newOperations(t *testing.T, row specimens.Operation) (o *acctest.Organization, config acctest.Values, prepare func()) {
	t.Helper()
	o = newOrganization(t)
	config = o.In(row.Values)
	o.In(row.Again)
	prepare = func() {
		o.Clock.Advance(time.Hour) // Nothing else is running.
		if row.Request == "cancelEnvironmentBuild" {
			o.API(http.MethodPost, fmt.Sprintf("/api/v0/environments/%s/builds", o.Fill("$building")), nil, nil)
		}
		o.Journal().Reset()
	}
	prepare()
	return o, config, prepare
}

func forEachOperation(t *testing.T, test func(t *testing.T, row specimens.Operation)) {
	t.Helper()
	for _, row := range specimens.Operations {
		t.Run(row.Title(), func(t *testing.T) {
			t.Parallel()
			test(t, row)
		})
	}
}

func TestOperations_actionRunsOnce(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, row specimens.Operation) {
		if row.IsNoAction {
			return
		}
		e, config, _ := newOperations(t, row)
		_, out := acctest.NewProcess(t, e.Env, nil).Invoke(row.Type, config)
		out.MustSucceed(t)
		e.WantRequests(t, row.Request, 1)
	})
}

// Create sends the request once, refreshes and plans send nothing, and a destroy sends nothing.
func TestOperations_resourceRunsOnce(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, row specimens.Operation) {
		e, config, prepare := newOperations(t, row)
		i := e.NewInstance(t, row.Type)
		e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
		e.WantRequests(t, row.Request, 1)
		for name, want := range row.Results {
			var all map[string]tftypes.Value
			check.Must(t, i.State.As(&all))
			if all[name].IsNull() || want != "*" && i.Attribute(name) != want {
				t.Errorf("%s is %s, want %q", name, all[name], want)
			}
		}
		first := i.ID()
		if ranAt, err := time.Parse(time.RFC3339, i.Attribute("ran_at")); !row.IsNoAction && err != nil || ranAt.After(e.Clock.Now()) || first == "" {
			t.Errorf("id %q, ran_at %v: %v", first, ranAt, err)
		}
		prepare()
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		if hasTimeouts(t, e.Env, row.Type) {
			config["timeouts"] = map[string]any{"create": "3h"}
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
		if i.ID() != first || len(e.Journal().Entries()) != 0 {
			t.Errorf("id %q, was %q; requests: %v", i.ID(), first, e.Journal().Entries())
		}

		if maps.Copy(config, e.In(row.Again)); row.Again == nil {
			config["triggers"] = map[string]any{"v": "2"}
		}
		e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
		e.WantRequests(t, row.Request, 1)
		if i.ID() == first {
			t.Error("the second run has the first one's id")
		}
		e.Journal().Reset()
		e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
		check.Is(t, "requests of the destroy", len(e.Journal().Entries()), 0)
	})
}

// Null and empty are equal, and so is a default that is written out. What only controls the wait runs nothing.
func TestOperations_equalValuesRunNothing(t *testing.T) {
	t.Parallel()
	forEachOperation(t, func(t *testing.T, row specimens.Operation) {
		e, config, prepare := newOperations(t, row)
		i := e.NewInstance(t, row.Type)
		e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
		first := i.ID()
		prepare()
		changes := slices.Clone(row.Equal)
		if !row.IsNoAction {
			changes = append(changes, acctest.Values{"triggers": map[string]any{}}, acctest.Values{"triggers": nil})
		}
		for _, change := range changes {
			maps.Copy(config, e.In(change))
			e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		}
		for name := range config { // Back to null.
			if _, ok := row.Values[name]; !ok {
				delete(config, name)
			}
		}
		if out := e.Apply(t, i, config); out.Action == acctest.ActionReplace {
			t.Errorf("removing the values: %s", out)
		}
		if i.ID() != first || len(e.Journal().Entries()) != 0 {
			t.Errorf("id %q, was %q; requests: %v", i.ID(), first, e.Journal().Entries())
		}
	})
}

func hasTimeouts(t *testing.T, e *acctest.Env, typeName string) bool {
	t.Helper()
	return len(acctest.NewProcess(t, e, nil).Schemas().ResourceSchemas[typeName].Block.BlockTypes) > 0
}

// Whatever happens to the request, either nothing is stored and there is one error, which does not tell to invoke an action, or the
// run is stored. The next apply converges.
func TestOperations_faults(t *testing.T) {
	t.Parallel()
	// Repeating these would run them twice.
	once := []string{"agentyard_ci_workflow_edit", "agentyard_session_message"}
	forEachOperation(t, func(t *testing.T, row specimens.Operation) {
		for _, fault := range []emulator.Fault{
			{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusNotImplemented},
			{Kind: emulator.FaultDropBeforeCommit},
			{Kind: emulator.FaultDropAfterCommit},
			{Kind: emulator.FaultStatusAfterCommit, Status: http.StatusBadGateway},
			{Kind: emulator.FaultTruncatedBody},
			{Kind: emulator.FaultNonJSON},
		} {
			t.Run(string(fault.Kind), func(t *testing.T) {
				t.Parallel()
				e, config, prepare := newOperations(t, row)
				i := e.NewInstance(t, row.Type)
				fault.Operation, fault.Times = row.Request, 1
				e.Faults().Add(fault)
				out := e.Apply(t, i, config)
				if len(out.Errors) > 1 || (len(out.Errors) == 0) == i.State.IsNull() || strings.Contains(out.Text(), "nvoke") {
					t.Errorf("state %s, %s", i.State, out)
				}
				if slices.Contains(once, row.Type) {
					e.WantRequests(t, row.Request, 1)
				}
				prepare()
				e.Apply(t, i, config)
				e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
				if i.State.IsNull() || e.Journal().Count(row.Request) > 1 {
					t.Errorf("state %s, %d requests", i.State, e.Journal().Count(row.Request))
				}
			})
		}
	})
}

func TestOperations_noImport(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, row := range specimens.Operations {
		p := acctest.NewProcess(t, e, nil)
		p.Import(p.NewInstance(row.Type), "x").MustFail(t, "", "Operation cannot be imported", "Remove the import.")
	}
}

// The content is in no state and no plan, but in the workspace. A new version uploads again.
func TestOperations_uploadOfASecret(t *testing.T) {
	t.Parallel()
	e, config, _ := newOperations(t, specimens.OperationOf("agentyard_computer_file_upload"))
	delete(config, "content")
	i := e.NewInstance(t, "agentyard_computer_file_upload")
	e.Plan(t, i, config).MustFail(t, "", "Set exactly one of source_path, content, content_base64, and content_wo_version.")
	config["content_wo_version"] = "1"
	e.Apply(t, i, config).MustFail(t, "content_wo", "Missing content", "Set source_path, content, content_base64, or content_wo.")
	config["content_wo"] = "s3cret"
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	check.Lacks(t, i.State.String(), "s3cret")
	e.Journal().Reset()
	config["content_wo"] = "other"
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	config["content_wo_version"], config["file_name"] = "2", "b.txt"
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	e.WantRequests(t, "completeFileUpload", 1)
	delete(config, "content_wo")
	config["content"] = "x"
	e.Plan(t, i, config).MustFail(t, "content", "content_wo_version")
}

// Every write-only argument is null in a run in which its ephemeral source is null. Nothing requires it in a plan, an update, or a
// destroy.
func TestResources_writeOnlyValueIsNullLater(t *testing.T) {
	t.Parallel()
	schemas := acctest.NewProcess(t, acctest.New(t), nil).Schemas()
	for name, schema := range schemas.ResourceSchemas {
		for _, attribute := range schema.Block.Attributes {
			if attribute.WriteOnly && name+"."+attribute.Name != "agentyard_computer_file_upload.content_wo" {
				t.Errorf("add %s.%s to this test", name, attribute.Name)
			}
		}
	}
	e, config, _ := newOperations(t, specimens.OperationOf("agentyard_computer_file_upload"))
	delete(config, "content")
	config["content_wo"], config["content_wo_version"] = "s3cret", "1"
	i := e.NewInstance(t, "agentyard_computer_file_upload")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	delete(config, "content_wo")
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	config["timeouts"] = map[string]any{"create": "3h"}
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	e.Plan(t, i, config).MustDo(t, acctest.ActionCreate)
	e.Apply(t, i, config).MustFail(t, "content_wo", "Missing content", "an ephemeral variable that is not set")
}
