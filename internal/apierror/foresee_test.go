package apierror

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	left := client.LeftoverError{Found: []client.ExistsError{{Object: "session", ID: "1", ImportID: "import-1"}}}
	held := left
	held.MayBeHeld = true
	many := client.LeftoverError{MayBeHeld: true}
	for id := range 5 {
		many.Found = append(many.Found, client.ExistsError{Object: "session", ID: fmt.Sprint(id), ImportID: fmt.Sprint("import-", id)})
	}
	for name, tc := range map[string]struct {
		err      error
		severity diag.Severity
		want     []string
	}{
		"a name":     {&client.ExistsError{Object: "computer", Name: "a", ID: "1", ImportID: "1"}, diag.SeverityWarning, []string{`Name "a" Is Taken`, "moved block", "terraform import ADDRESS 1"}},
		"a leftover": {&left, diag.SeverityError, []string{"Cannot create computer: A run that was cut short may have left a session", ": 1.\n\nNothing of this plan was applied.\nIf a resource", "Only if an interrupted run of this configuration has left it, import it: terraform import ADDRESS import-1, or delete it"}},
		"a leftover that may be held": {fmt.Errorf("%w", &held), diag.SeverityWarning, []string{
			"An Interrupted Run May Have Left This: If a resource in the state holds it, nothing is to be done, nor if another configuration or a person has made it: a run that was cut short may have left a session",
			": 1. Where there is a state, terraform state list -id=ID names the resource that holds it.\n\n" +
				"Otherwise, before applying, import it at this address, so that no other one is made: terraform import ADDRESS import-1\n" +
				"If another one has been made already, import it at an address of its own, or delete the one that nobody needs.",
		}},
		"many that may be held": {&many, diag.SeverityWarning, []string{
			": 0, 1, 2 and 2 more. Where", "no other one is made: terraform import ADDRESS import-0 or terraform import ADDRESS import-1 or terraform import ADDRESS import-2\nIf",
		}},
		"a key":    {&refused, diag.SeverityError, []string{"Cannot plan computer", "answered 401: no.\nThis is said once, and concerns every new computer of the run.\n\n", "The API key was refused"}},
		"an owner": {&missing, diag.SeverityWarning, []string{"Cannot create computer", "Check the IDs"}},
		"an address": {&client.TransportError{Operation: "listComputers", Unsent: true, Err: dial}, diag.SeverityError,
			[]string{"refused.\nA server that this very apply makes must be applied first, with -target.\nThis is said once", "Check the network and base_url, then run again."}},
		"a slow server": {&client.TransportError{Operation: "listComputers", Timeout: "request_timeout", Err: context.DeadlineExceeded}, diag.SeverityError,
			[]string{"deadline exceeded.\nThis is said once", "raise request_timeout in the provider block. Run again."}},
		"a broken connection": {&client.TransportError{Operation: "listComputers", Err: errors.New("EOF")}, diag.SeverityError,
			[]string{"EOF.\nThis is said once", "Check the network and base_url, then run again."}},
	} {
		diags := Foreseen(&client.Client{}, "computer", tc.err, fields)
		if len(diags) != 1 || diags[0].Severity() != tc.severity {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		for _, want := range tc.want {
			text := diags[0].Summary() + ": " + diags[0].Detail()
			if !strings.Contains(text, want) {
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
