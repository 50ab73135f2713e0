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
	return keepInUpdate(Field[any]{Text: text, Type: typ}.attribute())
}

// ComputedList returns a computed attribute with a list of records, which an update keeps.
func ComputedList[E any](text string, of Fields[*E]) schema.Attribute {
	return keepInUpdate(List(text, of, func(any) []E { return nil }).attribute())
}

func (f Field[R]) attribute() schema.Attribute {
	switch t := f.Type.(type) {
	case types.ObjectType:
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: f.Text, Attributes: f.nested}
	case types.ListType:
		if f.nested != nil {
			return schema.ListNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: schema.NestedAttributeObject{Attributes: f.nested}}
		}
		return schema.ListAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.SetType:
		return schema.SetAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.MapType:
		if f.nested != nil {
			return schema.MapNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: schema.NestedAttributeObject{Attributes: f.nested}}
		}
		return schema.MapAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case jsontypes.NormalizedType:
		return schema.StringAttribute{Computed: true, Sensitive: f.Sensitive, CustomType: t, MarkdownDescription: f.Text}
	}
	switch f.Type {
	case types.BoolType:
		return schema.BoolAttribute{Computed: true, MarkdownDescription: f.Text}
	case types.Int64Type:
		return schema.Int64Attribute{Computed: true, MarkdownDescription: f.Text}
	case types.Float64Type:
		return schema.Float64Attribute{Computed: true, MarkdownDescription: f.Text}
	}
	return schema.StringAttribute{Computed: true, Sensitive: f.Sensitive, MarkdownDescription: f.Text}
}

func keepInUpdate(attribute schema.Attribute) schema.Attribute {
	switch a := attribute.(type) {
	case schema.StringAttribute:
		a.PlanModifiers = []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
		return a
	case schema.BoolAttribute:
		a.PlanModifiers = []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()}
		return a
	case schema.Int64Attribute:
		a.PlanModifiers = []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}
		return a
	case schema.Float64Attribute:
		a.PlanModifiers = []planmodifier.Float64{float64planmodifier.UseStateForUnknown()}
		return a
	case schema.MapAttribute:
		a.PlanModifiers = []planmodifier.Map{mapplanmodifier.UseStateForUnknown()}
		return a
	case schema.ListAttribute:
		a.PlanModifiers = []planmodifier.List{listplanmodifier.UseStateForUnknown()}
		return a
	case schema.SetAttribute:
		a.PlanModifiers = []planmodifier.Set{setplanmodifier.UseStateForUnknown()}
		return a
	case schema.ListNestedAttribute:
		a.PlanModifiers = []planmodifier.List{listplanmodifier.UseStateForUnknown()}
		return a
	case schema.MapNestedAttribute:
		a.PlanModifiers = []planmodifier.Map{mapplanmodifier.UseStateForUnknown()}
		return a
	case schema.SingleNestedAttribute:
		a.PlanModifiers = []planmodifier.Object{objectplanmodifier.UseStateForUnknown()}
		return a
	}
	return attribute
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
