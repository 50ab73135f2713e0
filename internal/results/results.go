// Package results describes each field of a record once: name, description, type, and value. The computed attributes of
// resources and data sources are built from these descriptions.
package results

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// Record contains the fields of a T by attribute name.
type Record[T any] map[string]Field[T]

// Field is one field of a T. Use the functions in fields.go to create fields of the usual types.
type Field[T any] struct {
	Text      string
	Type      attr.Type
	Sensitive bool
	// Value reads the field. The value's type must be Type.
	Value func(*T) attr.Value
	// nested contains the attributes of an object, or of the objects in a list.
	nested map[string]schema.Attribute
}

// With returns the record with additional fields.
func (r Record[T]) With(fields Record[T]) Record[T] {
	all := maps.Clone(r)
	maps.Copy(all, fields)
	return all
}

// ObjectType returns the record's type as an object.
func (r Record[T]) ObjectType() types.ObjectType {
	attrTypes := make(map[string]attr.Type, len(r))
	for name, field := range r {
		attrTypes[name] = field.Type
	}
	return types.ObjectType{AttrTypes: attrTypes}
}

// Object returns a record's value. Nil is null.
func (r Record[T]) Object(record *T) types.Object {
	return r.object(r.ObjectType(), record)
}

// List returns the values of records. Nil is null.
func (r Record[T]) List(records []T) types.List {
	return r.list(r.ObjectType(), records)
}

// Into copies a record's fields into a model that has an attribute for each field.
func (r Record[T]) Into(ctx context.Context, record *T, model any) diag.Diagnostics {
	return r.Object(record).As(ctx, model, basetypes.ObjectAsOptions{})
}

func (r Record[T]) object(typ types.ObjectType, record *T) types.Object {
	if record == nil {
		return types.ObjectNull(typ.AttrTypes)
	}
	values := make(map[string]attr.Value, len(r))
	for name, field := range r {
		values[name] = field.Value(record)
	}
	return types.ObjectValueMust(typ.AttrTypes, values)
}

func (r Record[T]) list(typ types.ObjectType, records []T) types.List {
	if records == nil {
		return types.ListNull(typ)
	}
	values := make([]attr.Value, len(records))
	for i := range records {
		values[i] = r.object(typ, &records[i])
	}
	return types.ListValueMust(typ, values)
}

// Elements returns the record's attributes in an object of a list or map.
func (r Record[T]) Elements() map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(r))
	for name, field := range r {
		attributes[name] = field.attribute()
	}
	return attributes
}

// Resource returns the record's attributes in a resource. The plan of an update keeps their values, so that plans stay
// quiet. The next refresh stores the changes.
func (r Record[T]) Resource() map[string]schema.Attribute {
	attributes := r.Elements()
	for name, attribute := range attributes {
		attributes[name] = keepInUpdate(attribute)
	}
	return attributes
}

// DataSource returns the record's attributes in a data source.
func (r Record[T]) DataSource() map[string]dsschema.Attribute {
	attributes := make(map[string]dsschema.Attribute, len(r))
	for name, attribute := range r.Elements() {
		attributes[name] = attribute // One interface covers the attributes of resources and data sources.
	}
	return attributes
}
