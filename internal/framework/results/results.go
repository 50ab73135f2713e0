// Package results describes each field of a record once: name, description, type, and value. The computed attributes of
// resources and data sources are built from these descriptions.
package results

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// Fields contains the fields of an R by attribute name. R is a pointer.
type Fields[R any] map[string]Field[R]

// Field is one field of an R. Use the functions below to create fields of the usual types.
type Field[R any] struct {
	Text      string
	Type      attr.Type
	Sensitive bool
	// Value reads the field. The value's type must be Type.
	Value func(R) attr.Value
	// nested contains the attributes of an object, or of the objects in a list or map.
	nested map[string]schema.Attribute
}

// Merge returns a record with the fields of both.
func Merge[R any](a, b Fields[R]) Fields[R] {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// Part returns the fields of a part of a record as fields of the record.
func Part[R, P any](of Fields[P], get func(R) P) Fields[R] {
	all := make(Fields[R], len(of))
	for name, f := range of {
		ofPart := func(record R) attr.Value { return f.Value(get(record)) }
		all[name] = Field[R]{Text: f.Text, Type: f.Type, Sensitive: f.Sensitive, nested: f.nested, Value: ofPart}
	}
	return all
}

// ObjectType returns the record's type as an object.
func (r Fields[R]) ObjectType() types.ObjectType {
	attrTypes := make(map[string]attr.Type, len(r))
	for name, field := range r {
		attrTypes[name] = field.Type
	}
	return types.ObjectType{AttrTypes: attrTypes}
}

// Into copies a record's fields into a model that has an attribute for each field.
func (r Fields[R]) Into(ctx context.Context, record R, model any) diag.Diagnostics {
	return r.object(r.ObjectType(), record).As(ctx, model, basetypes.ObjectAsOptions{})
}

func (r Fields[R]) object(typ types.ObjectType, record R) types.Object {
	values := make(map[string]attr.Value, len(r))
	for name, field := range r {
		values[name] = field.Value(record)
	}
	return types.ObjectValueMust(typ.AttrTypes, values)
}

// ObjectOf returns a record's value. Nil is null.
func ObjectOf[T any](of Fields[*T], record *T) types.Object {
	return object(of, of.ObjectType(), record)
}

// ListOf returns the values of records. Nil is null.
func ListOf[T any](of Fields[*T], records []T) types.List {
	return list(of, of.ObjectType(), records)
}

// RowsOf returns the values of a data source's records. Nil is an empty list.
func RowsOf[T any](of Fields[*T], records []T) types.List {
	return ListOf(of, append([]T{}, records...))
}

// RawRows is RowsOf for thousands of records; see crud.ManyRows.
func RawRows[T any](of Fields[*T], records []T) tftypes.Value {
	ctx := context.Background() // The conversions of values do not use it.
	typ := of.ObjectType().TerraformType(ctx)
	rows := make([]tftypes.Value, len(records))
	for i := range records {
		row := make(map[string]tftypes.Value, len(of))
		for name, field := range of {
			row[name], _ = field.Value(&records[i]).ToTerraformValue(ctx) // It fails only for values that do not have their type.
		}
		rows[i] = tftypes.NewValue(typ, row)
	}
	return tftypes.NewValue(tftypes.List{ElementType: typ}, rows)
}

func object[T any](of Fields[*T], typ types.ObjectType, record *T) types.Object {
	if record == nil {
		return types.ObjectNull(typ.AttrTypes)
	}
	return of.object(typ, record)
}

func list[T any](of Fields[*T], typ types.ObjectType, records []T) types.List {
	if records == nil {
		return types.ListNull(typ)
	}
	values := make([]attr.Value, len(records))
	for i := range records {
		values[i] = of.object(typ, &records[i])
	}
	return types.ListValueMust(typ, values)
}

// Elements returns the record's attributes in an object of a list or map.
func (r Fields[R]) Elements() map[string]schema.Attribute { return r.attributes(unmodified) }

// Resource returns the record's attributes in a resource. The plan of an update keeps their values, so that plans stay
// quiet. The next refresh stores the changes.
func (r Fields[R]) Resource() map[string]schema.Attribute { return r.attributes(keepInUpdate) }

func (r Fields[R]) attributes(m modifiers) map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(r))
	for name, field := range r {
		attributes[name] = field.attribute(m)
	}
	return attributes
}

// DataSource returns the record's attributes in a data source, and more of them, such as the arguments.
func (r Fields[R]) DataSource(more ...map[string]dsschema.Attribute) map[string]dsschema.Attribute {
	attributes := make(map[string]dsschema.Attribute, len(r))
	for name, attribute := range r.Elements() {
		attributes[name] = attribute // One interface covers the attributes of resources and data sources.
	}
	for _, arguments := range more {
		maps.Copy(attributes, arguments)
	}
	return attributes
}

// DataSourceRows returns a data source's attribute for a list of records.
func (r Fields[R]) DataSourceRows(description string) dsschema.Attribute {
	rows := dsschema.NestedAttributeObject{Attributes: r.DataSource()}
	return dsschema.ListNestedAttribute{Computed: true, MarkdownDescription: description, NestedObject: rows}
}

