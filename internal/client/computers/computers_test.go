package computers

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area areatest.New[*Client] = func(conn *transport.Conn) *Client { return New(conn, serviceaccounts.New(conn)) }

func created(w http.ResponseWriter, id string) {
	clienttest.RespondJSON(w, 201, fmt.Sprintf(`{"id":%q,"name":"mine","providerType":"byom"}`, id))
}

// create.Once proves how; here only which computer it is, and that a 409 about the host ID is no name that is taken.
func TestCreateComputer_isFoundAfterALoss(t *testing.T) {
	t.Parallel()
	for answer, isFound := range map[string]bool{"drop": true, `409 {"detail":"hostId is assigned"}`: false} {
		listed := ""
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Method == http.MethodGet {
				clienttest.RespondJSON(w, 200, `{"computers":[`+listed+`]}`)
				return
			}
			if answer == "drop" {
				listed = fmt.Sprintf(`{"id":"new","name":"mine","providerType":"byom","createdAt":%d}`, clienttest.Start.UnixMilli())
			}
			clienttest.Say(w, answer)
		})
		got, err := c.Create(t.Context(), CreateRequest{Name: "mine"})
		if isFound && (err != nil || got.ID != "new") || !isFound && !clienttest.Is[*transport.APIError](err) {
			t.Errorf("%s: got %+v, %v", answer, got, err)
		}
		rec.WantCount(t, http.MethodPost, 1)
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

func TestComputer_SetUpFailed(t *testing.T) {
	t.Parallel()
	failed := ProvisioningStep{ID: "create-computer", Status: StepFailed, Error: "no disk"}
	install := ProvisioningStep{ID: stepInstall, Status: StepFailed, Error: "no lock file"}
	for name, tc := range map[string]struct {
		computer Computer
		want     bool
	}{
		"a step of the set-up":     {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{failed}}, true},
		"active since":             {Computer{Status: StatusActive, ProvisioningSteps: []ProvisioningStep{failed}}, false},
		"an installation":          {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: StepCompleted}, install}}, false},
		"no step is told":          {Computer{Status: StatusError}, false},
		"another word for a state": {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: "skipped"}}}, false},
	} {
		if got := tc.computer.SetUpFailed(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCreateFleet_refusesAComputerThatIsListedTwice(t *testing.T) {
	t.Parallel()
	one := Computer{ID: "c1", Name: "f-1", ProviderType: "managed-a", Status: StatusActive}
	result := &BulkCreateResult{Computers: []Computer{one, one}, RequestedQuantity: 2}
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, 200, `{"computers":[]}`)
	})
	snapshot, err := c.listings.Snapshot(t.Context(), "", inFleet("f"))
	clienttest.Must(t, err)
	if got := batchProblem(result, BulkCreateRequest{Quantity: 2, NamePrefix: "f"}, snapshot); got != "it contains computer c1 twice" {
		t.Errorf("got %q", got)
	}
}
