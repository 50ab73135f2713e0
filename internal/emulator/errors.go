package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

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
