package acctest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// Values is a configuration. An absent attribute is null. Values are string, bool, int, []any, map[string]any, and
// tftypes.UnknownValue for what is known only in the apply.
type Values = map[string]any

// Process is a provider that runs inside the test and is driven over the plugin protocol, as Terraform does.
type Process struct {
	t       testing.TB
	server  tfprotov6.ProviderServer
	schemas map[string]*tfprotov6.Schema
	// offered are the schemas of all kinds of objects.
	offered  *tfprotov6.GetProviderSchemaResponse
	config   *tfprotov6.DynamicValue
	answered answers
	// Limit is how many results List asks for. 0 means 1000.
	Limit int64
	// Names and Identities are those of what the last List returned.
	Names      []string
	Identities []Values
}

// Instance is one resource in a state.
type Instance struct {
	Type     string
	State    tftypes.Value // Null if the resource does not exist.
	Tainted  bool
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Outcome is the result of applying a configuration.
type Outcome struct {
	Action Action
	// Planned is the planned state of a create or an update.
	Planned  tftypes.Value
	Errors   []*tfprotov6.Diagnostic
	Warnings []*tfprotov6.Diagnostic
}

// Text returns the text of all errors.
func (o Outcome) Text() string { return joinDiagnostics(o.Errors) }

func joinDiagnostics(diags []*tfprotov6.Diagnostic) string {
	var parts []string
	for _, d := range diags {
		parts = append(parts, d.Summary+": "+d.Detail)
	}
	return strings.Join(parts, "\n")
}

// offered returns the schemas of all objects, which are the same in each process.
var offered = sync.OnceValues(func() (*tfprotov6.GetProviderSchemaResponse, error) {
	server, err := provider.NewServer("in-process")
	if err != nil {
		return nil, err
	}
	return server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
})

// NewProcess starts and configures a provider for e. Settings are additional attributes of the provider block.
func NewProcess(t testing.TB, e *Env, settings Values) *Process {
	t.Helper()
	p := Unconfigured(t, e, settings)
	p.Restart()
	return p
}

// Server returns the provider, for requests that Terraform would not send.
func (p *Process) Server() tfprotov6.ProviderServer { return p.server }

// Stop cancels running operations, as Terraform does after an interrupt.
func (p *Process) Stop() {
	p.t.Helper()
	if _, err := p.server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{}); err != nil {
		p.t.Error(err)
	}
}

// NewInstance returns a resource that does not exist yet.
func (p *Process) NewInstance(typeName string) *Instance {
	return &Instance{Type: typeName, State: tftypes.NewValue(p.schemas[typeName].ValueType(), nil)}
}

// ID returns the attribute "id" in the state, or "".
func (i *Instance) ID() string { return i.Attribute("id") }

// Attribute returns a string attribute in the state, or "".
func (i *Instance) Attribute(name string) string {
	var attributes map[string]tftypes.Value
	if i.State.IsNull() || i.State.As(&attributes) != nil {
		return ""
	}
	var s string
	if v, ok := attributes[name]; ok && v.IsKnown() && !v.IsNull() {
		_ = v.As(&s)
	}
	return s
}

// Clone returns an independent copy, such as the state on disk during a run.
func (i *Instance) Clone() *Instance {
	c := *i
	return &c
}

// Apply refreshes, plans, and applies a configuration. Nil destroys the resource. It taints the resource in the same cases
// as Terraform.
func (p *Process) Apply(i *Instance, config Values) Outcome {
	p.t.Helper()
	out, plan := p.plan(i, config)
	if len(out.Errors) > 0 || out.Action == ActionNone {
		return out
	}
	if out.Action == ActionDelete || out.Action == ActionReplace {
		p.applyChange(i, plan.delete, &out)
		if len(out.Errors) > 0 || plan.change == nil {
			return out
		}
	}
	p.applyChange(i, plan.change, &out)
	return out
}

// Save refreshes and plans, as plan -out does. The result applies that plan without another refresh.
func (p *Process) Save(i *Instance, config Values) func() Outcome {
	p.t.Helper()
	out, plan := p.plan(i, config)
	if len(out.Errors) > 0 || plan.change == nil {
		p.t.Fatalf("there is no plan to save: %s", out)
	}
	return func() Outcome {
		p.applyChange(i, plan.change, &out)
		return out
	}
}

