package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// fields reads a JSON object of a request that the contract allows. Rules that no schema can express add problems.
type fields struct {
	path     string // "" for the body, "source." for a nested object.
	values   map[string]json.RawMessage
	problems *[]problem
}

// problem is one thing that is wrong, and the rule behind it if it is not the contract's schema.
type problem struct{ text, rule string }

// refuse is a 400 by a rule that no schema can express. The contract lists these rules.
func refuse(rule, format string, args ...any) error {
	return invalidFor(problem{fmt.Sprintf(format, args...), rule})
}

// invalidFor is a 400 that lists what is wrong: either all problems have a rule, or none.
func invalidFor(problems ...problem) error {
	e := &apiError{status: http.StatusBadRequest, header: http.Header{}}
	var rules []string
	for _, p := range problems {
		e.problems, rules = append(e.problems, p.text), append(rules, p.rule)
	}
	e.detail = strings.Join(e.problems, " ")
	slices.Sort(rules)
	if text := strings.Join(slices.Compact(rules), ", "); text != "" {
		e.header.Set(RuleHeader, text)
	}
	return e
}

// fields returns those of the body; an empty one has none.
func (r *request) fields() *fields {
	f := &fields{problems: &[]problem{}}
	_ = json.Unmarshal(r.body, &f.values) // The contract was asked.
	return f
}

// done reports everything that was wrong as one 400.
func (f *fields) done() error {
	if len(*f.problems) == 0 {
		return nil
	}
	return invalidFor(*f.problems...)
}

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

// null reports whether a field was sent as null.
func (f *fields) null(name string) bool { return string(f.values[name]) == "null" }

// text reads a string; absent is "".
func (f *fields) text(name string) string {
	var s string
	_ = json.Unmarshal(f.values[name], &s)
	return s
}

// enumBy reads a string that a rule restricts to some values, as in refuse.
func (f *fields) enumBy(rule, name string, values ...string) string {
	s := f.text(name)
	if f.has(name) && !slices.Contains(values, s) {
		f.problemBy(rule, name, "must be one of %s", strings.Join(values, ", "))
	}
	return s
}

// uuid reads a UUID and returns it in lower case; absent is "".
func (f *fields) uuid(name string) string { return strings.ToLower(f.text(name)) }

// boolean reads true or false; absent is false.
func (f *fields) boolean(name string) (b bool) {
	_ = json.Unmarshal(f.values[name], &b)
	return b
}

// maxInteger is the largest number up to which JSON carries every integer exactly.
const maxInteger = 1<<53 - 1

// integer reads a whole number, which may be written as 1.0; absent is 0.
func (f *fields) integer(name string) int64 {
	var n float64
	_ = json.Unmarshal(f.values[name], &n)
	return int64(min(n, 1<<62))
}

// texts reads a list of strings.
func (f *fields) texts(name string) (list []string) {
	_ = json.Unmarshal(f.values[name], &list)
	return list
}

// object reads a nested object; nil when absent.
func (f *fields) object(name string) *fields {
	if !f.has(name) {
		return nil
	}
	return f.nested(name, f.values[name])
}

func (f *fields) nested(name string, raw json.RawMessage) *fields {
	inner := &fields{path: f.path + name + ".", problems: f.problems}
	_ = json.Unmarshal(raw, &inner.values)
	return inner
}

// objects reads a list of objects, each as object does.
func (f *fields) objects(name string) (list []*fields) {
	var items []json.RawMessage
	_ = json.Unmarshal(f.values[name], &items)
	for i, raw := range items {
		list = append(list, f.nested(fmt.Sprintf("%s[%d]", name, i), raw))
	}
	return list
}

// apiError is a response other than success. A handler that returns one changes nothing: its transaction is rolled back.
type apiError struct {
	status int
	detail string
	// problems are the findings of a failed validation, for the error body that lists them.
	problems []string
	header   http.Header
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.detail) }

func fail(status int, format string, args ...any) error {
	return &apiError{status: status, detail: fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return fail(http.StatusBadRequest, format, args...)
}

// RuleHeader names the rules behind a 400 for a request that the contract's schemas allow.
const RuleHeader = contract.RuleHeader

func forbidden(format string, args ...any) error { return fail(http.StatusForbidden, format, args...) }
func notFound(format string, args ...any) error  { return fail(http.StatusNotFound, format, args...) }
func conflict(format string, args ...any) error  { return fail(http.StatusConflict, format, args...) }

func unauthorized(detail string) error {
	return &apiError{status: http.StatusUnauthorized, detail: detail, header: http.Header{"Www-Authenticate": {"Bearer"}}}
}

// asAPIError turns any error into a response; one that is not an apiError is a defect or a failing disk: 500.
func asAPIError(err error) *apiError {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known
	}
	return &apiError{status: http.StatusInternalServerError, detail: "The emulator failed: " + err.Error() + "."}
}

// writeError answers in the form that belongs to the path.
func (e *Emulator) writeError(w http.ResponseWriter, r *http.Request, err error) {
	problem := asAPIError(err)
	for name, values := range problem.header {
		w.Header()[name] = values
	}
	body := values{"detail": problem.detail, "status": problem.status, "title": http.StatusText(problem.status)}
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		body["requestId"] = newID("req_", e.clock.Now())
	case e.opts.ValidationErrorsArray && len(problem.problems) > 0:
		delete(body, "detail")
		body["errors"] = views(problem.problems, func(text string) values { return values{"message": text} })
	}
	e.writeJSON(w, problem.status, body)
}

func (e *Emulator) writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // A defect: every body is a plain struct of ours.
		e.log.Error("encode an answer", "error", err)
		status, data = http.StatusInternalServerError, []byte(`{"detail":"The emulator could not encode its answer.","status":500,"title":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(data); err != nil {
		e.log.Debug("the client went away", "error", err)
	}
}
