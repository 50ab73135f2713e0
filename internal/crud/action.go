package crud

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

// Tell sends a progress message of an action.
type Tell func(format string, args ...any)

// Invoke runs act on an action's configuration. Verb and object are for errors, such as "restart" and "computer". An
// error of act may be a *Fault.
func Invoke[M any](ctx context.Context, verb, object string, req action.InvokeRequest, resp *action.InvokeResponse, act func(m *M, tell Tell) error, options ...apierror.Option) {
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	tell := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	if err := act(&m, tell); err != nil {
		resp.Diagnostics.Append(explain(verb, object, err, options)...)
	}
}