// ApplyLater plans a configuration with unknown values. With the known ones, it plans again, and applies that plan, as Terraform does.
func (p *Process) ApplyLater(i *Instance, unknown, known Values) Outcome {
	p.t.Helper()
	out, first := p.plan(i, unknown)
	if len(out.Errors) > 0 {
		return out
	}
	if out.Action == ActionReplace || first.change == nil {
		p.t.Fatalf("%v: %s", unknown, out)
	}
	schema := p.schemas[i.Type]
	typ := schema.ValueType()
	second, _ := p.planChange(i, schema, i.State, valueOf(p.t, typ, known), &out)
	if len(out.Errors) > 0 {
		return out
	}
	if where := inconsistent(p.value(typ, first.change.PlannedState), p.value(typ, second.PlannedState)); where != "" {
		p.t.Errorf("%s: inconsistent plan at %s: %v, then %v", i.Type, where, unknown, known)
	}
	p.applyChange(i, second, &out)
	return out
}

// Changes refreshes and plans an update, and returns the attributes that the plan shows as changed, in order.
func (p *Process) Changes(i *Instance, config Values) []string {
	p.t.Helper()
	out, plan := p.plan(i, config)
	if len(out.Errors) > 0 || out.Action != ActionUpdate {
		p.t.Fatal(out)
	}
	diffs, err := i.State.Diff(p.value(i.State.Type(), plan.change.PlannedState))
	if err != nil {
		p.t.Fatal(err)
	}
	var changed []string
	for _, diff := range diffs {
		if at := attributePath(diff.Path); at != "" && diff.Value2 != nil { // What is in an unknown value is not shown.
			changed = append(changed, at)
		}
	}
	slices.Sort(changed)
	return changed
}

// Plan refreshes and plans a configuration without applying it.
func (p *Process) Plan(i *Instance, config Values) Outcome {
	p.t.Helper()
	out, _ := p.plan(i, config)
	return out
}

// Destroy deletes the resource without a refresh, as destroy -refresh=false does.
func (p *Process) Destroy(i *Instance) Outcome {
	p.t.Helper()
	out := Outcome{Action: ActionDelete}
	plan := p.planDeletion(i, &out)
	if len(out.Errors) == 0 {
		p.applyChange(i, plan, &out)
	}
	return out
}

func (p *Process) planDeletion(i *Instance, out *Outcome) *tfprotov6.ApplyResourceChangeRequest {
	typ := p.schemas[i.Type].ValueType()
	prior, null := dynamic(p.t, typ, i.State), dynamic(p.t, typ, tftypes.NewValue(typ, nil))
	resp, err := p.server.PlanResourceChange(context.Background(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: i.Type, PriorState: prior, ProposedNewState: null, Config: null, PriorPrivate: i.private, PriorIdentity: i.identity,
	})
	p.collect(out, diagnosticsOf(resp, err), err)
	deletion := &tfprotov6.ApplyResourceChangeRequest{TypeName: i.Type, PriorState: prior, PlannedState: null, Config: null, PlannedPrivate: i.private, PlannedIdentity: i.identity}
	if err == nil {
		deletion.PlannedPrivate = resp.PlannedPrivate
	}
	return deletion
}

type plannedChange struct {
	change, delete *tfprotov6.ApplyResourceChangeRequest
}

