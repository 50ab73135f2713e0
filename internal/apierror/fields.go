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

// Fields names the attribute that stands for a field of the API, so that an error about the field is shown at the
// attribute. A key is a field's name or, where another field has the same, names joined by dots: "source.templateId".
// What lies below a field is named as attributes are, so it needs no key.
type Fields map[string]path.Path

func (known Fields) addTo(f *failure) { maps.Copy(f.fields, known) }

// Unique names those of the Fields whose value no two objects share, so that a conflict about one means that it is taken.
type Unique []string

func (u Unique) addTo(f *failure) { f.unique = append(f.unique, u...) }

func (f *failure) isUnique(at path.Path) bool {
	return slices.ContainsFunc(f.unique, func(field string) bool { return f.fields[field].Equal(at) })
}

var (
	// mention is a field as a text names it, such as repositories[3].url.
	mention = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*(?:\[[0-9]{1,6}\]|\.[a-z][A-Za-z0-9_]*)*`)
	segment = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*|[0-9]+`)
)

// Find finds the first field that a text names.
func (known Fields) Find(text string) (path.Path, bool) {
	for _, found := range mention.FindAllString(text, -1) {
		segments := segment.FindAllString(found, -1)
		// A name may stand below what the texts of the service start with, such as the body.
		for start := range segments {
			if at, ok := known.at(segments[start:]); ok {
				return at, true
			}
		}
	}
	return path.Empty(), false
}

// at looks for the longest run of names that is known, and goes on from there. Indexes within the run do not count.
func (known Fields) at(segments []string) (path.Path, bool) {
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
		if at, ok := known[strings.Join(names, ".")]; ok && !isIndex(segments[0]) {
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
			at = at.AtName(snakeCase(s))
		}
	}
	return at
}

func isIndex(segment string) bool { return segment[0] >= '0' && segment[0] <= '9' }

// snakeCase spells a field as its attribute, with an acronym as one word: customCIModel is custom_ci_model.
func snakeCase(field string) string {
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
