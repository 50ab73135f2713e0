package acctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Invoke validates, plans, and invokes an action, as `terraform apply -invoke` does. It returns the progress messages and an
// outcome whose Action is ActionNone.
func (p *Process) Invoke(typeName string, config Values) ([]string, Outcome) {
	p.t.Helper()
	server, configured := p.action(typeName, config)
	out := Outcome{Action: ActionNone}
	validated, err := server.ValidateActionConfig(context.Background(), &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.collect(&out, validated.Diagnostics, nil); len(out.Errors) > 0 {
		return nil, out
	}
	planned := p.PlanAction(typeName, config)
	out.Errors, out.Warnings = planned.Errors, append(out.Warnings, planned.Warnings...)
	if len(out.Errors) > 0 {
		return nil, out
	}
	stream, err := server.InvokeAction(context.Background(), &tfprotov6.InvokeActionRequest{ActionType: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	var progress []string
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			p.collect(&out, event.Diagnostics, nil)
		}
	}
	return progress, out
}

// PlanAction plans an action whose values were not known when it was validated.
func (p *Process) PlanAction(typeName string, config Values) Outcome {
	p.t.Helper()
	server, configured := p.action(typeName, config)
	out := Outcome{Action: ActionNone}
	planned, err := server.PlanAction(context.Background(), &tfprotov6.PlanActionRequest{ActionType: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, planned.Diagnostics, nil)
	return out
}

func (p *Process) action(typeName string, config Values) (tfprotov6.ActionServer, *tfprotov6.DynamicValue) {
	p.t.Helper()
	schema := p.offered.ActionSchemas[typeName]
	if schema == nil {
		p.t.Fatalf("there is no action %s", typeName)
	}
	_, configured := p.configured(schema.Schema, typeName, config)
	return p.server.(tfprotov6.ActionServer), configured
}
