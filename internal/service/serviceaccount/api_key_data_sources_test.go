package serviceaccount_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAPIKeyList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ci, cd := newAccount(e, "ci"), newAccount(e, "cd")
	newAccount(e, "without keys")
	newKey(e, ci, "live")
	newKey(e, cd, "other")
	revokeKey(e, ci, newKey(e, ci, "dead").ID)
	for _, tc := range []struct {
		config acctest.Values
		want   []string
	}{
		{nil, []string{"cd/other", "ci/live"}},
		{acctest.Values{"include_revoked": true}, []string{"cd/other", "ci/dead", "ci/live"}},
		{acctest.Values{"service_account_id": ci}, []string{"ci/live"}},
		{acctest.Values{"service_account_id": ci, "include_revoked": true}, []string{"ci/dead", "ci/live"}},
	} {
		p := acctest.NewProcess(t, e, nil)
		_, out := p.List(keyType, tc.config)
		out.MustSucceed(t)
		slices.Sort(p.Names)
		check.Is(t, fmt.Sprint("a list with ", tc.config), p.Names, tc.want)
	}
}

// An account that is deleted during the list is skipped, and the others are listed.
func TestAPIKeyList_accountVanishesMeanwhile(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	var doomed string
	e = acctest.New(t, acctest.Hold("listServiceAccounts", func(<-chan struct{}) {
		e.API(http.MethodDelete, "/api/v0/service-accounts/"+doomed, nil, nil)
	}))
	newKey(e, newAccount(e, "a"), "k")
	doomed = newAccount(e, "b")
	newKey(e, doomed, "k")
	listed, out := acctest.NewProcess(t, e, nil).List(keyType, nil)
	out.MustSucceed(t)
	check.Is(t, "keys are listed", len(listed), 1)
}

// Terraform may need the keys of the first accounts only.
func TestAPIKeyList_isLazy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, name := range []string{"a", "b"} {
		newKey(e, newAccount(e, name), "k")
	}
	p := acctest.NewProcess(t, e, nil)
	p.Limit = 1
	_, out := p.List(keyType, nil)
	out.MustSucceed(t)
	e.WantRequests(t, "listApiKeys", 1)
}

// A key that may not list the keys of an account gets a 404 too. The account exists, so its keys must not be left out silently.
func TestAPIKeyList_keysOfAnExistingAccountAreNotFound(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	a := newAccount(e, "a")
	newKey(e, a, "k")
	for _, config := range []acctest.Values{nil, {"service_account_id": a}} {
		e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusNotFound})
		_, out := acctest.NewProcess(t, e, nil).List(keyType, config)
		check.Says(t, out.Text(), "Cannot list API keys", "404")
	}
}

// A key in its grace period after a rotation would be a second one to import.
func TestAPIKeyList_withoutTheOldKeyOfARotation(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e, "ci")
	old := newKey(e, account, "k")
	e.Clock.Advance(time.Hour)
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys/"+old.ID+"/rotate", map[string]any{"gracePeriodMinutes": 10}, nil)
	for include, want := range map[bool]int{false: 1, true: 2} {
		listed, out := acctest.NewProcess(t, e, nil).List(keyType, acctest.Values{"include_revoked": include})
		if out.MustSucceed(t); len(listed) != want || !include && acctest.Plain(t, listed[0]).(map[string]any)["id"] == old.ID {
			t.Errorf("include_revoked = %t: %v", include, listed)
		}
	}
}

// Newest first.
func TestAPIKeysDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e, "ci")
	newKey(e, newAccount(e, "other"), "not theirs")
	first := newKey(e, account, "first")
	e.Clock.Advance(time.Minute)
	newKey(e, account, "second")
	e.Clock.Advance(time.Minute)
	revokeKey(e, account, first.ID)
	var got [][]any
	for _, key := range e.MustRead(t, nil, "agentyard_api_keys", acctest.Values{"service_account_id": account})["api_keys"].([]any) {
		key := key.(map[string]any)
		got = append(got, []any{key["name"], key["is_revoked"], key["revoked_at"]})
	}
	check.Is(t, "the keys", got, [][]any{{"second", false, nil}, {"first", true, "2026-03-01T12:02:00Z"}})
}
