package provider

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// malformed is a value with one part that must be refused.
type malformed struct {
	value tftypes.Value
	// path is where the error stands, as HCL spells it.
	path, summary string
}

// malformations returns the values of a type of which exactly one part must be refused.
func malformations(typ tftypes.Type, path string) []malformed {
	switch typ := typ.(type) {
	case tftypes.Object:
		var all []malformed
		for name, attribute := range typ.AttributeTypes {
			for _, m := range malformations(attribute, strings.TrimPrefix(path+"."+name, ".")) {
				attributes := map[string]tftypes.Value{}
				for other, t := range typ.AttributeTypes {
					attributes[other] = tftypes.NewValue(t, nil)
				}
				attributes[name] = m.value
				all = append(all, malformed{tftypes.NewValue(typ, attributes), m.path, m.summary})
			}
		}
		return all
	case tftypes.List:
		all := []malformed{{tftypes.NewValue(typ, []tftypes.Value{unknownOf(typ.ElementType), tftypes.NewValue(typ.ElementType, nil)}), path + "[1]", "Null element"}}
		for _, m := range malformations(typ.ElementType, path+"[0]") {
			all = append(all, malformed{tftypes.NewValue(typ, []tftypes.Value{m.value}), m.path, m.summary})
		}
		return all
	case tftypes.Set:
		return []malformed{{tftypes.NewValue(typ, []tftypes.Value{tftypes.NewValue(typ.ElementType, nil)}), path, "Null element"}}
	case tftypes.Map:
		all := []malformed{{tftypes.NewValue(typ, map[string]tftypes.Value{"a": tftypes.NewValue(typ.ElementType, nil)}), path + `["a"]`, "Null element"}}
		for _, m := range malformations(typ.ElementType, path+`["a"]`) {
			all = append(all, malformed{tftypes.NewValue(typ, map[string]tftypes.Value{"a": m.value}), m.path, m.summary})
		}
		return all
	}
	if typ.Is(tftypes.Number) {
		return []malformed{
			{tftypes.NewValue(typ, big.NewFloat(1.5)), path, "Not a whole number"},
			{tftypes.NewValue(typ, big.NewFloat(1<<54)), path, "Number out of range"},
			{tftypes.NewValue(typ, big.NewFloat(-1<<54)), path, "Number out of range"},
		}
	}
	return nil
}

func unknownOf(typ tftypes.Type) tftypes.Value { return tftypes.NewValue(typ, tftypes.UnknownValue) }

// Every argument of every kind of object refuses null elements and numbers that are not whole, where the configuration has them.
func TestValues_everyArgument(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server, err := NewServer("test")
	check.Must(t, err)
	offered, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	check.Must(t, err)
	tried := 0
	try := func(name string, schema *tfprotov6.Schema, validate func(context.Context, *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error)) {
		for _, m := range malformations(schema.ValueType(), "") {
			if strings.HasSuffix(m.path, `triggers["a"]`) || m.path == fractionalArgument {
				continue
			}
			tried++
			config, err := tfprotov6.NewDynamicValue(schema.ValueType(), m.value)
			check.Must(t, err)
			diags, err := validate(ctx, &config)
			check.Must(t, err)
			if len(diags) != 1 || diags[0].Summary != m.summary || !strings.HasPrefix(diags[0].Detail, m.path+" must ") || spelled(diags[0].Attribute) != m.path {
				t.Errorf("%s, %s: want one error %q there, got %+v", name, m.path, m.summary, diags)
			}
		}
	}
	try("provider", offered.Provider, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
		resp, err := server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})
		return resp.Diagnostics, err
	})
	for name, schema := range offered.ResourceSchemas {
		try(name, schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	for name, schema := range offered.DataSourceSchemas {
		try("data."+name, schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	for name, schema := range offered.EphemeralResourceSchemas {
		try("ephemeral."+name, schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	for name, schema := range offered.ListResourceSchemas {
		try("list."+name, schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{TypeName: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	for name, action := range offered.ActionSchemas {
		try("action."+name, action.Schema, func(ctx context.Context, config *tfprotov6.DynamicValue) ([]*tfprotov6.Diagnostic, error) {
			resp, err := server.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: config})
			return resp.Diagnostics, err
		})
	}
	if tried < 100 {
		t.Errorf("only %d malformed values were tried", tried)
	}
}

// An ordinary formula may miss an integer by a rounding error, and the floor of it would be one less.
func TestValues_roundingErrors(t *testing.T) {
	t.Parallel()
	exact := func(text string) *big.Float {
		f, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
		check.Must(t, err)
		return f
	}
	for text, want := range map[string]string{
		"31999999.99999999999999999999": ", and the value differs from 32000000 by a rounding error. Use floor(VALUE + 0.5).",
		"32000000.00000000000000000001": ", and the value differs from 32000000 by a rounding error. Use floor(VALUE + 0.5).",
		"33333333.3333333333":           ", not 33333333.3333. Use floor().",
		"1.5":                           ", not 1.5. Use floor().",
	} {
		check.Is(t, text, roundedBy(exact(text)), want)
	}
}
