package provider

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// recoveringServer finds a session in each call.
type recoveringServer struct{ Server }

func (recoveringServer) ApplyResourceChange(ctx context.Context, _ *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	findOne(ctx)
	return &tfprotov6.ApplyResourceChangeResponse{}, nil
}

func (recoveringServer) OpenEphemeralResource(ctx context.Context, _ *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	findOne(ctx)
	return &tfprotov6.OpenEphemeralResourceResponse{}, nil
}

func (recoveringServer) InvokeAction(ctx context.Context, _ *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	return &tfprotov6.InvokeActionServerStream{Events: func(yield func(tfprotov6.InvokeActionEvent) bool) {
		findOne(ctx)
		_ = yield(tfprotov6.InvokeActionEvent{Type: tfprotov6.ProgressInvokeActionEventType{Message: "sent"}}) &&
			yield(tfprotov6.InvokeActionEvent{Type: tfprotov6.CompletedInvokeActionEventType{}})
	}}, nil
}

func findOne(ctx context.Context) {
	create.Recovered(ctx, create.Recovery{Objects: []wire.Ref{{Object: "session", ID: "s1"}}})
}

func TestServer_warnsAboutRecoveries(t *testing.T) {
	t.Parallel()
	server := recoveryServer{recoveringServer{}}
	applied, _ := server.ApplyResourceChange(t.Context(), nil)
	opened, _ := server.OpenEphemeralResource(t.Context(), nil)
	invoked, _ := server.InvokeAction(t.Context(), nil)
	var completed []*tfprotov6.Diagnostic
	events := 0
	for event := range invoked.Events {
		events++
		if last, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
			completed = last.Diagnostics
		}
	}
	if events != 2 {
		t.Errorf("%d events", events)
	}
	for call, diags := range map[string][]*tfprotov6.Diagnostic{"apply": applied.Diagnostics, "open": opened.Diagnostics, "invoke": completed} {
		if len(diags) != 1 || diags[0].Severity != tfprotov6.DiagnosticSeverityWarning || !strings.Contains(diags[0].Detail, "session (s1)") {
			t.Errorf("%s: got %v", call, diags)
		}
	}
}
