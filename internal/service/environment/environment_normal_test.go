package environment_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// normalizes removes trailing line breaks from texts, and ".git" from URLs.
func normalizes(environment map[string]any) {
	if script, ok := environment["setupScript"].(string); ok {
		environment["setupScript"] = strings.TrimSpace(script)
	}
	listed, _ := environment["repositories"].([]any)
	for _, one := range listed {
		repository := one.(map[string]any)
		repository["url"], repository["script"] = strings.TrimSuffix(repository["url"].(string), ".git"), strings.TrimSpace(repository["script"].(string))
	}
}

// An equivalent value is not a change, and the configured spelling is kept.
func TestEnvironment_aServiceThatNormalizes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, rewrite(normalizes))
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
}
