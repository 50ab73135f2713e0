package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// With a key of another organization, every object of this one is missing. The provider cannot know the key's organization.
func TestNotFound_withAnotherKey(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hint = "It was last read with another API key or key_owner. If that key belongs to another organization, do not apply."
	config := acctest.Values{"name": "ci"}
	first, i := e.Created(t, "agentyard_service_account", config)
	keyConfig := acctest.Values{"service_account_id": i.ID(), "name": "run"}
	_, key := e.Created(t, "agentyard_api_key", keyConfig)
	others := acctest.Values{"api_key": e.MemberKey("second@agentyard.example", emulator.RoleManager)}
	second := acctest.NewProcess(t, e, others)
	for _, unchanged := range []acctest.Outcome{second.Plan(i.Clone(), config), second.Plan(key.Clone(), keyConfig), first.Plan(i, config)} {
		if unchanged.Action != acctest.ActionNone || unchanged.WarningText() != "" {
			t.Errorf("another key: %s", unchanged)
		}
	}

	e.API(http.MethodDelete, "/api/v0/service-accounts/"+i.ID(), nil, nil)
	for name, tc := range map[string]struct {
		settings acctest.Values
		hint     string
	}{
		"the same key": {nil, ""},
		"another key":  {others, hint},
	} {
		for gone, config := range map[*acctest.Instance]acctest.Values{i: config, key: keyConfig} {
			out := acctest.NewProcess(t, e, tc.settings).Plan(gone.Clone(), config)
			if out.Action != acctest.ActionCreate || !strings.Contains(out.WarningText(), " not found: ") || strings.Contains(out.WarningText(), "last read with") != (tc.hint != "") || !strings.Contains(out.WarningText(), tc.hint) {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

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
