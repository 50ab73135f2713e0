package results

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var record = Plain{
	"id":     {Text: "The ID."},
	"listed": {Text: "Whether.", Type: types.BoolType},
	"pages":  {Text: "How many.", Type: types.Int64Type},
	"ratio":  {Text: "How much.", Type: types.Float64Type},
	"tree":   {Text: "What is open.", Type: jsontypes.NormalizedType{}},
	"tags":   {Text: "By name.", Type: types.MapType{ElemType: types.Float64Type}},
	"tools":  {Text: "The tools.", Type: types.SetType{ElemType: types.StringType}},
	"dirs":   {Text: "The folders.", Type: types.ListType{ElemType: types.StringType}},
	"source": {Text: "The source.", Of: Plain{"kind": {Text: "Its kind."}}},
	"steps":  {Text: "The steps.", Of: Plain{"error": {Text: "What went wrong."}}, IsList: true},
}

// The same record has the same types wherever it is shown, and every attribute is computed and described.
func TestRecord_isTheSameEverywhere(t *testing.T) {
	t.Parallel()
	want := record.ObjectType()
	data := dsschema.Schema{Attributes: record.DataSource()}
	for name, got := range map[string]interface{ String() string }{
		"data source": data.Type(),
		"resource":    schema.Schema{Attributes: record.Resource()}.Type(),
		"elements":    schema.NestedAttributeObject{Attributes: record.Elements()}.Type(),
	} {
		if got.String() != want.String() {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, attribute := range record.Resource() {
		if !attribute.IsComputed() || attribute.IsOptional() || attribute.GetMarkdownDescription() != record[name].Text {
			t.Errorf("%s: computed %v, %q", name, attribute.IsComputed(), attribute.GetMarkdownDescription())
		}
	}
	for name, attribute := range data.Attributes {
		if !attribute.IsComputed() || attribute.GetMarkdownDescription() != record[name].Text {
			t.Errorf("%s: computed %v, %q", name, attribute.IsComputed(), attribute.GetMarkdownDescription())
		}
	}
}

// Results of a resource keep their values in the plan of an update; those of a list's elements are planned with the list.
func TestRecord_planModifiers(t *testing.T) {
	t.Parallel()
	count := func(attribute schema.Attribute) int {
		switch a := attribute.(type) {
		case schema.StringAttribute:
			return len(a.PlanModifiers)
		case schema.BoolAttribute:
			return len(a.PlanModifiers)
		case schema.Int64Attribute:
			return len(a.PlanModifiers)
		case schema.Float64Attribute:
			return len(a.PlanModifiers)
		case schema.MapAttribute:
			return len(a.PlanModifiers)
		case schema.ListAttribute:
			return len(a.PlanModifiers)
		case schema.SetAttribute:
			return len(a.PlanModifiers)
		case schema.ListNestedAttribute:
			return len(a.PlanModifiers)
		case schema.SingleNestedAttribute:
			return len(a.PlanModifiers)
		}
		return -1
	}
	for name, attribute := range record.Resource() {
		if count(attribute) != 1 {
			t.Errorf("%s of a resource has %d plan modifiers", name, count(attribute))
		}
	}
	for name, attribute := range record.Elements() {
		if count(attribute) != 0 {
			t.Errorf("%s of an element has %d plan modifiers", name, count(attribute))
		}
	}
}

func TestDataSourceByIDOrName(t *testing.T) {
	t.Parallel()
	named := Plain{"id": {Text: "The ID."}, "name": {Text: "The name."}, "status": {Text: "The status."}}
	for name, attribute := range named.DataSourceByIDOrName(63) {
		if attribute.IsOptional() != (name != "status") || !attribute.IsComputed() {
			t.Errorf("%s: optional %v, computed %v", name, attribute.IsOptional(), attribute.IsComputed())
		}
	}
}

// A name whose maximum nobody knows is only not empty.
func TestDataSourceByIDOrName_length(t *testing.T) {
	t.Parallel()
	named := Plain{"id": {Text: "The ID."}, "name": {Text: "The name."}}
	for maxName, refused := range map[int]map[string]bool{
		3: {"": true, "abc": false, "abcd": true},
		0: {"": true, "abc": false, strings.Repeat("n", 1000): false},
	} {
		attribute, ok := named.DataSourceByIDOrName(maxName)["name"].(dsschema.StringAttribute)
		if !ok || len(attribute.Validators) != 1 {
			t.Fatalf("the name is %v", attribute)
		}
		for given, want := range refused {
			var resp validator.StringResponse
			attribute.Validators[0].ValidateString(t.Context(), validator.StringRequest{ConfigValue: types.StringValue(given)}, &resp)
			if resp.Diagnostics.HasError() != want {
				t.Errorf("at most %d, %q: %v", maxName, given, resp.Diagnostics)
			}
		}
	}
}

func TestMaxResults(t *testing.T) {
	t.Parallel()
	argument, ok := MaxResults("How many.").(dsschema.Int64Attribute)
	if !ok || !argument.Optional || argument.Computed || argument.MarkdownDescription != "How many." {
		t.Fatalf("%+v", argument)
	}
	for most, want := range map[int64]bool{-1: false, 0: false, 1: true, 1 << 40: true} {
		var resp validator.Int64Response
		for _, check := range argument.Validators {
			check.ValidateInt64(t.Context(), validator.Int64Request{ConfigValue: types.Int64Value(most)}, &resp)
		}
		if got := !resp.Diagnostics.HasError(); got != want {
			t.Errorf("%d: accepted %v", most, got)
		}
	}
}
