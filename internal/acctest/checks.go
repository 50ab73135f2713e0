package acctest

import (
	"regexp"
	"testing"
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
