package results

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

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
