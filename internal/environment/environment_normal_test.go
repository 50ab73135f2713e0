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
	_, i := created(t, e, config)
	if out := mustApply(t, e, i, config); out.Action != "none" {
		t.Errorf("the second apply: %s", out)
	}
	if got := i.Attribute("setup_script"); got != "make tools\n" {
		t.Errorf("the state holds %q", got)
	}
	// A different spelling of the same value is not a change either.
	config["setup_script"] = "make tools"
	if out := mustApply(t, e, i, config); out.Action != "none" {
		t.Errorf("another spelling: %s", out)
	}
	config["name"], config["setup_script"] = "b", "make more\n"
	if out := mustApply(t, e, i, config); out.Action != "update" || i.Attribute("setup_script") != "make more\n" {
		t.Errorf("a change: %s; the state holds %q", out, i.Attribute("setup_script"))
	}

	imported := newInstance(t, e)
	if out := acctest.NewProcess(t, e, nil).Import(imported, i.ID()); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	if out := mustApply(t, e, imported, config); out.Action != "none" {
		t.Errorf("after an import: %s", out)
	}
}

// A source may support neither repositories nor scripts, and the default environment that the service creates has none.
func TestEnvironment_withoutRepositories(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	bare := acctest.Values{"source_id": "source-bare", "repositories": []any{}}
	_, i := created(t, e, environmentOf("a", bare))
	if out := mustApply(t, e, i, environmentOf("a", bare)); out.Action != "none" {
		t.Errorf("the second apply: %s", out)
	}
	mustFail(t, plan(t, e, i, environmentOf("a", acctest.Values{"source_id": "source-bare"})), `AttributeName("repositories")`, "does not support repositories", "[]")
	empty := acctest.Values{"repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "script": ""}}, "source_id": "source-base"}
	if out := mustApply(t, e, i, environmentOf("a", empty)); out.Action != "update" {
		t.Errorf("%s", out)
	}
	mustApply(t, e, i, environmentOf("a", bare))
	if out := mustApply(t, e, i, environmentOf("a", bare)); out.Action != "none" {
		t.Errorf("the last apply: %s", out)
	}
}
