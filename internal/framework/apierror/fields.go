package apierror

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Fields maps fields of the API to attributes, so that an error about a field is shown at its attribute. A key is a field's
// name, or names joined by dots if another field has the same name: "source.templateId". Nested fields need no key.
type Fields map[string]path.Path

func (fields Fields) addTo(f *failure) { maps.Copy(f.fields, fields) }

// Unique names the Fields whose values are unique, so a conflict about one means that the value is in use.
type Unique []string

func (u Unique) addTo(f *failure) { f.unique = append(f.unique, u...) }

func (f *failure) isUnique(at path.Path) bool {
	return slices.ContainsFunc(f.unique, func(field string) bool { return f.fields[field].Equal(at) })
}

var (
	// mention matches a field in a text, such as repositories[3].url.
	mention = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*(?:\[[0-9]{1,6}\]|\.[a-z][A-Za-z0-9_]*)*`)
	segment = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*|[0-9]+`)
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Find finds the first field that a text names. Quoted text must match a field as a whole; otherwise, it is a value.
func (fields Fields) Find(text string) (path.Path, bool) {
	text = quoted.ReplaceAllStringFunc(text, func(q string) string {
		if inner := strings.Trim(q, `"`); mention.FindString(inner) == inner {
			return inner
		}
		return ""
	})
	for _, found := range mention.FindAllString(text, -1) {
		segments := segment.FindAllString(found, -1)
		// The service may prefix a name, for example with "body".
		for start := range segments {
			if at, ok := fields.at(segments[start:]); ok {
				return at, true
			}
		}
	}
	return path.Empty(), false
}

// at matches the longest known run of names, ignoring indexes, and appends the rest.
func (fields Fields) at(segments []string) (path.Path, bool) {
	for end := len(segments); end > 0; end-- {
		if isIndex(segments[end-1]) {
			continue
		}
		var names []string
		for _, s := range segments[:end] {
			if !isIndex(s) {
				names = append(names, s)
			}
		}
		if at, ok := fields[strings.Join(names, ".")]; ok && !isIndex(segments[0]) {
			return below(at, segments[end:]), true
		}
	}
	return path.Empty(), false
}

func below(at path.Path, segments []string) path.Path {
	for _, s := range segments {
		if index, err := strconv.Atoi(s); err == nil {
			at = at.AtListIndex(index)
		} else {
			at = at.AtName(SnakeCase(s))
		}
	}
	return at
}

func isIndex(segment string) bool { return segment[0] >= '0' && segment[0] <= '9' }

// SnakeCase returns the attribute of a field. An acronym is one word: customCIModel becomes custom_ci_model.
func SnakeCase(field string) string {
	var name strings.Builder
	letters := []rune(field)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			name.WriteByte('_')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
