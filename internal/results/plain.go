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

	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// Plain is the fields of a record by the names of their attributes.
type Plain map[string]PlainField

// PlainField is one field of a record. One without Type and Of is a string.
type PlainField struct {
	// Text describes it.
	Text string
	// Type is a bool, an int64, a float64, JSON (jsontypes.NormalizedType), or a list, set or map of these or of strings.
	Type attr.Type
	// Of are the fields of a nested object, or of each object of a list where IsList is set.
	Of     Plain
	IsList bool
}

// AttrTypes are the types of the record's attributes.
func (r Plain) AttrTypes() map[string]attr.Type {
	attrTypes := make(map[string]attr.Type, len(r))
	for name, field := range r {
		attrTypes[name] = field.attrType()
	}
	return attrTypes
}

// ObjectType is the type of the record as an object.
func (r Plain) ObjectType() types.ObjectType { return types.ObjectType{AttrTypes: r.AttrTypes()} }

func (f PlainField) attrType() attr.Type {
	switch {
	case f.IsList:
		return types.ListType{ElemType: f.Of.ObjectType()}
	case f.Of != nil:
		return f.Of.ObjectType()
	case f.Type != nil:
		return f.Type
	}
	return types.StringType
}

// DataSource are the record's attributes in a data source.
func (r Plain) DataSource() map[string]dsschema.Attribute {
	attributes := make(map[string]dsschema.Attribute, len(r))
	for name, field := range r {
		attributes[name] = field.dataSource()
	}
	return attributes
}

// DataSourceByIDOrName is DataSource for an object that is looked up by its ID or by its name, of at most maxName characters;
// 0 is no maximum.
func (r Plain) DataSourceByIDOrName(maxName int) map[string]dsschema.Attribute {
	attributes := r.DataSource()
	checks := map[string]validator.String{"id": value.NotEmpty(), "name": value.NotEmpty()}
	if maxName > 0 {
		checks["name"] = value.Length(1, maxName)
	}
	for name, check := range checks {
		attributes[name] = dsschema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: r[name].Text + " Exactly one of `id` and `name` must be given.",
			Validators:          []validator.String{check},
		}
	}
	return attributes
}

func (f PlainField) dataSource() dsschema.Attribute {
	switch t := f.attrType().(type) {
	case types.ObjectType:
		return dsschema.SingleNestedAttribute{Computed: true, MarkdownDescription: f.Text, Attributes: f.Of.DataSource()}
	case types.ListType:
		if f.IsList {
			return dsschema.ListNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: dsschema.NestedAttributeObject{Attributes: f.Of.DataSource()}}
		}
		return dsschema.ListAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.SetType:
		return dsschema.SetAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.MapType:
		return dsschema.MapAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	}
	switch f.attrType() {
	case types.BoolType:
		return dsschema.BoolAttribute{Computed: true, MarkdownDescription: f.Text}
	case types.Int64Type:
		return dsschema.Int64Attribute{Computed: true, MarkdownDescription: f.Text}
	case types.Float64Type:
		return dsschema.Float64Attribute{Computed: true, MarkdownDescription: f.Text}
	case jsontypes.NormalizedType{}:
		return dsschema.StringAttribute{Computed: true, CustomType: jsontypes.NormalizedType{}, MarkdownDescription: f.Text}
	}
	return dsschema.StringAttribute{Computed: true, MarkdownDescription: f.Text}
}

// Resource are the record's attributes in a resource. In the plan of an update each keeps its value: what moves by itself
// is no change that somebody planned, and the next refresh takes what has moved.
func (r Plain) Resource() map[string]schema.Attribute {
	attributes := r.Elements()
	for name, attribute := range attributes {
		switch a := attribute.(type) {
		case schema.StringAttribute:
			a.PlanModifiers = []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.BoolAttribute:
			a.PlanModifiers = []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.Int64Attribute:
			a.PlanModifiers = []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.Float64Attribute:
			a.PlanModifiers = []planmodifier.Float64{float64planmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.MapAttribute:
			a.PlanModifiers = []planmodifier.Map{mapplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.ListAttribute:
			a.PlanModifiers = []planmodifier.List{listplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.SetAttribute:
			a.PlanModifiers = []planmodifier.Set{setplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.ListNestedAttribute:
			a.PlanModifiers = []planmodifier.List{listplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.SingleNestedAttribute:
			a.PlanModifiers = []planmodifier.Object{objectplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		}
	}
	return attributes
}

// Elements are the record's attributes in each object of a resource's list. Elements come and go, so the plan of the list as a whole decides about them.
func (r Plain) Elements() map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(r))
	for name, field := range r {
		attributes[name] = field.element()
	}
	return attributes
}

func (f PlainField) element() schema.Attribute {
	switch t := f.attrType().(type) {
	case types.ObjectType:
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: f.Text, Attributes: f.Of.Elements()}
	case types.ListType:
		if f.IsList {
			return schema.ListNestedAttribute{Computed: true, MarkdownDescription: f.Text, NestedObject: schema.NestedAttributeObject{Attributes: f.Of.Elements()}}
		}
		return schema.ListAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.SetType:
		return schema.SetAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	case types.MapType:
		return schema.MapAttribute{Computed: true, MarkdownDescription: f.Text, ElementType: t.ElemType}
	}
	switch f.attrType() {
	case types.BoolType:
		return schema.BoolAttribute{Computed: true, MarkdownDescription: f.Text}
	case types.Int64Type:
		return schema.Int64Attribute{Computed: true, MarkdownDescription: f.Text}
	case types.Float64Type:
		return schema.Float64Attribute{Computed: true, MarkdownDescription: f.Text}
	case jsontypes.NormalizedType{}:
		return schema.StringAttribute{Computed: true, CustomType: jsontypes.NormalizedType{}, MarkdownDescription: f.Text}
	}
	return schema.StringAttribute{Computed: true, MarkdownDescription: f.Text}
}
