package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

// planServer runs the checks of crud.WhenPlanned once a plan says whether it replaces the object.
type planServer struct{ Server }

func (s planServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	ctx, finish := crud.Planning(ctx)
	resp, err := s.Server.PlanResourceChange(ctx, req)
	if err != nil || slices.ContainsFunc(resp.Diagnostics, isError) {
		return resp, err
	}
	for _, d := range finish(len(resp.RequiresReplace) > 0) {
		severity := tfprotov6.DiagnosticSeverityWarning
		if d.Severity() == diag.SeverityError {
			severity = tfprotov6.DiagnosticSeverityError
		}
		resp.Diagnostics = append(resp.Diagnostics, &tfprotov6.Diagnostic{Severity: severity, Summary: d.Summary(), Detail: d.Detail()})
	}
	return resp, nil
}

func isError(d *tfprotov6.Diagnostic) bool { return d.Severity == tfprotov6.DiagnosticSeverityError }
