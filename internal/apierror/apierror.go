// Package apierror is the one translator of the client's errors into diagnostics.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// Fields names the attribute that stands for a field of the API, so that an error about the field is shown at the attribute.
type Fields map[string]path.Path

// For says that verb ("create") failed on object ("computer"), what the service answered, and what to do about it.
func For(verb, object string, err error, fields ...Fields) diag.Diagnostics {
	summary := "Cannot " + verb + " " + object

	var exists *client.ExistsError
	var lost *client.LostError
	var missing *client.UnconfiguredError
	var api *client.APIError
	var transport *client.TransportError
	switch {
	case errors.As(err, &lost):
		detail := sentence(lost.Error()) + "\n\nIt may still appear. Apply again: an object that exists by then is reported with its ID and not created twice."
		if errors.As(err, &exists) {
			detail = sentence(lost.Error()) + " " + describeExisting(exists)
		}
		return one(diag.NewErrorDiagnostic(summary, detail))
	case errors.As(err, &exists):
		return one(atPath("name", fields, summary, sentence(exists.Error())+" Nothing was created. "+describeExisting(exists)))
	case errors.As(err, &missing):
		return one(diag.NewErrorDiagnostic(summary, sentence(missing.Error())))
	case errors.As(err, &api):
		return one(fromAPI(summary, verb, object, api, fields))
	case errors.Is(err, context.Canceled):
		return one(diag.NewErrorDiagnostic(summary, "The run was interrupted: "+sentence(err.Error())+" Apply again to continue."))
	case errors.As(err, &transport):
		remedy := "Check the network and base_url, then apply again."
		if !transport.Unsent {
			remedy += " The service may have acted on the request; the next refresh shows whether it did."
		}
		return one(diag.NewErrorDiagnostic(summary, sentence(transport.Error())+"\n\n"+remedy))
	}
	return one(diag.NewErrorDiagnostic(summary, sentence(err.Error())))
}

func describeExisting(e *client.ExistsError) string {
	text := fmt.Sprintf("To manage it here, import it: terraform import ADDRESS %s", e.ImportID)
	if e.Object == "API key" {
		text += fmt.Sprintf("\nIf it is a leftover of an interrupted run, revoke it: terraform apply -invoke=action.agentyard_api_key_revoke.NAME, with key_id = %q.", e.ID)
	} else {
		text += "\nOr choose another name, or delete it at the service."
	}
	return text
}

func fromAPI(summary, verb, object string, e *client.APIError, fields []Fields) diag.Diagnostic {
	detail := sentence(e.Error())
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if at, ok := fieldIn(e.Detail, fields); ok {
			return diag.NewAttributeErrorDiagnostic(at, summary, detail+"\n\nChange this attribute to what the service accepts.")
		}
		detail += "\n\nChange the configuration to what the service accepts."
	case http.StatusUnauthorized:
		detail += "\n\nThe API key was refused: it is wrong, revoked or expired. Set api_key (or AGENTYARD_API_KEY) to a live key."
	case http.StatusPaymentRequired:
		detail += "\n\nThe organization's plan does not include this. Upgrade the plan, or remove the " + object + " from the configuration."
	case http.StatusForbidden:
		detail += "\n\nThe key's owner lacks the role, or the organization's settings forbid this. Use the key of a human with the Manager role or higher where a service account or another owner is concerned."
	case http.StatusNotFound:
		detail += "\n\nThe " + object + ", or something it refers to, does not exist or is not visible to this key. Check the IDs."
	case http.StatusConflict:
		if at, ok := fieldIn(e.Detail, fields); ok {
			return diag.NewAttributeErrorDiagnostic(at, summary, detail+"\n\nSomething else at the service holds this value. Choose another one, or import what holds it: terraform import ADDRESS ID")
		}
		detail += "\n\nThe service is in a state that does not allow this now. Resolve the conflict that it names, or wait until its work has ended, then apply again."
	case http.StatusTooManyRequests:
		detail += "\n\nThe service's rate limit was met and retries are used up."
		if e.RetryAfter != "" {
			detail += " The service asks to wait: Retry-After " + e.RetryAfter + "."
		}
		detail += " Set requests_per_second in the provider block to stay below the limit, or raise max_retries."
	case http.StatusFailedDependency:
		detail += "\n\nThe computer's daemon or the file storage could not be reached. Check that the computer is active, then try again."
	case http.StatusNotImplemented:
		detail += "\n\nThis server does not offer the operation."
	default:
		if e.Status >= http.StatusInternalServerError {
			detail += "\n\nThe service failed, and retries are used up where they are safe. Apply again later; what exists by then is found."
		} else {
			detail += "\n\nCheck base_url: the answer is not one that the service gives to this " + verb + "."
		}
	}
	return diag.NewErrorDiagnostic(summary, detail)
}

var words = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// fieldIn finds the first field of the API that a text names.
func fieldIn(text string, fields []Fields) (path.Path, bool) {
	for _, word := range words.FindAllString(text, -1) {
		for _, known := range fields {
			if at, ok := known[word]; ok {
				return at, true
			}
		}
	}
	return path.Empty(), false
}

func atPath(field string, fields []Fields, summary, detail string) diag.Diagnostic {
	for _, known := range fields {
		if at, ok := known[field]; ok {
			return diag.NewAttributeErrorDiagnostic(at, summary, detail)
		}
	}
	return diag.NewErrorDiagnostic(summary, detail)
}

func one(d diag.Diagnostic) diag.Diagnostics { return diag.Diagnostics{d} }

// sentence starts with a capital letter and ends with a period. An operation's name at the start stays as it is spelled.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); first == strings.ToLower(first) {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") {
		s += "."
	}
	return s
}
