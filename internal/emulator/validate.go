package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// fields reads a JSON object by the rules of one operation. Every field must be asked for: done reports
// those that were sent and not asked for, together with everything else that was wrong.
type fields struct {
	path     string // "" for the body, "source." for a nested object.
	values   map[string]json.RawMessage
	asked    []string
	problems *[]problem
}

// problem is one thing that is wrong, and the rule behind it if it is not the contract's schema.
type problem struct{ text, rule string }

// invalid is a 400 that lists what is wrong.
func invalid(format string, args ...any) error {
	return invalidFor(problem{text: fmt.Sprintf(format, args...)})
}

// invalidBy is invalid with a rule, as in refuse.
func invalidBy(rule, format string, args ...any) error {
	return invalidFor(problem{fmt.Sprintf(format, args...), rule})
}

// invalidFor names the rules only if all problems have one: any other makes the request invalid by itself.
func invalidFor(problems ...problem) error {
	e := &apiError{status: http.StatusBadRequest, header: http.Header{}}
	var rules []string
	for _, p := range problems {
		e.problems, rules = append(e.problems, p.text), append(rules, p.rule)
	}
	e.detail = strings.Join(e.problems, " ")
	if !slices.Contains(rules, "") {
		slices.Sort(rules)
		e.header.Set(RuleHeader, strings.Join(slices.Compact(rules), ", "))
	}
	return e
}

// fields starts reading the body; an empty body counts as {}.
func (r *request) fields() (*fields, error) {
	body := r.body
	if len(body) == 0 {
		body = []byte("{}")
	}
	values, err := parseObject(body)
	if err != nil {
		return nil, invalid("The body %v.", err)
	}
	return &fields{values: values, problems: &[]problem{}}, nil
}

// parseObject reads one JSON object and nothing after it.
func parseObject(data []byte) (values map[string]json.RawMessage, err error) {
	switch {
	case !utf8.Valid(data):
		return nil, errors.New("is not valid UTF-8")
	case !json.Valid(data):
		return nil, errors.New("is not valid JSON")
	case json.Unmarshal(data, &values) != nil || values == nil:
		return nil, errors.New("must be a JSON object")
	}
	return values, nil
}

// done reports everything that was wrong as one 400.
func (f *fields) done() error {
	f.unknown()
	if len(*f.problems) == 0 {
		return nil
	}
	return invalidFor(*f.problems...)
}

