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
