// Package value converts between the API's values and the framework's values.
package value

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// StringOrNull returns null for the empty string, which the API uses for an unset field.
func StringOrNull(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

// Time returns an RFC 3339 string in UTC, or null for the zero time.
func Time(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339Nano))
}

// StringPointer returns nil for null and unknown, so that the request omits the field.
func StringPointer(s types.String) *string {
	if s.IsNull() || s.IsUnknown() {
		return nil
	}
	return s.ValueStringPointer()
}

// BoolPointer returns nil for null and unknown, so that the request omits the field.
func BoolPointer(b types.Bool) *bool {
	if b.IsNull() || b.IsUnknown() {
		return nil
	}
	return b.ValueBoolPointer()
}

// Strings returns the elements of a list of strings, or nil if the list is null or unknown.
func Strings(list types.List) []string {
	var items []string
	for _, element := range list.Elements() {
		if s, ok := element.(types.String); ok {
			items = append(items, s.ValueString())
		}
	}
	return items
}

// IsSet reports whether a value is neither null nor unknown.
func IsSet(v attr.Value) bool {
	return !v.IsNull() && !v.IsUnknown()
}

// IsFullyKnown reports whether a value and all its parts are known.
func IsFullyKnown(ctx context.Context, v attr.Value) bool {
	given, err := v.ToTerraformValue(ctx)
	return err == nil && given.IsFullyKnown()
}

// MayBeTrue reports whether a bool is true or unknown.
func MayBeTrue(b types.Bool) bool { return b.ValueBool() || b.IsUnknown() }

// AbsolutePath returns the same text for all spellings of a local path. It keeps one that is null or not known.
func AbsolutePath(name types.String) types.String {
	if absolute, err := filepath.Abs(name.ValueString()); err == nil && IsSet(name) {
		return types.StringValue(absolute)
	}
	return name
}

// JSON returns normalized JSON: sorted keys, no whitespace, and numbers as the API wrote them. It returns null for empty
// input, and an error if raw is not valid JSON.
func JSON(raw json.RawMessage) (jsontypes.Normalized, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return jsontypes.NewNormalizedNull(), nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // A float64 would change large numbers.
	var decoded any
	if err := in.Decode(&decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("read what should be JSON: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("normalize JSON: %w", err)
	}
	return jsontypes.NewNormalizedValue(string(bytes.TrimSpace(out.Bytes()))), nil
}
