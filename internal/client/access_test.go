package client

import (
	"errors"
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// The access to what belongs to a new account was proven by its creation.
func TestCheckAPIKeys_ofANewAccount(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodPost {
			answerJSON(w, http.StatusCreated, `{"id":"sa_1","name":"robots"}`)
			return
		}
		answerJSON(w, http.StatusOK, `{"serviceAccounts":[]}`)
	})
	if _, err := c.CreateServiceAccount(t.Context(), CreateServiceAccountRequest{Name: "robots"}); err != nil {
		t.Fatal(err)
	}
	sent := rec.count(http.MethodGet)
	if err := errors.Join(c.CheckAPIKeys(t.Context(), "sa_1"), c.CheckComputers(t.Context(), "sa_1")); err != nil || rec.count(http.MethodGet) != sent {
		t.Errorf("the checks: %v, %d requests", err, rec.count(http.MethodGet)-sent)
	}
}

// The plans of a process ask once, and fail where everything else would fail too.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	const problem = `{"detail":"no","title":"No"}`
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter)
		fails  bool
	}{
		"allowed":         {func(w http.ResponseWriter) { answerJSON(w, http.StatusOK, `{"providers":[]}`) }, false},
		"a wrong key":     {func(w http.ResponseWriter) { answerJSON(w, http.StatusUnauthorized, problem) }, true},
		"a wrong role":    {func(w http.ResponseWriter) { answerJSON(w, http.StatusForbidden, problem) }, true},
		"a wrong address": {func(w http.ResponseWriter) { answerJSON(w, http.StatusNotFound, `<html>`) }, true},
		"no connection":   {drop, true},
		"not found":       {func(w http.ResponseWriter) { answerJSON(w, http.StatusNotFound, problem) }, false},
		"not offered":     {func(w http.ResponseWriter) { answerJSON(w, http.StatusNotImplemented, problem) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.answer(w) })
			if err := c.CheckAccess(t.Context()); (err != nil) != tc.fails {
				t.Errorf("got %v", err)
			}
			sent := rec.count(http.MethodGet)
			if err := c.CheckAccess(t.Context()); err != nil || rec.count(http.MethodGet) != sent {
				t.Errorf("the second plan: %v, %d requests", err, rec.count(http.MethodGet))
			}
		})
	}
	if err := Unconfigured("base_url", clock.System).CheckAccess(t.Context()); err != nil {
		t.Errorf("unknown settings: %v", err)
	}
}
