package emulator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestControlAPI(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	_, user := v.human(emulator.RoleOwner)
	for _, key := range []string{"", "fk-wrong", user} {
		v.as(key, 401, "GET", "/_emulator/journal", nil)
	}
	v.call(404, "GET", "/_emulator/nothing", nil)

	fault := object{"operation": "createComputer", "kind": "status-before-commit", "status": 503, "retryAfter": "2", "times": 1, "delayMs": 5}
	v.call(201, "POST", "/_emulator/faults", fault)
	if p := v.Faults().Pending(); len(p) != 1 || p[0].Status != 503 || p[0].Delay != 5*time.Millisecond {
		t.Errorf("pending: %+v", p)
	}
	if got := v.call(200, "GET", "/_emulator/faults", nil).object(t)["faults"].([]any); fmt.Sprint(got[0]) != fmt.Sprint(object{
		"operation": "createComputer", "kind": "status-before-commit", "status": 503, "retryAfter": "2", "times": 1, "delayMs": 5,
	}) {
		t.Errorf("faults: %v", got)
	}
	v.call(503, "POST", computers, object{"name": "a"})
	v.call(201, "POST", "/_emulator/faults", fault)
	v.call(204, "DELETE", "/_emulator/faults", nil)
	for _, wrong := range []any{object{"kind": "explode"}, object{"kind": "non-json", "operation": "none"}, object{"colour": 1}, "x"} {
		v.call(400, "POST", "/_emulator/faults", wrong)
	}

	v.call(204, "POST", "/_emulator/provisioning-failures", object{"name": "a", "step": "create-user", "error": "no space"})
	v.call(400, "POST", "/_emulator/provisioning-failures", object{"step": "none"})
	id := v.computer(object{"name": "a"})["id"].(string)
	v.clock.Advance(time.Minute)
	if got := v.steps("a"); got != "error cfppp" {
		t.Errorf("steps: %s", got)
	}
	v.call(400, "POST", "/_emulator/computers/"+id+"/sleep", nil)
	v.call(400, "POST", "/_emulator/computers/"+uuidA+"/daemon-down", nil)
	v.call(404, "POST", "/_emulator/computers/"+id+"/explode", nil)
	b := v.computer(object{"name": "b"})["id"].(string)
	v.clock.Advance(time.Minute)
	for _, act := range []string{"sleep", "daemon-down", "daemon-up", "break"} {
		v.call(204, "POST", "/_emulator/computers/"+b+"/"+act, nil)
	}
	v.call(204, "POST", "/_emulator/bulk-failures", object{"after": 1, "message": "full"})
	if got := v.call(201, "POST", computers+"/bulk", object{"quantity": 2, "namePrefix": "c"}).object(t)["error"]; got == nil {
		t.Error("the bulk creation did not fail")
	}

	h := v.call(201, "POST", "/_emulator/humans", object{"email": "new@people.example", "role": "user"}).object(t)
	v.as(h["key"].(string), 200, "GET", computers, nil)
	v.call(400, "POST", "/_emulator/humans", object{"email": "new@people.example"})

	entries := v.call(200, "GET", "/_emulator/journal", nil).object(t)["entries"].([]any)
	first := entries[0].(object)
	if first["operation"] != "createComputer" || first["status"] != 503.0 || first["fault"] != "status-before-commit" || first["durationMs"] == nil {
		t.Errorf("first entry: %v", first)
	}
	if n := len(v.Journal().Entries()); n != len(entries) {
		t.Errorf("the control API shows %d entries of %d", len(entries), n)
	}
	v.call(204, "DELETE", "/_emulator/journal", nil)
	if n := len(v.Journal().Entries()); n != 0 {
		t.Errorf("%d entries after the reset", n)
	}
}
