package transport

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Each process sends the check once, and it fails only if everything else would fail too.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	const problem = `{"detail":"no","title":"No"}`
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter)
		fails  bool
	}{
		"allowed":         {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusOK, `{"providers":[]}`) }, false},
		"a wrong key":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusUnauthorized, problem) }, true},
		"a wrong role":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusForbidden, problem) }, true},
		"a wrong tier":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusPaymentRequired, problem) }, true},
		"unavailable":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusServiceUnavailable, problem) }, false},
		"rate limited":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusTooManyRequests, problem) }, false},
		"a wrong address": {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, `<html>`) }, true},
		"no connection":   {clienttest.Drop, true},
		"not found":       {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, problem) }, false},
		"not offered":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotImplemented, problem) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.answer(w) })
			if err := c.CheckAccess(t.Context()); (err != nil) != tc.fails {
				t.Errorf("got %v", err)
			}
			sent := rec.Count(http.MethodGet)
			if err := c.CheckAccess(t.Context()); err != nil || rec.Count(http.MethodGet) != sent {
				t.Errorf("the second plan: %v, %d requests", err, rec.Count(http.MethodGet))
			}
		})
	}
	if err := NewUnconfigured("base_url", clock.System).CheckAccess(t.Context()); err != nil {
		t.Errorf("unknown settings: %v", err)
	}
}

// Each creation asks, so the providers are requested once per process, even if that fails.
func TestProviders_onceEvenIfRefused(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, http.StatusForbidden, `{"detail":"no","title":"No"}`)
	})
	for range 2 {
		if _, err := c.Providers(t.Context()); StatusOf(err) != http.StatusForbidden || rec.Count(http.MethodGet) != 1 {
			t.Errorf("got %v after %d requests", err, rec.Count(http.MethodGet))
		}
	}
}
