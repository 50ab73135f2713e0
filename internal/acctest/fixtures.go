package acctest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// ConfigAt adds a provider block with another URL or API key to a configuration.
func ConfigAt(address, key, hcl string) string {
	return fmt.Sprintf("provider \"agentyard\" {\n  base_url = %q\n  api_key  = %q\n}\n%s", address, key, hcl)
}

// MemberKey adds a member with a role, which may be empty, and returns an API key of the member.
func (e *Env) MemberKey(email, role string) string {
	e.t.Helper()
	_, key, err := e.AddHuman(emulator.Human{Email: email, Role: role})
	check.Must(e.t, err)
	return key
}

// ServiceAccountKey returns an API key of a new service account, and the account's ID.
func (e *Env) ServiceAccountKey() (key, account string) {
	e.t.Helper()
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robots"}, &made)
	var minted struct{ APIKey struct{ Value string } }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+made.ID+"/api-keys", map[string]any{"name": "ci"}, &minted)
	return minted.APIKey.Value, made.ID
}

// CarriedOut counts the requests of an operation that the emulator processed.
func (e *Env) CarriedOut(operation string) int {
	n := 0
	for _, entry := range e.Journal().Entries() {
		isSpoilt := slices.Contains([]emulator.FaultKind{
			emulator.FaultStatusAfterCommit, emulator.FaultDropAfterCommit, emulator.FaultTruncatedBody, emulator.FaultNonJSON, emulator.FaultDelayAfterCommit, emulator.FaultCommitsLate,
		}, emulator.FaultKind(entry.Fault))
		if entry.Operation == operation && (isSpoilt || entry.Fault == "" && entry.Status < 300) {
			n++
		}
	}
	return n
}

// Refuse makes the service reject requests of an operation with a status: this number of times, or always if times is -1.
func (e *Env) Refuse(operation string, status, times int) {
	e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: times})
}
