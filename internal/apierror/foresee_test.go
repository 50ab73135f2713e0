package apierror

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

func TestForeseen(t *testing.T) {
	t.Parallel()
	fields := Fields{"name": path.Root("name")}
	list := &client.APIError{Operation: "listComputers", Method: "GET", Route: "/api/v0/computers", Detail: "no", FromService: true}
	refused, missing := *list, *list
	refused.Status, missing.Status = 401, 404
	for name, tc := range map[string]struct {
		err      error
		severity diag.Severity
		want     []string
	}{
		"a name":   {&client.ExistsError{Object: "computer", Name: "a", ID: "1", ImportID: "1"}, diag.SeverityWarning, []string{`Name "a" Is Taken`, "moved block", "terraform import ADDRESS 1"}},
		"a key":    {&refused, diag.SeverityError, []string{"Cannot plan computer", "answered 401: no.\nThis is said once, and concerns every new computer of the run.\n\n", "The API key was refused"}},
		"an owner": {&missing, diag.SeverityWarning, []string{"Cannot create computer", "Check the IDs"}},
		"an address": {&client.TransportError{Operation: "listComputers", Err: fmt.Errorf("connection refused")}, diag.SeverityError,
			[]string{"refused.\nA server that this very apply makes must be applied first, with -target.\nThis is said once", "Check the network and base_url, then run again."}},
	} {
		diags := Foreseen(&client.Client{}, "computer", tc.err, fields)
		if len(diags) != 1 || diags[0].Severity() != tc.severity {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		for _, want := range tc.want {
			if text := diags[0].Summary() + ": " + diags[0].Detail(); !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
	}
	if diags := Foreseen(nil, "computer", nil); len(diags) != 0 {
		t.Errorf("nothing: %v", diags)
	}
}

// The CLIs fold warnings with the same summary: the first ten are told, and the others counted.
func TestForeseen_manyNamesAreFolded(t *testing.T) {
	t.Parallel()
	c, summaries := &client.Client{}, map[string]int{}
	for n := range 30 {
		for _, d := range Foreseen(c, "computer", &client.ExistsError{Object: "computer", Name: fmt.Sprint(n)}) {
			summaries[d.Summary()]++
		}
	}
	if len(summaries) != 11 || summaries["Names Are Taken"] != 20 {
		t.Errorf("the summaries are %v", summaries)
	}
}
