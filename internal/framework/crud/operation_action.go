package crud

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/action/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ action.ActionWithConfigure      = (*operationAction)(nil)
	_ action.ActionWithValidateConfig = (*operationAction)(nil)
	_ action.ActionWithModifyPlan     = (*operationAction)(nil)
)

// Action returns the operation as an action.
func (o Operation) Action() action.Action { return &operationAction{Action{Name: o.Name}, o} }

type operationAction struct {
	Action
	op Operation
}

const useAction = "\n\n**Action or resource.** The action returns nothing. For results, and with OpenTofu or Terraform before 1.14, use the resource of the same name."

// Schema contains the arguments.
func (a *operationAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: a.op.Description + a.op.ActionNotes + useAction,
		Attributes:          make(map[string]schema.Attribute, len(a.op.Arguments)),
	}
	for name, argument := range a.op.Arguments {
		if a.op.isIn(name, true) {
			resp.Schema.Attributes[name] = argument
		}
	}
	if a.op.hasTimeouts() {
		resp.Schema.Blocks = map[string]schema.Block{
			"timeouts": value.ActionTimeouts(timeouts.BlockWithOpts(ctx, timeouts.Opts{InvokeDescription: a.op.TimeoutText})),
		}
	}
}

// ValidateConfig checks what the schema cannot.
func (a *operationAction) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	resp.Diagnostics.Append(a.op.validate(ctx, req.Config, &Call{IsAction: true})...)
}

// ModifyPlan checks again: unlike the validation, the plan knows the values of variables.
func (a *operationAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	resp.Diagnostics.Append(a.op.validateAgain(ctx, req.Config, &Call{IsAction: true})...)
}

// Invoke runs the operation.
func (a *operationAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	call := &Call{IsAction: true, Timeout: a.op.Timeout}
	if a.op.hasTimeouts() {
		var given timeouts.Value
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("timeouts"), &given)...)
		timeout, diags := given.Invoke(ctx, a.op.Timeout)
		resp.Diagnostics.Append(diags...)
		call.Timeout = timeout
	}
	if resp.Diagnostics.HasError() {
		return
	}
	call.Report = func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	_, diags := a.op.run(ctx, a.Client, req.Config, call)
	resp.Diagnostics.Append(diags...)
}
