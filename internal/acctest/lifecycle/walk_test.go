package lifecycle

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/lives"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// values returns arguments in HCL as values.
func values(t *testing.T, arguments string) acctest.Values {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(arguments), "arguments", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attributes, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	config := acctest.Values{}
	for name, attribute := range attributes {
		value, diags := attribute.Expr.Value(nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		text, err := ctyjson.Marshal(value, value.Type())
		acctest.Must(t, err)
		var plain any
		acctest.Must(t, json.Unmarshal(text, &plain))
		config[name] = plain
	}
	return config
}

// forEachCreated creates each object in a process, and gives its configurations.
func forEachCreated(t *testing.T, test func(t *testing.T, e *acctest.Env, i *acctest.Instance, created, changed acctest.Values)) {
	t.Helper()
	forEach(t, func(t *testing.T, l *lives.Life, e *acctest.Env, ids *strings.Replacer) {
		created, changed := values(t, ids.Replace(l.Create)), values(t, ids.Replace(l.Change))
		_, i := e.Created(t, l.TypeName, created)
		test(t, e, i, created, changed)
	})
}

// What was changed elsewhere is changed back, and the next plan is empty.
func TestResource_changedElsewhere(t *testing.T) {
	t.Parallel()
	forEachCreated(t, func(t *testing.T, e *acctest.Env, i *acctest.Instance, created, changed acctest.Values) {
		if i.Type == "agentyard_api_key" {
			return // Its change is a rotation; TestCreateAPIKey covers a key that somebody else rotated.
		}
		want := acctest.ActionUpdate
		switch i.Type {
		case "agentyard_computer_fleet", "agentyard_member_invitation", "agentyard_wiki_run":
			want = acctest.ActionNone // Another slot, a role and a privacy that this configuration does not set.
		}
		e.MustApply(t, i.Clone(), changed)
		e.Apply(t, i, created).MustDo(t, want)
		e.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}

// What was deleted elsewhere is created again, and destroying it succeeds.
func TestResource_deletedElsewhere(t *testing.T) {
	t.Parallel()
	forEachCreated(t, func(t *testing.T, e *acctest.Env, i *acctest.Instance, created, _ acctest.Values) {
		gone := i.Clone()
		e.MustApply(t, i.Clone(), nil)
		acctest.NewProcess(t, e, nil).Destroy(gone.Clone()).MustDo(t, acctest.ActionDelete)
		e.Clock.Advance(time.Hour) // A new session may still be hidden.
		switch i.Type {
		case "agentyard_default_environment", "agentyard_member_invitation":
			return // Its destruction leaves the object as it is.
		case "agentyard_api_key", "agentyard_computer_fleet", "agentyard_user_usage_limits":
			e.Apply(t, i, created).MustDo(t, acctest.ActionUpdate) // A part of it is gone.
		default:
			out := e.Apply(t, i, created)
			out.MustDo(t, acctest.ActionCreate)
			if text := out.WarningText(); !strings.Contains(text, "not found") && !strings.Contains(text, "is not set") {
				t.Errorf("no warning says that it is gone: %s", out)
			}
		}
		e.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}

// An import ID or identity that cannot be one, or that nothing has, is an error that says what it is.
func TestResource_importErrors(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l *lives.Life, e *acctest.Env, ids *strings.Replacer) {
		p := acctest.NewProcess(t, e, nil)
		mustMatch := func(out acctest.Outcome, want string) {
			if !regexp.MustCompile(want).MatchString(out.Text()) {
				t.Errorf("%q does not match %q", out.Text(), want)
			}
		}
		for id, want := range l.NoImport {
			mustMatch(p.Import(p.NewInstance(l.TypeName), ids.Replace(id)), want)
		}
		if l.NoIdentity != "" {
			mustMatch(p.ImportByIdentity(p.NewInstance(l.TypeName), values(t, l.NoIdentity)), "Invalid import ID")
		}
	})
}

var refusals = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// A refused request is an error that names the operation and the status, and the next apply succeeds.
func TestResource_refused(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l *lives.Life, e *acctest.Env, ids *strings.Replacer) {
		steps := []acctest.Values{values(t, ids.Replace(l.Create)), values(t, ids.Replace(l.Change)), nil}
		i := e.NewInstance(t, l.TypeName)
		for n, config := range steps {
			e.Journal().Reset()
			e.MustApply(t, i, config)
			var operations []string
			for _, entry := range e.Journal().Entries() {
				operations = append(operations, entry.Operation)
			}
			for k, operation := range slices.Compact(slices.Sorted(slices.Values(operations))) {
				testRefusal(t, l, n, operation, refusals[(n+k)%len(refusals)])
			}
		}
	})
}

func testRefusal(t *testing.T, l *lives.Life, step int, operation string, status int) {
	t.Helper()
	e, ids := newOrganization(t)
	steps := []acctest.Values{values(t, ids.Replace(l.Create)), values(t, ids.Replace(l.Change)), nil}
	i := e.NewInstance(t, l.TypeName)
	for _, config := range steps[:step] {
		e.MustApply(t, i, config)
	}
	e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
	out := e.Apply(t, i, steps[step])
	e.Faults().Clear()
	if isRead := strings.HasPrefix(operation, "get") || strings.HasPrefix(operation, "list"); len(out.Errors) == 0 && !isRead {
		t.Errorf("step %d: %d of %s is no error", step, status, operation) // What another request also shows may be refused.
	}
	for _, d := range out.Errors {
		acctest.Says(t, d.Summary+": "+d.Detail, operation, strconv.Itoa(status))
	}
	e.MustApply(t, i, steps[step])
}
