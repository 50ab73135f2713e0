package results

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// String is a string; an empty one is null.
func String[T any](text string, get func(*T) string) Field[T] {
	return Field[T]{Text: text, Type: types.StringType, Value: func(record *T) attr.Value { return value.StringOrNull(get(record)) }}
}

// StringPointer is a string that may be empty; nil is null.
func StringPointer[T any](text string, get func(*T) *string) Field[T] {
	return Field[T]{Text: text, Type: types.StringType, Value: func(record *T) attr.Value { return types.StringPointerValue(get(record)) }}
}

// Bool is a boolean; nil is null.
func Bool[T any](text string, get func(*T) *bool) Field[T] {
	return Field[T]{Text: text, Type: types.BoolType, Value: func(record *T) attr.Value { return types.BoolPointerValue(get(record)) }}
}

// Int64 is a whole number; nil is null.
func Int64[T any](text string, get func(*T) *int64) Field[T] {
	return Field[T]{Text: text, Type: types.Int64Type, Value: func(record *T) attr.Value { return types.Int64PointerValue(get(record)) }}
}

// Float64 is a number; nil is null.
func Float64[T any](text string, get func(*T) *float64) Field[T] {
	return Field[T]{Text: text, Type: types.Float64Type, Value: func(record *T) attr.Value { return types.Float64PointerValue(get(record)) }}
}

// Time is an RFC 3339 string in UTC; the zero time is null.
func Time[T any](text string, get func(*T) time.Time) Field[T] {
	return Field[T]{Text: text, Type: types.StringType, Value: func(record *T) attr.Value { return value.Time(get(record)) }}
}

// JSON is a string of normalized JSON; nothing is null. What a response contains is always valid JSON.
func JSON[T any](text string, get func(*T) json.RawMessage) Field[T] {
	return Field[T]{Text: text, Type: jsontypes.NormalizedType{}, Value: func(record *T) attr.Value {
		normalized, _ := value.JSON(get(record))
		return normalized
	}}
}

// SensitiveJSON is JSON that the CLI does not show.
func SensitiveJSON[T any](text string, get func(*T) json.RawMessage) Field[T] {
	field := JSON(text, get)
	field.Sensitive = true
	return field
}

// StringList is a list of strings; nil is null.
func StringList[T any](text string, get func(*T) []string) Field[T] {
	return Field[T]{Text: text, Type: types.ListType{ElemType: types.StringType}, Value: func(record *T) attr.Value {
		items := get(record)
		if items == nil {
			return types.ListNull(types.StringType)
		}
		return types.ListValueMust(types.StringType, stringValues(items))
	}}
}

// StringSet is a set of strings, which the service may repeat; nil is null.
func StringSet[T any](text string, get func(*T) []string) Field[T] {
	return Field[T]{Text: text, Type: types.SetType{ElemType: types.StringType}, Value: func(record *T) attr.Value {
		items := get(record)
		if items == nil {
			return types.SetNull(types.StringType)
		}
		return types.SetValueMust(types.StringType, stringValues(slices.Compact(slices.Sorted(slices.Values(items)))))
	}}
}

// StringMap is a map of strings; nil is null.
func StringMap[T any](text string, get func(*T) map[string]string) Field[T] {
	return Field[T]{Text: text, Type: types.MapType{ElemType: types.StringType}, Value: func(record *T) attr.Value {
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

// Object is a nested record; nil is null.
func Object[T, E any](text string, of Record[E], get func(*T) *E) Field[T] {
	typ := of.ObjectType()
	return Field[T]{Text: text, Type: typ, nested: of.Elements(), Value: func(record *T) attr.Value { return of.object(typ, get(record)) }}
}

// List is a list of nested records; nil is null.
func List[T, E any](text string, of Record[E], get func(*T) []E) Field[T] {
	typ := of.ObjectType()
	return Field[T]{Text: text, Type: types.ListType{ElemType: typ}, nested: of.Elements(), Value: func(record *T) attr.Value {
		records := get(record)
		if records == nil {
			return types.ListNull(typ)
		}
		return of.list(typ, records)
	}}
}

func stringValues(items []string) []attr.Value {
	values := make([]attr.Value, len(items))
	for i, item := range items {
		values[i] = types.StringValue(item)
	}
	return values
}