func (p *Process) plan(i *Instance, config Values) (Outcome, plannedChange) {
	p.t.Helper()
	var out Outcome
	schema := p.schemas[i.Type]
	typ := schema.ValueType()
	null := tftypes.NewValue(typ, nil)

	p.refresh(i, &out)
	if len(out.Errors) > 0 {
		return out, plannedChange{}
	}
	if config == nil {
		if i.State.IsNull() {
			out.Action = ActionNone
			return out, plannedChange{}
		}
		out.Action = ActionDelete
		return out, plannedChange{delete: p.planDeletion(i, &out)}
	}

	configValue := valueOf(p.t, typ, config)
	p.validate(i.Type, typ, configValue, &out)
	if len(out.Errors) > 0 {
		return out, plannedChange{}
	}
	prior := i.State
	out.Action = ActionUpdate
	switch {
	case i.State.IsNull():
		out.Action = ActionCreate
	case i.Tainted:
		out.Action, prior = ActionReplace, null
	}
	request, replaced := p.planChange(i, schema, prior, configValue, &out)
	if replaced && out.Action == ActionUpdate {
		out.Action = ActionReplace
		request, _ = p.planChange(i, schema, null, configValue, &out)
	}
	if len(out.Errors) > 0 {
		return out, plannedChange{}
	}
	out.Planned = p.value(typ, request.PlannedState)
	if out.Action == ActionUpdate && out.Planned.Equal(i.State) {
		out.Action = ActionNone
	}
	deletion := &tfprotov6.ApplyResourceChangeRequest{
		TypeName: i.Type, PriorState: dynamic(p.t, typ, i.State), PlannedState: dynamic(p.t, typ, null), Config: dynamic(p.t, typ, null), PlannedPrivate: i.private, PlannedIdentity: i.identity,
	}
	return out, plannedChange{change: request, delete: deletion}
}

func diagnosticsOf(resp *tfprotov6.PlanResourceChangeResponse, err error) []*tfprotov6.Diagnostic {
	if err != nil {
		return nil
	}
	return resp.Diagnostics
}

func (p *Process) planChange(i *Instance, schema *tfprotov6.Schema, prior, config tftypes.Value, out *Outcome) (*tfprotov6.ApplyResourceChangeRequest, bool) {
	request := planRequest(p.t, i.Type, schema, prior, config)
	if !prior.IsNull() {
		request.PriorPrivate, request.PriorIdentity = i.private, i.identity
	}
	resp, err := p.server.PlanResourceChange(context.Background(), request)
	p.collect(out, diagnosticsOf(resp, err), err)
	if err != nil || len(out.Errors) > 0 {
		return nil, false
	}
	return &tfprotov6.ApplyResourceChangeRequest{
		TypeName: i.Type, PriorState: request.PriorState, PlannedState: resp.PlannedState, Config: request.Config,
		PlannedPrivate: resp.PlannedPrivate, PlannedIdentity: resp.PlannedIdentity,
	}, len(resp.RequiresReplace) > 0
}

// planRequest returns the request that Terraform sends for a state and a configuration. A null configuration destroys.
func planRequest(t testing.TB, typeName string, schema *tfprotov6.Schema, prior, config tftypes.Value) *tfprotov6.PlanResourceChangeRequest {
	t.Helper()
	typ := schema.ValueType()
	return &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: dynamic(t, typ, prior), Config: dynamic(t, typ, config),
		ProposedNewState: dynamic(t, typ, proposed(t, schema.Block.Attributes, prior, config)),
	}
}

func (p *Process) validate(typeName string, typ tftypes.Type, config tftypes.Value, out *Outcome) {
	resp, err := p.server.ValidateResourceConfig(context.Background(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeName, Config: dynamic(p.t, typ, config), ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	if err != nil {
		p.collect(out, nil, err)
		return
	}
	p.collect(out, resp.Diagnostics, nil)
}

func (p *Process) refresh(i *Instance, out *Outcome) {
	if i.State.IsNull() {
		return
	}
	typ := p.schemas[i.Type].ValueType()
	resp, err := p.server.ReadResource(context.Background(), &tfprotov6.ReadResourceRequest{
		TypeName: i.Type, CurrentState: dynamic(p.t, typ, i.State), Private: i.private, CurrentIdentity: i.identity,
	})
	if err != nil {
		p.collect(out, nil, err)
		return
	}
	p.collect(out, resp.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return
	}
	i.State, i.private = p.value(typ, resp.NewState), resp.Private
	if resp.NewIdentity != nil {
		i.identity = resp.NewIdentity
	}
	if i.State.IsNull() {
		i.Tainted, i.private, i.identity = false, nil, nil
	}
}

// applyChange keeps the returned state even after an error, and checks its consistency as Terraform does.
func (p *Process) applyChange(i *Instance, request *tfprotov6.ApplyResourceChangeRequest, out *Outcome) {
	p.t.Helper()
	typ := p.schemas[i.Type].ValueType()
	planned, prior := p.value(typ, request.PlannedState), p.value(typ, request.PriorState)
	resp, err := p.server.ApplyResourceChange(context.Background(), request)
	if err != nil {
		p.collect(out, nil, err)
		return
	}
	before := len(out.Errors)
	p.collect(out, resp.Diagnostics, nil)
	failed := len(out.Errors) > before

	after := p.value(typ, resp.NewState)
	if !failed {
		if where := inconsistent(planned, after); where != "" {
			p.t.Errorf("%s: inconsistent result after apply at %s: planned %s, got %s", i.Type, where, planned, after)
		}
	}
	i.State, i.private, i.identity = after, resp.Private, resp.NewIdentity
	i.Tainted = !after.IsNull() && (failed && prior.IsNull() || i.Tainted && !prior.IsNull())
	if after.IsNull() {
		i.private, i.identity = nil, nil
	}
}

func (p *Process) collect(out *Outcome, diags []*tfprotov6.Diagnostic, err error) {
	if err != nil {
		p.t.Errorf("the provider failed without a diagnostic: %v", err)
		out.Errors = append(out.Errors, &tfprotov6.Diagnostic{Summary: err.Error()})
		return
	}
	errs, warnings := split(diags)
	out.Errors, out.Warnings = append(out.Errors, errs...), append(out.Warnings, warnings...)
}

func split(diags []*tfprotov6.Diagnostic) (errs, warnings []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, d)
		} else {
			warnings = append(warnings, d)
		}
	}
	return errs, warnings
}

