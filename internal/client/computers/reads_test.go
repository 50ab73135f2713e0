package computers

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

// Only a failed set-up proves that a computer was never active.
func TestComputer_setUpFailed(t *testing.T) {
	t.Parallel()
	clone, failed, installed := ProvisioningStep{ID: "clone", Status: StepCompleted}, ProvisioningStep{ID: "x", Status: StepFailed}, ProvisioningStep{ID: stepInstall, Status: StepFailed}
	for name, tc := range map[string]struct {
		status string
		steps  []ProvisioningStep
		failed string
		want   bool
	}{
		"failed":               {StatusError, []ProvisioningStep{clone, failed}, "x", true},
		"an error text":        {StatusError, []ProvisioningStep{clone, {ID: "y", Status: "in_progress", Error: "disk full"}}, "y", true},
		"error":                {StatusError, []ProvisioningStep{{ID: "y", Status: "error"}}, "y", true},
		"no step failed":       {StatusError, []ProvisioningStep{clone, {ID: "y", Status: "pending"}}, "", false},
		"no steps":             {StatusError, nil, "", false},
		"active":               {StatusActive, []ProvisioningStep{failed}, "x", false},
		"the installation":     {StatusError, []ProvisioningStep{clone, installed}, stepInstall, false},
		"a later step is done": {StatusError, []ProvisioningStep{failed, clone}, "x", false},
	} {
		c := &Computer{Status: tc.status, ProvisioningSteps: tc.steps}
		at := c.FailedStep()
		if c.SetUpFailed() != tc.want || (at < 0) != (tc.failed == "") || at >= 0 && tc.steps[at].ID != tc.failed {
			t.Errorf("%s: %t, the failed step is %d", name, c.SetUpFailed(), at)
		}
	}
}

func TestOwnComputer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		found    Computer
		callers  bool
		requests int
	}{
		"a human's":            {Computer{ID: "x", OwnerPrincipalKind: "human", OwnerID: "user"}, true, 0},
		"of the key's account": {Computer{ID: "c1", OwnerPrincipalKind: ownerService, OwnerID: "sa_1"}, true, 1},
		"of another account":   {Computer{ID: "c2", OwnerPrincipalKind: ownerService, OwnerID: "sa_2"}, false, 1},
	} {
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			clienttest.RespondJSON(w, 200, `{"computers":[{"id":"c1","name":"a","providerType":"byom"}]}`)
		})
		if err := c.CompleteOwner(t.Context(), &tc.found); err != nil || tc.found.IsCallers != tc.callers || rec.Count(http.MethodGet) != tc.requests {
			t.Errorf("%s: the caller's is %t, %v, after %d requests", name, tc.found.IsCallers, err, rec.Count(http.MethodGet))
		}
	}
}

// A computer that a lost request may have created must match the request in all returned fields.
func TestCreateComputerRequest_isWanted(t *testing.T) {
	t.Parallel()
	full := CreateRequest{
		Name: "a", Provider: "managed-a", HostID: "host-1", RemoteUser: "dev", ServiceAccountID: "sa_1",
		Source: &CreateSource{Kind: "template", TemplateID: "tpl", SourceComputerID: "src"},
	}
	made := Computer{
		Name: "a", ProviderType: "managed-a", HostID: "HOST-1", RemoteUser: "dev", OwnerID: "sa_1",
		Source: &Source{Kind: "template", TemplateID: "tpl", ComputerID: "src"},
	}
	source := func(s Source) func(*Computer) { return func(c *Computer) { c.Source = &s } }
	for name, tc := range map[string]struct {
		body   CreateRequest
		change func(*Computer)
		want   bool
	}{
		"all as asked for":          {full, func(*Computer) {}, true},
		"another name":              {full, func(c *Computer) { c.Name = "b" }, false},
		"another provider":          {full, func(c *Computer) { c.ProviderType = "managed-b" }, false},
		"another host":              {full, func(c *Computer) { c.HostID = "host-2" }, false},
		"another user":              {full, func(c *Computer) { c.RemoteUser = "root" }, false},
		"another owner":             {full, func(c *Computer) { c.OwnerID = "sa_2" }, false},
		"an owner nobody tells":     {full, func(c *Computer) { c.OwnerID = "" }, true},
		"a source nobody tells":     {full, func(c *Computer) { c.Source = nil }, true},
		"a source of another kind":  {full, source(Source{Kind: "x", TemplateID: "tpl", ComputerID: "src"}), false},
		"a source of another model": {full, source(Source{Kind: "template", TemplateID: "x", ComputerID: "src"}), false},
		"another source computer":   {full, source(Source{Kind: "template", TemplateID: "tpl", ComputerID: "x"}), false},
		"only the name was asked":   {CreateRequest{Name: "a"}, func(c *Computer) { c.Source = nil }, true},
		"a source nobody asked for": {CreateRequest{Name: "a"}, func(*Computer) {}, false},
	} {
		c := made
		tc.change(&c)
		if got := tc.body.isWanted(&c); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestUpdateComputerRequest_matches(t *testing.T) {
	t.Parallel()
	name, host, user, other := "a", "HOST-1", "dev", "x"
	present := &Computer{Name: name, HostID: "host-1", RemoteUser: user}
	for what, tc := range map[string]struct {
		body UpdateRequest
		want bool
	}{
		"all":          {UpdateRequest{Name: &name, HostID: &host, RemoteUser: &user}, true},
		"another name": {UpdateRequest{Name: &other, HostID: &host, RemoteUser: &user}, false},
		"another host": {UpdateRequest{Name: &name, HostID: &other, RemoteUser: &user}, false},
		"another user": {UpdateRequest{Name: &name, HostID: &host, RemoteUser: &other}, false},
	} {
		if got := tc.body.matches(present); got != tc.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
