package environment_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// normalizes makes the service remove trailing line breaks from texts, and ".git" from URLs.
func normalizes(o *emulator.Options) {
	acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			body := strings.NewReplacer(`\n"`, `"`, `.git"`, `"`).Replace(recorded.Body.String())
			for name, values := range recorded.Header() {
				w.Header()[name] = values
			}
			w.Header().Del("Content-Length")
			w.WriteHeader(recorded.Code)
			_, _ = bytes.NewBufferString(body).WriteTo(w)
		})
	})(o)
}

// An equivalent value is not a change, and the configured spelling is kept.
func TestEnvironment_aServiceThatNormalizes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, normalizes)
	config := environmentOf("a", acctest.Values{"setup_script": "make tools\n", "repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "script": "make\n"}}})
	_, i := e.Created(t, environmentType, config)
	e.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
	if got := i.Attribute("setup_script"); got != "make tools\n" {
		t.Errorf("the state holds %q", got)
	}
	// A different spelling of the same value is not a change either.
	config["setup_script"] = "make tools"
	e.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
	config["name"], config["setup_script"] = "b", "make more\n"
	if out := e.MustApply(t, i, config); out.Action != acctest.ActionUpdate || i.Attribute("setup_script") != "make more\n" {
		t.Errorf("a change: %s; the state holds %q", out, i.Attribute("setup_script"))
	}

	imported := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(imported, i.ID()).MustSucceed(t)
	e.MustApply(t, imported, config).MustDo(t, acctest.ActionNone)
}

// A source may support neither repositories nor scripts, and the default environment that the service creates has none.
func TestEnvironment_withoutRepositories(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	bare := acctest.Values{"source_id": "source-bare", "repositories": []any{}}
	_, i := e.Created(t, environmentType, environmentOf("a", bare))
	e.MustApply(t, i, environmentOf("a", bare)).MustDo(t, acctest.ActionNone)
	e.Plan(t, i, environmentOf("a", acctest.Values{"source_id": "source-bare"})).MustFail(t, "repositories", "does not support repositories", "[]")
	empty := acctest.Values{"repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "script": ""}}, "source_id": "source-base"}
	e.MustApply(t, i, environmentOf("a", empty)).MustDo(t, acctest.ActionUpdate)
	e.MustApply(t, i, environmentOf("a", bare))
	e.MustApply(t, i, environmentOf("a", bare)).MustDo(t, acctest.ActionNone)
}
