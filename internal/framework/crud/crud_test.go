package crud

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// thing has an argument, a result, and an attribute that only the provider uses.
type thing struct{ id, name, mood string }

type thingModel struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	Mood types.String `tfsdk:"mood"`
	Wait types.Bool   `tfsdk:"wait"`
}

func (m *thingModel) FromAPI(_ context.Context, t *thing) diag.Diagnostics {
	m.ID, m.Name, m.Mood = types.StringValue(t.id), orNull(t.name), types.StringValue(t.mood)
	return nil
}

func orNull(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

func (m *thingModel) FromImport(context.Context, *thing) diag.Diagnostics {
	m.Mood = types.StringValue("imported")
	return nil
}

func (m *thingModel) Identity() any { return &ID{ID: m.ID} }

var thingSchema = schema.Schema{Attributes: map[string]schema.Attribute{
	"id":   schema.StringAttribute{Computed: true},
	"name": schema.StringAttribute{Required: true},
	"mood": schema.StringAttribute{Computed: true},
	"wait": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
}}

var thingType = thingSchema.Type().TerraformType(context.Background())

// raw returns a value of the schema. A missing name is null, and "?" is unknown.
func raw(values map[string]string) tftypes.Value {
	attributes := map[string]tftypes.Value{"wait": tftypes.NewValue(tftypes.Bool, nil)}
	for _, name := range []string{"id", "name", "mood"} {
		switch v, ok := values[name]; {
		case !ok:
			attributes[name] = tftypes.NewValue(tftypes.String, nil)
		case v == "?":
			attributes[name] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		default:
			attributes[name] = tftypes.NewValue(tftypes.String, v)
		}
	}
	return tftypes.NewValue(thingType, attributes)
}

func stateOf(values map[string]string) tfsdk.State {
	return tfsdk.State{Raw: raw(values), Schema: thingSchema}
}

func get(t *testing.T, state tfsdk.State, name string) string {
	t.Helper()
	var v types.String
	if diags := state.GetAttribute(t.Context(), path.Root(name), &v); diags.HasError() {
		t.Fatal(diags)
	}
	return v.ValueString()
}

// What is known in the plan stays as planned. Unknown values come from the service.
func TestAsPlanned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		plan   map[string]string
		answer *thing
		want   map[string]string
	}{
		"a result that has moved":                {map[string]string{"id": "1", "name": "b", "mood": "calm"}, &thing{"1", "b", "busy"}, map[string]string{"name": "b", "mood": "calm"}},
		"a result that was unknown":              {map[string]string{"id": "1", "name": "b", "mood": "?"}, &thing{"1", "b", "busy"}, map[string]string{"name": "b", "mood": "busy"}},
		"a result that was null":                 {map[string]string{"id": "1", "name": "b"}, &thing{"1", "b", "busy"}, map[string]string{"mood": ""}},
		"an argument that was spelled otherwise": {map[string]string{"id": "1", "name": "b", "mood": "calm"}, &thing{"1", "B", "calm"}, map[string]string{"name": "b"}},
		"an argument that was left out":          {map[string]string{"id": "1", "name": "b", "mood": "calm"}, &thing{"1", "", "calm"}, map[string]string{"name": "b"}},
		"nothing was sent":                       {map[string]string{"id": "1", "name": "b", "mood": "calm"}, nil, map[string]string{"name": "b", "mood": "calm"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planned := tfsdk.Plan{Raw: raw(tc.plan), Schema: thingSchema}
			state := stateOf(map[string]string{"id": "1", "name": "a", "mood": "calm"})
			var plan thingModel
			diags := planned.Get(t.Context(), &plan)
			if tc.answer != nil {
				diags.Append(plan.FromAPI(t.Context(), tc.answer)...)
			}
			diags.Append(state.Set(t.Context(), &plan)...)
			KeepPlanned(&state, planned.Raw)
			if diags.HasError() {
				t.Fatal(diags)
			}
			for attribute, want := range tc.want {
				check.Is(t, attribute, get(t, state, attribute), want)
			}
		})
	}
}

func TestOnlyNamed_two(t *testing.T) {
	t.Parallel()
	_, err := OnlyNamed("service account", "n", []thing{{id: "2"}, {id: "1"}}, func(t *thing) string { return t.id })
	var fault *ObjectError
	if !errors.As(err, &fault) || !fault.At.Equal(path.Root("name")) {
		t.Fatal(err)
	}
	check.Says(t, err.Error(), "Service account is ambiguous", `2 service accounts are named "n": 1, 2. Set id instead of name.`)
}
