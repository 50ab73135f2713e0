package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

// idServer fails a plan in which an argument that takes an ID has a name. Such a mistake would otherwise show only in the apply.
type idServer struct {
	Server
	provider *agentyardProvider
	schemas  *tfprotov6.GetProviderSchemaResponse
}

// reference is the kind of object that an argument refers to. A value in the usual form of its IDs is not looked up, which keeps
// ordinary plans without requests.
type reference struct {
	object string
	get    func(context.Context, *client.Client, string) error
}

var (
	toAccount = reference{"service account", func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.ServiceAccounts.Get(ctx, id)
		return err
	}}
	toComputer = reference{"computer", func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.Computers.Get(ctx, id, "")
		return err
	}}
	toEnvironment = reference{"environment", func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.Environments.Get(ctx, id)
		return err
	}}
)

// references are the arguments that take IDs of objects with names. A session has no name, and a new one is not found for minutes.
var references = map[tftypes.AttributeName]reference{
	"service_account_id": toAccount, "computer_id": toComputer, "source_computer_id": toComputer, "environment_id": toEnvironment,
}

func (s idServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if !isNull(req.ProposedNewState) {
		if errs := s.checkReferences(ctx, s.schemas.ResourceSchemas[req.TypeName], req.Config, req.PriorState); errs != nil {
			return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate, Diagnostics: errs}, nil
		}
	}
	return s.Server.PlanResourceChange(ctx, req)
}

func (s idServer) PlanAction(ctx context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	if action := s.schemas.ActionSchemas[req.ActionType]; action != nil {
		if errs := s.checkReferences(ctx, action.Schema, req.Config, nil); errs != nil {
			return &tfprotov6.PlanActionResponse{Diagnostics: errs}, nil
		}
	}
	return s.Server.PlanAction(ctx, req)
}

// checkReferences returns an error for each new value of an ID that the service does not find. Prior is nil if there is no object yet.
func (s idServer) checkReferences(ctx context.Context, schema *tfprotov6.Schema, config, prior *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
	c := s.provider.client.Load()
	if c == nil || c.Conn.Configured() != nil || schema == nil || config == nil {
		return nil
	}
	configured, err := config.Unmarshal(schema.ValueType())
	if err != nil {
		return nil
	}
	before := tftypes.NewValue(schema.ValueType(), nil)
	if prior != nil {
		if before, err = prior.Unmarshal(schema.ValueType()); err != nil {
			return nil
		}
	}
	var errs []*tfprotov6.Diagnostic
	_ = tftypes.Walk(configured, func(at *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		name, _ := at.LastStep().(tftypes.AttributeName)
		to, ok := references[name]
		if !ok || v.IsNull() || !v.IsKnown() {
			return v.IsKnown(), nil
		}
		var id string
		if old, _, err := tftypes.WalkAttributePath(before, at); v.As(&id) != nil || id == "" || apierror.IsUsualID(to.object, id) || err == nil && v.Equal(old.(tftypes.Value)) {
			return false, nil
		}
		problem := ""
		switch {
		case strings.TrimSpace(id) == "":
			problem = spelled(at) + " must not be blank."
		case collection.IsGone(to.get(ctx, c, id)):
			problem = apierror.NoSuch(to.object, id)
		default:
			return false, nil
		}
		errs = append(errs, &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: "Invalid ID", Detail: problem, Attribute: at})
		return false, nil
	})
	return errs
}
