package computers

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

var area areatest.New[*Client] = func(conn *transport.Conn) *Client { return New(conn, serviceaccounts.New(conn)) }

func created(w http.ResponseWriter, id string) {
	clienttest.RespondJSON(w, 201, fmt.Sprintf(`{"id":%q,"name":"mine","providerType":"byom"}`, id))
}

// The service says which names it takes for equal.
func TestCreateComputer_besideAnAlmostEqualName(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(call string) string {
		if strings.HasPrefix(call, http.MethodPost) {
			return `201 {"id":"new","name":"dev ","providerType":"byom"}`
		}
		return `200 {"computers":[{"id":"other","name":"dev","providerType":"byom"}]}`
	})
	if made, err := c.Create(t.Context(), CreateRequest{Name: "dev "}); err != nil || made.ID != "new" {
		t.Errorf("got %+v, %v", made, err)
	}
}

// The service returns the computer that it created earlier for a software draft.
func TestCreateComputer_withAUsedDraft(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodGet {
			clienttest.RespondJSON(w, 200, `{"computers":[{"id":"used","name":"mine too","providerType":"byom"}]}`)
			return
		}
		created(w, "used")
	})
	_, err := c.Create(t.Context(), CreateRequest{Name: "mine", Source: &CreateSource{Kind: "template", SoftwareDraft: &SoftwareDraft{}}})
	var lost *create.LostError
	if !errors.As(err, &lost) || lost.Found[0].ID != "used" || rec.Count(http.MethodPost) != 1 {
		t.Errorf("got %v after %d POSTs", err, rec.Count(http.MethodPost))
	}
}

func TestUpdateComputer_aConflictWithItselfIsSuccess(t *testing.T) {
	t.Parallel()
	host := "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	for present, wantOK := range map[string]bool{host: true, "another": false} {
		c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Method == http.MethodPatch {
				clienttest.RespondJSON(w, 409, `{"detail":"hostId is assigned","status":409,"title":"Conflict"}`)
				return
			}
			clienttest.RespondJSON(w, 200, fmt.Sprintf(`{"id":"c1","name":"a","providerType":"byom","hostId":%q}`, present))
		})
		_, err := c.Update(t.Context(), "c1", "", UpdateRequest{HostID: &host})
		if (err == nil) != wantOK || !wantOK && !transport.IsConflict(err) {
			t.Errorf("%s: got %v", present, err)
		}
	}
}

// Errors name objects by their IDs, and by their creation times if the service returns them.
func TestErrors_nameWhatIsThere(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	one, two := wire.Ref{Object: "computer", Name: "a", ID: "c1"}, wire.Ref{ID: "c2", CreatedAt: at}
	broken := errors.New("broken")
	for want, err := range map[string]error{
		`the computer "a" (c1, created at 2026-03-01T00:00:00Z) already exists`:                                                               &create.ExistsError{Found: []wire.Ref{{Object: "computer", Name: "a", ID: "c1", CreatedAt: at}}},
		`the computer "a" (c1) already exists, and so do others: c2 (created at 2026-03-01T00:00:00Z)`:                                        &create.ExistsError{Found: []wire.Ref{one, two}},
		`the request to create the computer "a" has an unknown outcome, and no such computer was found: broken`:                               &create.LostError{Object: "computer", Name: "a", Err: broken},
		`the request to create the computer "a" has an unknown outcome, and it may have created "a" (c1): broken; again`:                      &create.LostError{Object: "computer", Name: "a", Found: []wire.Ref{one}, Err: errors.Join(broken, errors.New("again"))},
		`the request to create the session on the computer 7 has an unknown outcome, and no such session on the computer 7 was found: broken`: &create.LostError{Object: "session on the computer 7", Err: broken},
		`the request to create the session has an unknown outcome, and it may have created "a" (c1): the response has another object`:         create.AnotherObject("session", "", one),
		`the object does not exist: broken`: &collection.MissingError{Err: broken},
	} {
		check.Is(t, "the error", err.Error(), want)
	}
}

func TestComputer_reportedState(t *testing.T) {
	t.Parallel()
	c := &Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{{Name: "Install", Status: "failed", Error: "planted"}}}
	check.Is(t, "the state", c.reportedState(), "error: Install")
	c.ProvisioningSteps = nil
	check.Is(t, "the state", c.reportedState(), "error")
}

