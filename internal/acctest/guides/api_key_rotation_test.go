package guides

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func apiKeyRotation(g *reader) {
	t, e := g.t, g.e
	nightly := "terraform apply -auto-approve -input=false"
	if !strings.Contains(g.blocks[1].text, nightly) {
		t.Errorf("the nightly run is %s", g.blocks[1].text)
	}
	// Quiet is a nightly run that changes nothing and warns of nothing.
	quiet := func() {
		t.Helper()
		g.cli.MustPlanEmpty()
		before := live(e)
		if out := g.run(nightly); !strings.Contains(out, "0 added, 0 changed, 0 destroyed") || strings.Contains(out, "Warning: ") {
			t.Errorf("the nightly run: %s", out)
		}
		if after := live(e); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the nightly run made %v of %v", after, before)
		}
	}
	g.step()
	quiet()

	g.step()
	quiet()
	old := live(e)["deploy"][0]
	out := g.step()
	if !strings.Contains(out, "agentyard_api_key.deploy: Modifications complete") || !strings.Contains(out, "terraform_data.deployment: Creation complete") {
		t.Errorf("the rotation does not reach what uses the key: %s", out)
	}
	if keys := live(e)["deploy"]; len(keys) != 2 || !slices.Contains(keys, old) {
		t.Errorf("live are %v, want a new key and %s in its grace period", keys, old)
	}
	quiet()

	acctest.NeedsActions(t)
	leaked := live(e)["scheduled"][0]
	out = g.step("KEY_ID", leaked)
	if !strings.Contains(out, `API key will be replaced`) || !strings.Contains(out, leaked) {
		t.Errorf("the run does not say why it mints a key: %s", out)
	}
	if keys := live(e)["scheduled"]; len(keys) != 1 || keys[0] == leaked {
		t.Errorf("live are %v, and %s has leaked", keys, leaked)
	}
	quiet()

	before := slices.Concat(live(e)["deploy"], live(e)["scheduled"])
	g.step()
	after := slices.Concat(live(e)["deploy"], live(e)["scheduled"])
	if len(after) != 2 || slices.ContainsFunc(after, func(id string) bool { return slices.Contains(before, id) }) {
		t.Errorf("live are %v, and any of %v may have leaked", after, before)
	}
	quiet()
}
