package crud

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
			AsPlanned(&state, planned.Raw)
			if diags.HasError() {
				t.Fatal(diags)
			}
			for attribute, want := range tc.want {
				if got := get(t, state, attribute); got != want {
					t.Errorf("%s is %q, want %q", attribute, got, want)
				}
			}
		})
	}
}

func TestOnlyNamed(t *testing.T) {
	t.Parallel()
	id := func(t *thing) string { return t.id }
	for name, tc := range map[string]struct {
		found []thing
		want  []string
	}{
		"none": {nil, []string{"Service Account Not Found", `No service account named "n" exists`}},
		"two":  {[]thing{{id: "2"}, {id: "1"}}, []string{"Service Account Is Ambiguous", `2 service accounts are named "n": 1, 2.`}},
	} {
		_, err := OnlyNamed("service account", "n", tc.found, id)
		var fault *ObjectError
		if !errors.As(err, &fault) || !fault.At.Equal(path.Root("name")) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
	}
	if found, err := OnlyNamed("thing", "n", []thing{{id: "1"}}, id); err != nil || found.id != "1" {
		t.Errorf("one: %v, %v", found, err)
	}
}

func TestDefaultOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attribute schema.Attribute
		want      attr.Value
	}{
		"bool":              {schema.BoolAttribute{Default: booldefault.StaticBool(true)}, types.BoolValue(true)},
		"number":            {schema.Int64Attribute{Default: int64default.StaticInt64(2)}, types.Int64Value(2)},
		"string":            {schema.StringAttribute{Default: stringdefault.StaticString("a")}, types.StringValue("a")},
		"bool without it":   {schema.BoolAttribute{}, nil},
		"number without it": {schema.Int64Attribute{}, nil},
		"string without it": {schema.StringAttribute{}, nil},
		"another kind":      {schema.Float64Attribute{}, nil},
	} {
		if got, diags := defaultOf(t.Context(), "a", tc.attribute); diags.HasError() || got != tc.want {
			t.Errorf("%s: got %v, %v", name, got, diags)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	at := explain("read", "thing", &ObjectError{At: path.Root("name"), Summary: "S", Detail: "D"}, nil)
	nowhere := explain("read", "thing", &ObjectError{Summary: "S", Detail: "D"}, nil)
	other := explain("read", "thing", &transport.APIError{Op: transport.Operation{Name: "getThing"}, Status: 500, Detail: "x", FromService: true}, nil)
	if _, ok := at[0].(diag.DiagnosticWithPath); !ok || at[0].Summary() != "S" {
		t.Errorf("a fault at an argument: %v", at)
	}
	if _, ok := nowhere[0].(diag.DiagnosticWithPath); ok || nowhere[0].Detail() != "D" {
		t.Errorf("a fault of no argument: %v", nowhere)
	}
	if other[0].Summary() != "Cannot read thing" || !strings.Contains(other[0].Detail(), "getThing") {
		t.Errorf("an error of the service: %v", other)
	}
}

// The list request is sent when the first item is read, and its error is yielded.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	items := AtOnce(func() ([]int, error) { asked++; return []int{1, 2, 3}, nil })
	if asked != 0 {
		t.Error("the listing was asked for before it was wanted")
	}
	sum := 0
	for item, err := range items {
		if err != nil {
			t.Fatal(err)
		}
		if sum += item; item == 2 {
			break
		}
	}
	if sum != 3 || asked != 1 {
		t.Errorf("the sum is %d after %d listings", sum, asked)
	}
	for _, err := range AtOnce(func() ([]int, error) { return nil, errors.New("broken") }) {
		if err == nil {
			t.Error("the failure is not yielded")
		}
	}
}

// List obeys the limit and completes a result as an import does.
func TestList_obeysTheLimitAndCompletes(t *testing.T) {
	t.Parallel()
	identity := IDSchema("The ID.")
	req := list.ListRequest{Limit: 2, IncludeResource: true, ResourceSchema: thingSchema, ResourceIdentitySchema: identity}
	fetched := 0
	all := func(yield func(thing, error) bool) {
		for _, id := range []string{"1", "2", "3"} {
			fetched++
			if !yield(thing{id: id, name: "n" + id}, nil) {
				return
			}
		}
	}
	var stream list.ListResultsStream
	List[thingModel](t.Context(), "things", req, &stream, all, func(t *thing) string { return t.name })
	var names []string
	for result := range stream.Results {
		if result.Diagnostics.HasError() {
			t.Fatal(result.Diagnostics)
		}
		var m thingModel
		if diags := result.Resource.Get(t.Context(), &m); diags.HasError() || !m.Wait.ValueBool() || m.Mood.ValueString() != "imported" {
			t.Errorf("%+v, %v", m, diags)
		}
		names = append(names, result.DisplayName)
	}
	if strings.Join(names, " ") != "n1 n2" || fetched != 2 {
		t.Errorf("%v after %d items", names, fetched)
	}
}
