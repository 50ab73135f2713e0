package acctest

import (
	"regexp"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

var blanks = regexp.MustCompile(`[\s│╷╵]+`)

// OneLine returns a CLI's output without frames and line breaks.
func OneLine(output string) string { return blanks.ReplaceAllString(output, " ") }

// WantRequests fails the test unless this number of requests for an operation was sent.
func (e *Env) WantRequests(t testing.TB, operation string, want int) {
	t.Helper()
	if got := e.Journal().Count(operation); got != want {
		t.Errorf("%d requests for %s, want %d", got, operation, want)
	}
}

// NewInstance returns a resource that does not exist yet.
func (e *Env) NewInstance(t testing.TB, typeName string) *Instance {
	t.Helper()
	return NewProcess(t, e, nil).NewInstance(typeName)
}

// Created returns a resource that was created in the process p.
func (e *Env) Created(t testing.TB, typeName string, config Values) (p *Process, i *Instance) {
	t.Helper()
	p = NewProcess(t, e, nil)
	i = p.NewInstance(typeName)
	p.Apply(i, config).MustDo(t, ActionCreate)
	return p, i
}

// Apply applies in a new process, like each run of Terraform.
func (e *Env) Apply(t testing.TB, i *Instance, config Values) Outcome {
	t.Helper()
	return NewProcess(t, e, nil).Apply(i, config)
}

// MustApply is Apply, but ends the test at an error.
func (e *Env) MustApply(t testing.TB, i *Instance, config Values) Outcome {
	t.Helper()
	out := e.Apply(t, i, config)
	out.MustSucceed(t)
	return out
}

// Plan plans in a new process.
func (e *Env) Plan(t testing.TB, i *Instance, config Values) Outcome {
	t.Helper()
	return NewProcess(t, e, nil).Plan(i, config)
}

// WarningText returns the text of all warnings.
func (o Outcome) WarningText() string { return joinDiagnostics(o.Warnings) }

// MustSucceed ends the test if the outcome has errors.
func (o Outcome) MustSucceed(t testing.TB) {
	t.Helper()
	if len(o.Errors) > 0 {
		t.Fatal(o)
	}
}

// MustBeSilent fails the test if the outcome has errors or warnings.
func (o Outcome) MustBeSilent(t testing.TB) {
	t.Helper()
	if len(o.Errors)+len(o.Warnings) > 0 {
		t.Errorf("errors %s, warnings %s", o.Text(), o.WarningText())
	}
}

// MustNotCreate expects one error of an apply that creates a resource, as MustFail does, and that the state stays empty.
func (e *Env) MustNotCreate(t testing.TB, typeName string, config Values, attribute string, parts ...string) {
	t.Helper()
	i := e.NewInstance(t, typeName)
	e.Apply(t, i, config).MustFail(t, attribute, parts...)
	check.Is(t, "the state is empty", i.State.IsNull(), true)
}

// MustNotInvoke expects one error of an action, as MustFail does.
func (e *Env) MustNotInvoke(t testing.TB, settings Values, typeName string, config Values, attribute string, parts ...string) {
	t.Helper()
	_, out := NewProcess(t, e, settings).Invoke(typeName, config)
	out.MustFail(t, attribute, parts...)
}

// Action is what a plan does with a resource.
type Action string

// The actions of a plan.
const (
	ActionNone    Action = "none"
	ActionCreate  Action = "create"
	ActionUpdate  Action = "update"
	ActionReplace Action = "replace"
	ActionDelete  Action = "delete"
)

// MustDo ends the test unless the outcome has no errors and this action.
func (o Outcome) MustDo(t testing.TB, action Action) {
	t.Helper()
	if len(o.Errors) > 0 || o.Action != action {
		t.Fatalf("%q, want %q; %s", o.Action, action, o)
	}
}
