package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// needService returns the run, and skips the test if there is none.
func needService(t *testing.T) *run {
	t.Helper()
	if current == nil {
		t.Skip("needs " + envBaseURL + " and " + envAPIKey + ", as `make testacc` requires them") //nolint:forbidigo // Without a service there is nothing to test.
	}
	return current
}

// connect returns a client of the service. The recorder checks all its requests.
func connect(t *testing.T) *client.Client {
	t.Helper()
	r := needService(t)
	c, err := r.connect(r.proxy)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// optIn returns the value of a variable. Without one, it skips the test.
func optIn(t *testing.T, variable string) string {
	t.Helper()
	needService(t)
	value := os.Getenv(variable)
	if value == "" {
		skip(t, variable, "not opted in")
	}
	return value
}

// skip skips a test, and notes it for the report. The variable would run the test; empty if none would. The service's own words
// follow a colon. They may name a person, so that the report leaves them out.
func skip(t *testing.T, variable, why string) {
	t.Helper()
	r := needService(t)
	reported, _, _ := strings.Cut(why, ": ")
	r.recorder.Skip(t.Name(), variable, reported)
	line := t.Name() + ": " + why
	if variable != "" {
		line += "; to run it, set " + variable
	}
	r.mu.Lock()
	r.skips = append(r.skips, line)
	r.mu.Unlock()
	t.Skip(why) //nolint:forbidigo // The caller has not opted in.
}

// deniedStatuses say that the key's owner, the organization's tier, or the service does not offer an operation.
var deniedStatuses = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// isDenied reports whether an operation is not available to the key's owner, or at all.
func isDenied(err error) bool {
	status := transport.StatusOf(err)
	// A 404 that is not one of the service's errors says that there is no such operation.
	return slices.Contains(deniedStatuses, status) || status == http.StatusNotFound && transport.IsForeign(err)
}

// skipIfDenied skips the test, with the service's own words, if the key's owner lacks a permission, or the organization a tier.
func skipIfDenied(t *testing.T, err error) {
	t.Helper()
	var api *transport.APIError
	if isDenied(err) && errors.As(err, &api) {
		skip(t, "", fmt.Sprintf("%s returned %d: %s", api.Op.Name, api.Status, api.Detail))
	}
}

// must ends the test at an error, as skipped if the operation was denied.
func must(t *testing.T, err error) {
	t.Helper()
	skipIfDenied(t, err)
	if err != nil {
		t.Fatal(err)
	}
}

var (
	blanks = regexp.MustCompile(`[\s│╷╵]+`)
	// deniedText is how the provider's errors quote such a response.
	deniedText = regexp.MustCompile(`(\w+) \([A-Z]+ [^)]+\) returned (401|402|403|405|501): [^│]*`)
)

// skipDenied is skipIfDenied for an error of the CLI. It is an ErrorCheck of the acceptance library.
func skipDenied(t *testing.T) func(error) error {
	return func(err error) error {
		if err == nil {
			return nil
		}
		text := blanks.ReplaceAllString(err.Error(), " ")
		if words := deniedText.FindString(text); words != "" {
			if i := strings.Index(words, ". "); i > 0 {
				words = words[:i+1]
			}
			skip(t, "", words)
		}
		return err
	}
}
