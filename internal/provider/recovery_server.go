package provider

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

// recoveryServer warns in each response about what the client did after lost responses. All calls that create something pass
// here, so no object can forget it.
type recoveryServer struct{ Server }

func (s recoveryServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, recovered := collecting(ctx)
	resp, err := s.Server.ApplyResourceChange(ctx, req)
	if err == nil {
		resp.Diagnostics = append(resp.Diagnostics, recovered.warnings()...)
	}
	return resp, err
}

func (s recoveryServer) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	ctx, recovered := collecting(ctx)
	resp, err := s.Server.OpenEphemeralResource(ctx, req)
	if err == nil {
		resp.Diagnostics = append(resp.Diagnostics, recovered.warnings()...)
	}
	return resp, err
}

func (s recoveryServer) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, recovered := collecting(ctx)
	resp, err := s.Server.InvokeAction(ctx, req)
	if err != nil {
		return resp, err
	}
	events := resp.Events
	resp.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		for event := range events {
			if completed, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
				completed.Diagnostics = append(completed.Diagnostics, recovered.warnings()...)
				event.Type = completed
			}
			if !yield(event) {
				return
			}
		}
	}
	return resp, nil
}

// recoveries are those of one call, which may send concurrent requests.
type recoveries struct {
	mu  sync.Mutex
	all []create.Recovery
}

func collecting(ctx context.Context) (context.Context, *recoveries) {
	r := &recoveries{}
	return create.OnRecovery(ctx, func(done create.Recovery) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, done)
	}), r
}

func (r *recoveries) warnings() []*tfprotov6.Diagnostic {
	r.mu.Lock()
	defer r.mu.Unlock()
	var warnings []*tfprotov6.Diagnostic
	for _, d := range apierror.Recovered(r.all) {
		warnings = append(warnings, &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: d.Summary(), Detail: d.Detail()})
	}
	return warnings
}
