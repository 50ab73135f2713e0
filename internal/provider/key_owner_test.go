package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A pipeline with a new key in each run recognizes the owner of its objects, and can create what was deleted elsewhere.
func TestKeyOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name": "dev", "wait_for_active": false}
	i := e.NewInstance(t, "agentyard_computer")
	acctest.NewProcess(t, e, acctest.Values{"key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionCreate)
	acctest.NewProcess(t, e, acctest.Values{"key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionNone)
	e.API(http.MethodDelete, "/api/v0/computers/"+i.ID(), nil, nil)

	newKey := e.MemberKey("second@agentyard.example", emulator.RoleManager)
	stranger := acctest.NewProcess(t, e, acctest.Values{"api_key": newKey, "key_owner": "blue"}).Plan(i.Clone(), config)
	stranger.MustFail(t, "", i.ID()+" is not visible to the provider's API key. It was last read with another API key or key_owner.", "If the computer was deleted, run terraform state rm ADDRESS. Otherwise, use a key of its owner.")
	if strings.Contains(stranger.Text(), "set key_owner") {
		t.Errorf("with a key_owner: %s", stranger)
	}
	acctest.NewProcess(t, e, acctest.Values{"api_key": newKey}).Plan(i.Clone(), config).MustFail(t, "", "If each run uses a new key, set key_owner in the provider block")
	acctest.NewProcess(t, e, acctest.Values{"api_key": newKey, "key_owner": "ci"}).Apply(i, config).MustDo(t, acctest.ActionCreate)
}
