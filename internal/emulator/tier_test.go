package emulator_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestTier(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t), Tier: emulator.TierTeam})
	v.computer(object{"name": "a"})
	id := v.call(200, "GET", computers+"/name/a", nil).object(t)["id"].(string)
	v.clock.Advance(time.Minute)

	must(t, v.SetTier(emulator.TierFree))
	_, user := v.human(emulator.RoleUser)
	// It does not matter that the request is wrong.
	for _, c := range []request{{"GET", computers + "?colour=red", nil}, {"POST", computers, "{"}, {"POST", accounts, "{}"}} {
		for _, key := range []string{v.BootstrapKey(), user} {
			v.detail(v.as(key, 402, c.method, c.path, c.body), "has the tier free; this needs at least the tier team")
		}
	}
	v.as("", 401, "GET", accounts, nil)
	v.call(200, "GET", computers+"/"+id, nil)
	v.call(200, "GET", environments, nil)

	for _, wrong := range []string{"", "gold", "Team"} {
		v.detail(v.call(400, "POST", "/_emulator/tier", object{"tier": wrong}), "not free, team, or enterprise")
	}
	v.call(402, "GET", accounts, nil)

	// What was set lasts until a reset or the end of the emulator, as everything that is programmed.
	v.call(204, "POST", "/_emulator/reset", nil)
	v.call(200, "GET", accounts, nil)
	v.call(204, "POST", "/_emulator/tier", object{"tier": "free"})
	v.call(402, "GET", accounts, nil)
	v.restart().call(200, "GET", accounts, nil)
}

func TestTierThatDoesNotExist(t *testing.T) {
	t.Parallel()
	_, err := emulator.Start(t.Context(), emulator.Options{Tier: "gold"})
	fails(t, err, `"gold" is not free, team, or enterprise`)
}