// String returns a string field. An empty string is null.
func String[R any](text string, get func(R) string) Field[R] {
	return Field[R]{Text: text, Type: types.StringType, Value: func(record R) attr.Value { return value.StringOrNull(get(record)) }}
}

// StringPointer returns a string field that may be empty. Nil is null.
func StringPointer[R any](text string, get func(R) *string) Field[R] {
	return Field[R]{Text: text, Type: types.StringType, Value: func(record R) attr.Value { return types.StringPointerValue(get(record)) }}
}

// Bool returns a boolean field. Nil is null.
func Bool[R any](text string, get func(R) *bool) Field[R] {
	return Field[R]{Text: text, Type: types.BoolType, Value: func(record R) attr.Value { return types.BoolPointerValue(get(record)) }}
}

// Int64 returns an integer field. Nil is null.
func Int64[R any](text string, get func(R) *int64) Field[R] {
	return Field[R]{Text: text, Type: types.Int64Type, Value: func(record R) attr.Value { return types.Int64PointerValue(get(record)) }}
}

// Float64 returns a number field. Nil is null.
func Float64[R any](text string, get func(R) *float64) Field[R] {
	return Field[R]{Text: text, Type: types.Float64Type, Value: func(record R) attr.Value { return types.Float64PointerValue(get(record)) }}
}

// Time returns a field with an RFC 3339 string in UTC. The zero time is null.
func Time[R any](text string, get func(R) time.Time) Field[R] {
	return Field[R]{Text: text, Type: types.StringType, Value: func(record R) attr.Value { return value.Time(get(record)) }}
}

// JSON returns a field with a string of normalized JSON. Nil is null. The JSON in a response is always valid.
func JSON[R any](text string, get func(R) json.RawMessage) Field[R] {
	return Field[R]{Text: text, Type: jsontypes.NormalizedType{}, Value: func(record R) attr.Value {
		normalized, _ := value.JSON(get(record))
		return normalized
	}}
}

// SensitiveJSON returns a JSON field that the CLI does not show.
func SensitiveJSON[R any](text string, get func(R) json.RawMessage) Field[R] {
	field := JSON(text, get)
	field.Sensitive = true
	return field
}

// StringList returns a field with a list of strings. Nil is null.
func StringList[R any](text string, get func(R) []string) Field[R] {
	return Field[R]{Text: text, Type: types.ListType{ElemType: types.StringType}, Value: func(record R) attr.Value {
		items := get(record)
		if items == nil {
			return types.ListNull(types.StringType)
		}
		return types.ListValueMust(types.StringType, stringValues(items))
	}}
}

// StringSet returns a field with a set of strings. The service may return duplicates. Nil is null.
func StringSet[R any](text string, get func(R) []string) Field[R] {
	return Field[R]{Text: text, Type: types.SetType{ElemType: types.StringType}, Value: func(record R) attr.Value {
		items := get(record)
		if items == nil {
			return types.SetNull(types.StringType)
		}
		return types.SetValueMust(types.StringType, stringValues(slices.Compact(slices.Sorted(slices.Values(items)))))
	}}
}

// StringMap returns a field with a map of strings. Nil is null.
func StringMap[R any](text string, get func(R) map[string]string) Field[R] {
	return Field[R]{Text: text, Type: types.MapType{ElemType: types.StringType}, Value: func(record R) attr.Value {
		items := get(record)
		if items == nil {
			return types.MapNull(types.StringType)
		}
		values := make(map[string]attr.Value, len(items))
		for key, item := range items {
			values[key] = types.StringValue(item)
		}
		return types.MapValueMust(types.StringType, values)
	}}
}

// Object returns a field with a nested record. Nil is null.
func Object[R, E any](text string, of Fields[*E], get func(R) *E) Field[R] {
	typ := of.ObjectType()
	return Field[R]{Text: text, Type: typ, nested: of.Elements(), Value: func(record R) attr.Value { return object(of, typ, get(record)) }}
}

// List returns a field with a list of nested records. Nil is null.
func List[R, E any](text string, of Fields[*E], get func(R) []E) Field[R] {
	typ := of.ObjectType()
	return Field[R]{Text: text, Type: types.ListType{ElemType: typ}, nested: of.Elements(), Value: func(record R) attr.Value { return list(of, typ, get(record)) }}
}

// Map returns a field with a map of nested records. Nil is null.
func Map[R, E any](text string, of Fields[*E], get func(R) map[string]E) Field[R] {
	typ := of.ObjectType()
	return Field[R]{Text: text, Type: types.MapType{ElemType: typ}, nested: of.Elements(), Value: func(record R) attr.Value {
		items := get(record)
		if items == nil {
			return types.MapNull(typ)
		}
		values := make(map[string]attr.Value, len(items))
		for key, item := range items {
			values[key] = of.object(typ, &item)
		}
		return types.MapValueMust(typ, values)
	}}
}

func stringValues(items []string) []attr.Value {
	values := make([]attr.Value, len(items))
	for i, item := range items {
		values[i] = types.StringValue(item)
	}
	return values
}