func (p *Process) value(typ tftypes.Type, d *tfprotov6.DynamicValue) tftypes.Value {
	p.t.Helper()
	if d == nil {
		return tftypes.NewValue(typ, nil)
	}
	v, err := d.Unmarshal(typ)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func dynamic(t testing.TB, typ tftypes.Type, v tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	d, err := tfprotov6.NewDynamicValue(typ, v)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// proposed merges the configuration with the prior state as Terraform does: a computed attribute that is not configured
// keeps its prior value.
func proposed(t testing.TB, attributes []*tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	t.Helper()
	if prior.IsNull() || config.IsNull() || !config.IsKnown() {
		return config
	}
	var before, wanted map[string]tftypes.Value
	check.Must(t, errors.Join(prior.As(&before), config.As(&wanted)))
	merged := maps.Clone(wanted)
	for _, attribute := range attributes {
		v := wanted[attribute.Name]
		switch {
		case attribute.Computed && v.IsNull():
			merged[attribute.Name] = before[attribute.Name]
		case attribute.NestedType != nil && attribute.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			merged[attribute.Name] = proposed(t, attribute.NestedType.Attributes, before[attribute.Name], v)
		case attribute.NestedType != nil && attribute.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeList && v.IsKnown() && !v.IsNull():
			var old, items []tftypes.Value
			check.Must(t, errors.Join(before[attribute.Name].As(&old), v.As(&items)))
			items = slices.Clone(items)
			for i := range min(len(old), len(items)) {
				items[i] = proposed(t, attribute.NestedType.Attributes, old[i], items[i])
			}
			merged[attribute.Name] = tftypes.NewValue(v.Type(), items)
		}
	}
	return tftypes.NewValue(config.Type(), merged)
}

// inconsistent returns the first path at which a result differs from a known planned value.
func inconsistent(planned, actual tftypes.Value) string {
	diffs, err := planned.Diff(actual)
	if err != nil {
		return err.Error()
	}
	for _, diff := range diffs {
		if diff.Value1 != nil && diff.Value1.IsFullyKnown() && !underUnknown(planned, diff.Path) {
			return diff.Path.String()
		}
	}
	return ""
}

func underUnknown(v tftypes.Value, path *tftypes.AttributePath) bool {
	steps := path.Steps()
	for n := range len(steps) {
		got, _, err := tftypes.WalkAttributePath(v, tftypes.NewAttributePathWithSteps(steps[:n]))
		if inner, ok := got.(tftypes.Value); err == nil && ok && !inner.IsKnown() {
			return true
		}
	}
	return false
}

// String describes an outcome in a test's message.
func (o Outcome) String() string {
	return fmt.Sprintf("%s\nerrors: %s\nwarnings: %s", o.Action, o.Text(), joinDiagnostics(o.Warnings))
}