func (f *fields) unknown() {
	var names []string
	for name := range f.values {
		if !slices.Contains(f.asked, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		f.problem(name, "is not known here")
	}
}

func (f *fields) problem(name, format string, args ...any) { f.problemBy("", name, format, args...) }

// problemBy adds a problem with a rule, as in refuse.
func (f *fields) problemBy(rule, name, format string, args ...any) {
	text := fmt.Sprintf("The field %q %s.", f.path+name, fmt.Sprintf(format, args...))
	*f.problems = append(*f.problems, problem{text, rule})
}

// has reports whether a field was sent.
func (f *fields) has(name string) bool {
	_, ok := f.values[name]
	return ok
}

// required adds a problem if a field was not sent.
func (f *fields) required(name string) {
	if !f.has(name) {
		f.problem(name, "is required")
	}
}

// read decodes a field into a pointer. A null is refused like any other wrong type. It reports whether there is a value.
func (f *fields) read(name, kind string, into any) bool {
	f.asked = append(f.asked, name)
	raw, ok := f.values[name]
	if !ok {
		return false
	}
	if string(raw) == "null" || json.Unmarshal(raw, into) != nil {
		f.problem(name, "must be %s", kind)
		return false
	}
	return true
}

// text reads a string of minLen to maxLen characters; absent is "".
func (f *fields) text(name string, minLen, maxLen int) string {
	var s string
	if !f.read(name, "a string", &s) {
		return ""
	}
	if n := utf8.RuneCountInString(s); n < minLen || n > maxLen {
		f.problem(name, "must have %d to %d characters, not %d", minLen, maxLen, n)
	}
	if strings.ContainsRune(s, 0) {
		f.problemBy("nul-character", name, "must not contain a NUL character")
	}
	return s
}

// id reads the ID of another object. The caller handles IDs that do not exist.
func (f *fields) id(name string) string { return f.text(name, 1, maxBody) }

// matching reads a string that has to match a pattern.
func (f *fields) matching(name string, pattern *regexp.Regexp, maxLen int) string {
	s := f.text(name, 1, maxLen)
	if s != "" && !pattern.MatchString(s) {
		f.problem(name, "must match %s", pattern)
	}
	return s
}

// enum reads a string that is one of the given values.
func (f *fields) enum(name string, values ...string) string { return f.enumBy("", name, values...) }

// enumBy is enum for values that a rule restricts, as in refuse, and the contract does not.
func (f *fields) enumBy(rule, name string, values ...string) string {
	var s string
	if f.read(name, "a string", &s) && !slices.Contains(values, s) {
		f.problemBy(rule, name, "must be one of %s", strings.Join(values, ", "))
	}
	return s
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// uuid reads a UUID and returns it in lower case; absent is "".
func (f *fields) uuid(name string) string {
	var s string
	if f.read(name, "a string", &s) && !uuidPattern.MatchString(s) {
		f.problem(name, "must be a UUID")
	}
	return strings.ToLower(s)
}

// boolean reads true or false; absent is false.
func (f *fields) boolean(name string) bool {
	var b bool
	f.read(name, "true or false", &b)
	return b
}

// maxInteger is the largest number up to which JSON carries every integer exactly.
const maxInteger = 1<<53 - 1

// integer reads a whole number between two bounds, which may be written as 1.0; absent is 0.
func (f *fields) integer(name string, minimum, maximum int64) int64 {
	var n float64
	switch {
	case !f.read(name, "an integer", &n):
	case n != math.Trunc(n):
		f.problem(name, "must be an integer")
	case n < float64(minimum) || n > float64(maximum):
		f.problem(name, "must be between %d and %d", minimum, maximum)
	default:
		return int64(n)
	}
	return 0
}

// uri reads an absolute URI.
func (f *fields) uri(name string) string {
	s := f.text(name, 0, maxBody)
	if f.has(name) && !isURI(s) {
		f.problem(name, "must be a URI with a scheme")
	}
	return s
}

func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

// uris reads a list of absolute URIs.
func (f *fields) uris(name string, maxItems, maxLen int) []string {
	var list []string
	var items []json.RawMessage
	if !f.read(name, "a list of strings", &items) {
		return nil
	}
	if len(items) > maxItems {
		f.problem(name, "must have at most %d items, not %d", maxItems, len(items))
	}
	for i, raw := range items {
		at := fmt.Sprintf("%s[%d]", name, i)
		var s string
		if string(raw) == "null" || json.Unmarshal(raw, &s) != nil {
			f.problem(at, "must be a string")
			continue
		}
		if n := utf8.RuneCountInString(s); n > maxLen {
			f.problem(at, "must have at most %d characters, not %d", maxLen, n)
		} else if !isURI(s) {
			f.problem(at, "must be a URI with a scheme")
		}
		list = append(list, s)
	}
	return list
}

// null reports whether a field was sent as null, for fields where null has a meaning.
func (f *fields) null(name string) bool {
	f.asked = append(f.asked, name)
	return string(f.values[name]) == "null"
}

// object reads a nested object; nil when absent. The caller asks for its fields and then calls unknown on it.
func (f *fields) object(name string) *fields {
	var raw json.RawMessage
	if !f.read(name, "an object", &raw) {
		return nil
	}
	return f.nested(name, raw)
}

func (f *fields) nested(name string, raw json.RawMessage) *fields {
	values, err := parseObject(raw)
	if err != nil {
		f.problem(name, "%v", err)
		return nil
	}
	return &fields{path: f.path + name + ".", values: values, problems: f.problems}
}

// objects reads a list of objects, each as object does, and reports whether there is one.
func (f *fields) objects(name string) (list []*fields, found bool) {
	var items []json.RawMessage
	if !f.read(name, "a list of objects", &items) {
		return nil, false
	}
	for i, raw := range items {
		list = append(list, f.nested(fmt.Sprintf("%s[%d]", name, i), raw))
	}
	return list, !slices.Contains(list, nil)
}
