package results

import (
	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// Attributes are attributes of a resource by name.
type Attributes = map[string]schema.Attribute

// Computed returns a computed attribute whose value an update keeps.
func Computed(text string, typ attr.Type) schema.Attribute {
	return Field[any]{Text: text, Type: typ}.attribute(keepInUpdate)
}

// ComputedList returns a computed attribute with a list of records, which an update keeps.
func ComputedList[E any](text string, of Fields[*E]) schema.Attribute {
	return List(text, of, func(any) []E { return nil }).attribute(keepInUpdate)
}

// modifiers are the plan modifiers of a computed attribute, of whatever type it is.
type modifiers struct {
	bools   []planmodifier.Bool
	ints    []planmodifier.Int64
	floats  []planmodifier.Float64
	strings []planmodifier.String
	lists   []planmodifier.List
	sets    []planmodifier.Set
	maps    []planmodifier.Map
	objects []planmodifier.Object
}

var (
	unmodified   = modifiers{}
	keepInUpdate = modifiers{
		bools:   []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
		ints:    []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
		floats:  []planmodifier.Float64{float64planmodifier.UseStateForUnknown()},
		strings: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		lists:   []planmodifier.List{listplanmodifier.UseStateForUnknown()},
		sets:    []planmodifier.Set{setplanmodifier.UseStateForUnknown()},
		maps:    []planmodifier.Map{mapplanmodifier.UseStateForUnknown()},
		objects: []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
	}
)

func (f Field[R]) attribute(m modifiers) schema.Attribute {
	nested := schema.NestedAttributeObject{Attributes: f.nested}
	switch t := f.Type.(type) {
	case types.ObjectType:
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: f.Text, Attributes: f.nested, PlanModifiers: m.objects}
	case types.ListType:
		if f.nested != nil {
			return schema.ListNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: nested, PlanModifiers: m.lists}
		}
		return schema.ListAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType, PlanModifiers: m.lists}
	case types.SetType:
		return schema.SetAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType, PlanModifiers: m.sets}
	case types.MapType:
		if f.nested != nil {
			return schema.MapNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: nested, PlanModifiers: m.maps}
		}
		return schema.MapAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType, PlanModifiers: m.maps}
	case jsontypes.NormalizedType:
		return schema.StringAttribute{Computed: true, Sensitive: f.Sensitive, CustomType: t, MarkdownDescription: f.Text, PlanModifiers: m.strings}
	}
	switch f.Type {
	case types.BoolType:
		return schema.BoolAttribute{Computed: true, MarkdownDescription: f.Text, PlanModifiers: m.bools}
	case types.Int64Type:
		return schema.Int64Attribute{Computed: true, MarkdownDescription: f.Text, PlanModifiers: m.ints}
	case types.Float64Type:
		return schema.Float64Attribute{Computed: true, MarkdownDescription: f.Text, PlanModifiers: m.floats}
	}
	return schema.StringAttribute{Computed: true, Sensitive: f.Sensitive, MarkdownDescription: f.Text, PlanModifiers: m.strings}
}

// ByIDOrName returns the attributes of a data source that looks up a record by ID or by name. A name has at most maxName
// characters; 0 means that the maximum is unknown.
func (r Fields[R]) ByIDOrName(more ...map[string]dsschema.Attribute) map[string]dsschema.Attribute {
	attributes := r.DataSource(more...)
	for _, name := range []string{"id", "name"} {
		attributes[name] = dsschema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: r[name].Text + " Exactly one of `id` and `name` is required.",
			Validators:          []validator.String{value.NotEmpty()},
		}
	}
	return attributes
}

// MaxResults returns the argument that limits how many items a data source reads.
func MaxResults(description string) dsschema.Attribute {
	return dsschema.Int64Attribute{
		Optional:            true,
		MarkdownDescription: description,
		Validators:          []validator.Int64{value.AtLeast(1)},
	}
}
