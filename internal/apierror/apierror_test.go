package apierror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

func TestFor(t *testing.T) {
	t.Parallel()
	fields := Fields{"hostId": path.Root("host_id"), "name": path.Root("name")}
	api := func(status int, detail string) error {
		return fmt.Errorf("wrapped: %w", &client.APIError{Operation: "createThing", Method: "POST", Route: "/things", Status: status, Detail: detail, RetryAfter: "7"})
	}
	lost := &client.LostError{Object: "computer", Name: "n", Err: errors.New("createThing: broken")}
	exists := &client.ExistsError{Object: "computer", Name: "n", ID: "id-1", ImportID: "import-1", CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	for name, tc := range map[string]struct {
		err  error
		at   string
		want []string
	}{
		"400 names a field":  {api(400, "hostId must be a UUID"), "host_id", []string{"createThing", "hostId must be a UUID", "Change this attribute"}},
		"400 names none":     {api(400, "nope"), "", []string{"nope", "Change the configuration"}},
		"422":                {api(422, "the name is odd"), "name", []string{"422"}},
		"401":                {api(401, "who?"), "", []string{"AGENTYARD_API_KEY"}},
		"402":                {api(402, "pay"), "", []string{"plan", "Upgrade"}},
		"403":                {api(403, "no"), "", []string{"Manager"}},
		"404":                {api(404, "no"), "", []string{"does not exist", "Check the IDs"}},
		"409 names a field":  {api(409, "hostId is taken"), "host_id", []string{"terraform import"}},
		"409 names none":     {api(409, "busy"), "", []string{"apply again"}},
		"424":                {api(424, "no daemon"), "", []string{"daemon"}},
		"429":                {api(429, "slow"), "", []string{"requests_per_second", "Retry-After 7"}},
		"500":                {api(500, "oops"), "", []string{"Apply again later"}},
		"501":                {api(501, "later"), "", []string{"does not offer"}},
		"302":                {api(302, "a redirect"), "", []string{"base_url"}},
		"sent":               {&client.TransportError{Operation: "createThing", Err: errors.New("EOF")}, "", []string{"EOF", "may have acted"}},
		"unsent":             {&client.TransportError{Operation: "createThing", Unsent: true, Err: errors.New("refused")}, "", []string{"base_url"}},
		"interrupted":        {context.Canceled, "", []string{"interrupted"}},
		"lost":               {lost, "", []string{"createThing", "Apply again"}},
		"lost and ambiguous": {errors.Join(lost, exists), "", []string{"terraform import ADDRESS import-1"}},
		"exists":             {exists, "name", []string{"id-1", "2026-03-01T00:00:00Z", "terraform import ADDRESS import-1", "Nothing was created"}},
		"unconfigured":       {&client.UnconfiguredError{Setting: "base_url"}, "", []string{"apply what base_url depends on first"}},
		"anything else":      {errors.New("odd"), "", []string{"Odd."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := For("create", "computer", tc.err, fields)
			if len(diags) != 1 || diags[0].Severity() != diag.SeverityError || diags[0].Summary() != "Cannot create computer" {
				t.Fatalf("got %v", diags)
			}
			at := ""
			if d, ok := diags[0].(diag.DiagnosticWithPath); ok {
				at = d.Path().String()
			}
			if at != tc.at {
				t.Errorf("the error is at %q, want %q", at, tc.at)
			}
			for _, want := range tc.want {
				if !strings.Contains(diags[0].Detail(), want) {
					t.Errorf("%q is not in %q", want, diags[0].Detail())
				}
			}
			if !strings.HasSuffix(strings.TrimSpace(diags[0].Detail()), ".") && !strings.Contains(diags[0].Detail(), "ADDRESS") {
				t.Errorf("no sentence: %q", diags[0].Detail())
			}
		})
	}
}