// Only a failed set-up proves that a computer was never active.
func TestComputer_failedBeforeUse(t *testing.T) {
	t.Parallel()
	clone, failed, installed := ProvisioningStep{ID: "clone", Status: "completed"}, ProvisioningStep{ID: "x", Status: "failed"}, ProvisioningStep{ID: "install-dependencies", Status: "failed"}
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
		"the installation":     {StatusError, []ProvisioningStep{clone, installed}, "install-dependencies", false},
		"a later step is done": {StatusError, []ProvisioningStep{failed, clone}, "x", false},
		"the one before it":    {StatusError, []ProvisioningStep{failed, installed}, "x", true},
		"the one after it":     {StatusError, []ProvisioningStep{clone, installed, failed}, "x", true},
	} {
		c := &Computer{Status: tc.status, ProvisioningSteps: tc.steps}
		at := c.FailedStep()
		if c.FailedBeforeUse() != tc.want || (at < 0) != (tc.failed == "") || at >= 0 && tc.steps[at].ID != tc.failed {
			t.Errorf("%s: %t, the failed step is %d", name, c.FailedBeforeUse(), at)
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

// otherwise calls see with copies of body in which one field has another value. The exceptions are fields that see cannot notice.
func otherwise[T any](t *testing.T, body T, see func(name string, body T), exceptions ...string) {
	t.Helper()
	text := "other"
	typ := reflect.TypeFor[T]()
	for i := range typ.NumField() {
		field, changed := typ.Field(i), body
		if slices.Contains(exceptions, field.Name) {
			continue
		}
		switch at := reflect.ValueOf(&changed).Elem().Field(i); at.Interface().(type) {
		case string:
			at.SetString(text)
		case *string:
			at.Set(reflect.ValueOf(&text))
		default:
			t.Fatalf("%s: give it another value, or except it", field.Name)
		}
		see(field.Name, changed)
	}
}

// A computer that a lost request may have created must match the request in all returned fields.
func TestCreateComputerRequest_isWanted(t *testing.T) {
	t.Parallel()
	source := CreateSource{Kind: "template", TemplateID: "tpl", SourceComputerID: "src"}
	full := CreateRequest{Name: "a", Provider: "managed-a", HostID: "host-1", RemoteUser: "dev", ServiceAccountID: "sa_1", Source: &source}
	made := Computer{
		Name: "a", ProviderType: "managed-a", HostID: "HOST-1", RemoteUser: "dev", OwnerID: "sa_1",
		Source: &Source{Kind: "template", TemplateID: "tpl", ComputerID: "SRC"},
	}
	for name, tc := range map[string]struct {
		body   CreateRequest
		change func(*Computer)
		want   bool
	}{
		"all as asked for":          {full, func(*Computer) {}, true},
		"an owner nobody tells":     {full, func(c *Computer) { c.OwnerID = "" }, true},
		"a source nobody tells":     {full, func(c *Computer) { c.Source = nil }, true},
		"only the name was asked":   {CreateRequest{Name: "a"}, func(c *Computer) { c.Source = nil }, true},
		"a source nobody asked for": {CreateRequest{Name: "a"}, func(*Computer) {}, false},
	} {
		c := made
		tc.change(&c)
		check.Is(t, name, tc.body.isWanted(&c), tc.want)
	}
	// The caller compares the name. Source is below.
	otherwise(t, full, func(name string, body CreateRequest) {
		check.Is(t, "another "+name, body.isWanted(&made), false)
	}, "Name", "Repos", "AutoInstallDeps", "Source")
	otherwise(t, source, func(name string, source CreateSource) {
		check.Is(t, "another "+name+" of the source", (&CreateRequest{Source: &source}).isWanted(&made), false)
	}, "IsListed", "SoftwareDraft")
}

func TestUpdateComputerRequest_matches(t *testing.T) {
	t.Parallel()
	name, host, user := "a", "HOST-1", "dev"
	body, present := UpdateRequest{Name: &name, HostID: &host, RemoteUser: &user}, &Computer{Name: name, HostID: "host-1", RemoteUser: user}
	check.Is(t, "all", body.matches(present), true)
	otherwise(t, body, func(name string, body UpdateRequest) {
		check.Is(t, "another "+name, body.matches(present), false)
	})
}
