package provider

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// protectionServer refuses to destroy or replace an object whose state has deletion_protection = true, in the plan and in the apply. A
// resource only declares the attribute.
type protectionServer struct{ Server }

func (s protectionServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.Server.PlanResourceChange(ctx, req)
	if err == nil && !slices.ContainsFunc(resp.Diagnostics, isError) && (isNull(req.ProposedNewState) || len(resp.RequiresReplace) > 0) {
		resp.Diagnostics = append(resp.Diagnostics, protected(req.TypeName, req.PriorState, "")...)
	}
	return resp, err
}

// ApplyResourceChange checks again, because some plans do not show the provider that they delete an object.
func (s protectionServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if isNull(req.PlannedState) {
		if refused := protected(req.TypeName, req.PriorState, "If it is tainted, run terraform untaint ADDRESS first."); refused != nil {
			return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PriorState, Private: req.PlannedPrivate, NewIdentity: req.PlannedIdentity, Diagnostics: refused}, nil
		}
	}
	return s.Server.ApplyResourceChange(ctx, req)
}

// protected returns an error if deletion_protection is true in the state.
func protected(typeName string, state *tfprotov6.DynamicValue, hint string) []*tfprotov6.Diagnostic {
	prior := crud.DecodeRaw(state, nil)
	if prior == nil || !prior.Bool("deletion_protection") {
		return nil
	}
	object := strings.ReplaceAll(strings.TrimPrefix(typeName, "agentyard_"), "_", " ")
	summary, detail := crud.Protected(object, prior.String("name"), prior.String("id"), hint)
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: detail}}
}

func isError(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }
