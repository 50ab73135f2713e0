package provider

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// valueServer rejects values in a configuration that no argument accepts: null elements, and numbers that the API's JSON cannot
// carry. The framework's validators see no fraction, and each list would need one for null elements. Terraform validates again in the
// apply, with values that were unknown before.
type valueServer struct {
	Server
	schemas *tfprotov6.GetProviderSchemaResponse
}

// fractionalArgument is the only argument that accepts fractions.
const fractionalArgument = "requests_per_second"

// nullableArgument is the only kind of map in which null is a value: any change of the map counts.
const nullableArgument = "triggers"

// largestInteger is the largest integer that every reader of JSON keeps.
const largestInteger = 1<<53 - 1

func (s valueServer) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	if errs := refused(s.schemas.Provider, req.Config); errs != nil {
		return &tfprotov6.ValidateProviderConfigResponse{Diagnostics: errs}, nil
	}
	return s.Server.ValidateProviderConfig(ctx, req)
}

func (s valueServer) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	if errs := refused(s.schemas.ResourceSchemas[req.TypeName], req.Config); errs != nil {
		return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: errs}, nil
	}
	return s.Server.ValidateResourceConfig(ctx, req)
}

func (s valueServer) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	if errs := refused(s.schemas.DataSourceSchemas[req.TypeName], req.Config); errs != nil {
		return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: errs}, nil
	}
	return s.Server.ValidateDataResourceConfig(ctx, req)
}

func (s valueServer) ValidateEphemeralResourceConfig(ctx context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	if errs := refused(s.schemas.EphemeralResourceSchemas[req.TypeName], req.Config); errs != nil {
		return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: errs}, nil
	}
	return s.Server.ValidateEphemeralResourceConfig(ctx, req)
}

func (s valueServer) ValidateListResourceConfig(ctx context.Context, req *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	if errs := refused(s.schemas.ListResourceSchemas[req.TypeName], req.Config); errs != nil {
		return &tfprotov6.ValidateListResourceConfigResponse{Diagnostics: errs}, nil
	}
	return s.Server.ValidateListResourceConfig(ctx, req)
}

func (s valueServer) ValidateActionConfig(ctx context.Context, req *tfprotov6.ValidateActionConfigRequest) (*tfprotov6.ValidateActionConfigResponse, error) {
	if action := s.schemas.ActionSchemas[req.ActionType]; action != nil {
		if errs := refused(action.Schema, req.Config); errs != nil {
			return &tfprotov6.ValidateActionConfigResponse{Diagnostics: errs}, nil
		}
	}
	return s.Server.ValidateActionConfig(ctx, req)
}

// refused returns an error for each value that no argument accepts. What cannot be decoded is left to the framework.
func refused(schema *tfprotov6.Schema, config *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
	if schema == nil || config == nil {
		return nil
	}
	root, err := config.Unmarshal(schema.ValueType())
	if err != nil {
		return nil
	}
	var errs []*tfprotov6.Diagnostic
	report := func(at *tftypes.AttributePath, summary, must string) {
		errs = append(errs, &tfprotov6.Diagnostic{
			Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: spelled(at) + " " + must, Attribute: at,
		})
	}
	_ = tftypes.Walk(root, func(at *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		switch {
		case v.IsNull():
			if element, must, ok := isElement(at); ok && !slices.Contains(at.Steps(), tftypes.AttributePathStep(tftypes.AttributeName(nullableArgument))) {
				report(element, "Null element", must+". Remove the element or set its value.")
			}
			return false, nil
		case v.IsKnown() && v.Type().Is(tftypes.Number) && at.LastStep() != tftypes.AttributePathStep(tftypes.AttributeName(fractionalArgument)):
			var n big.Float
			if v.As(&n) != nil {
				return false, nil
			}
			switch {
			case !n.IsInt():
				report(at, "Not a whole number", "must be a whole number"+roundedBy(&n))
			case n.Cmp(big.NewFloat(largestInteger)) > 0, n.Cmp(big.NewFloat(-largestInteger)) < 0:
				report(at, "Number out of range", fmt.Sprintf("must be from %d to %d, not %s.", -largestInteger, largestInteger, n.Text('f', 0)))
			}
		}
		return v.IsKnown(), nil
	})
	return errs
}

// roundedBy says how to round a number. The floor of a number that is a rounding error below an integer would be one less.
func roundedBy(n *big.Float) string {
	nearest, _ := new(big.Float).Add(n, big.NewFloat(0.5)).Int(nil)
	if off := new(big.Float).Sub(n, new(big.Float).SetInt(nearest)); off.Abs(off).Cmp(big.NewFloat(1e-6)) < 0 {
		return fmt.Sprintf(", and the value differs from %s by a rounding error. Use floor(VALUE + 0.5).", nearest)
	}
	return fmt.Sprintf(", not %s. Use floor().", n.Text('g', 12))
}

// isElement reports whether a path leads to an element of a list, set, or map, and returns the path for an error. The path of an
// element of a set contains its value, which the CLIs cannot show, so the error stands at the set.
func isElement(at *tftypes.AttributePath) (element *tftypes.AttributePath, must string, ok bool) {
	switch at.LastStep().(type) {
	case tftypes.ElementKeyValue:
		return at.WithoutLastStep(), "must not contain null", true
	case tftypes.ElementKeyInt, tftypes.ElementKeyString:
		return at, "must not be null", true
	}
	return nil, "", false
}

// spelled returns a path as HCL.
func spelled(at *tftypes.AttributePath) string {
	var b strings.Builder
	for _, step := range at.Steps() {
		switch step := step.(type) {
		case tftypes.AttributeName:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(string(step))
		case tftypes.ElementKeyInt:
			fmt.Fprintf(&b, "[%d]", int64(step))
		case tftypes.ElementKeyString:
			fmt.Fprintf(&b, "[%q]", string(step))
		}
	}
	return b.String()
}
