package acctest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
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
	made := e.Make("/api/v0/service-accounts", map[string]any{"name": "robots"})
	return e.Make("/api/v0/service-accounts/"+made.ID+"/api-keys", map[string]any{"name": "ci"}).APIKey.Value, made.ID
}

// Made is what the service returns for a new object: its ID, whatever the field is called, that of its build, and the value of a key.
type Made struct {
	ID, BuildID string
	APIKey      struct{ ID, Value string }
}

// Make creates an object outside Terraform.
func (e *Env) Make(path string, body any) (made Made) {
	e.t.Helper()
	var answer json.RawMessage
	e.API(http.MethodPost, path, body, &answer)
	check.Must(e.t, json.Unmarshal(answer, &made))
	if objects, _, _ := runreport.Answer(operationOf(httptest.NewRequestWithContext(e.t.Context(), http.MethodPost, path, nil)), answer); len(objects) > 0 {
		made.ID = objects[0].ID
	}
	return made
}

// Rows returns the objects of a listing that has one page.
func Rows[T any](e *Env, path, field string) (rows []T) {
	e.t.Helper()
	var body map[string]json.RawMessage
	e.API(http.MethodGet, path, nil, &body)
	check.Must(e.t, json.Unmarshal(body[field], &rows))
	return rows
}

// IDs returns the IDs of all objects of a listing, whose rows are in a field.
func (e *Env) IDs(path, field string) []string {
	e.t.Helper()
	return e.Listed(specimens.Listing{Path: path, Rows: field})
}

// Listed returns the IDs of all objects of a listing.
func (e *Env) Listed(l specimens.Listing) (ids []string) {
	e.t.Helper()
	l.Has = nil
	for _, page := range e.Pages(l.Path) {
		found, err := l.Find(page, nil)
		check.Must(e.t, err)
		ids = append(ids, found...)
	}
	return ids
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
