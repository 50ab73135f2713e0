package crud

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

const afterInterrupt = "After the interrupt of an action: "

// Tell sends a progress message of an operation.
type Tell func(format string, args ...any)

// Invoke runs act on an action's configuration. Verb and object are for errors, such as "restart" and "computer". Act may
// return an *ObjectError. Messages also go to the log, because Terraform shows none after an interrupt.
func Invoke[M any](ctx context.Context, verb, object string, req action.InvokeRequest, resp *action.InvokeResponse, act func(m *M, tell Tell) error, options ...apierror.Option) {
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	tell := func(format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		resp.SendProgress(action.InvokeProgressEvent{Message: message})
		if ctx.Err() != nil {
			tflog.Warn(ctx, afterInterrupt+message)
		}
	}
	err := act(&m, tell)
	if err == nil {
		return
	}
	found := explain(verb, object, err, append(options, Given(ctx, req.Config), apierror.Again("invoke the action again")))
	resp.Diagnostics.Append(found...)
	for _, d := range found {
		if ctx.Err() != nil {
			tflog.Warn(ctx, afterInterrupt+d.Summary()+": "+d.Detail())
		}
	}
}
