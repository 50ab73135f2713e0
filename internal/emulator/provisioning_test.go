package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var twoRepos = []string{"https://git.example/acme/app", "https://git.example/acme/lib.git"}

// steps shows a computer's status and the states of its steps by their first letters: "active ccccc".
func (v *env) steps(name string) string {
	v.t.Helper()
	c := v.call(200, "GET", computers+"/name/"+name+"?includeProvisioningSteps=true", nil).object(v.t)
	var states strings.Builder
	for _, s := range c["provisioningSteps"].([]any) {
		states.WriteString(s.(object)["status"].(string)[:1])
	}
	return fmt.Sprint(c["status"], " ", states.String())
}

func TestProvisioningFollowsTheClock(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{Provisioning: emulator.Provisioning{
		Step: 10 * time.Second, Steps: map[string]time.Duration{"install-dependencies": time.Minute},
	}})
	v.computer(object{"name": "a", "repos": twoRepos, "autoInstallDeps": true})
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "provisioning ipppppp"},
		{9 * time.Second, "provisioning ipppppp"},
		{time.Second, "provisioning cippppp"},
		{45 * time.Second, "provisioning cccccip"},
		{5 * time.Second, "provisioning cccccci"},
		{59 * time.Second, "provisioning cccccci"},
		{time.Second, "active ccccccc"},
	} {
		v.clock.Advance(c.after)
		if got := v.steps("a"); got != c.want {
			t.Errorf("%s later: %q, want %q", c.after, got, c.want)
		}
	}
	c := v.call(200, "GET", computers+"/name/a?includeProvisioningSteps=true", nil).object(t)
	if fmt.Sprint(c["clonedRepoDirectories"]) != "[/home/agent/app /home/agent/lib]" || c["installSessionId"] == nil {
		t.Errorf("computer: %v", c)
	}
	first, created := c["provisioningSteps"].([]any)[0].(object), c["createdAt"].(float64)
	if first["id"] != "create-computer" || first["name"] != "Create computer" || first["startedAt"] != created || first["completedAt"] != created+10_000 {
		t.Errorf("first step: %v", first)
	}
	one := computers + "/" + c["id"].(string)
	if steps, _ := v.call(200, "GET", one+"?includeProvisioningSteps=true", nil).object(t)["provisioningSteps"].([]any); len(steps) != 7 {
		t.Errorf("the steps by ID: %v", steps)
	}
	for _, path := range []string{computers + "/name/a", one, one + "?includeProvisioningSteps=false"} {
		if _, found := v.call(200, "GET", path, nil).object(t)["provisioningSteps"]; found {
			t.Errorf("%s: steps are shown to those who did not ask", path)
		}
	}
}

func TestProgrammedProvisioningFailure(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	v.FailProvisioning(emulator.FailStep{Name: "ci-*", Step: "clone-repos", Error: "repository not found"})
	v.computer(object{"name": "dev", "repos": twoRepos})                         // Another name.
	v.computer(object{"name": "ci-none"})                                        // No such step.
	v.call(409, "POST", computers, object{"name": "ci-none", "repos": twoRepos}) // Refused: uses nothing up.
	v.computer(object{"name": "ci-1", "repos": twoRepos})
	v.computer(object{"name": "ci-2", "repos": twoRepos}) // Used up by then.
	v.clock.Advance(time.Minute)
	for name, want := range map[string]string{"dev": "active cccccc", "ci-none": "active ccccc", "ci-1": "error cccccf", "ci-2": "active cccccc"} {
		if got := v.steps(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	c := v.call(200, "GET", computers+"/name/ci-1?includeProvisioningSteps=true", nil).object(t)
	if step := c["provisioningSteps"].([]any)[5].(object); step["error"] != "repository not found" {
		t.Errorf("failed step: %v", step)
	}
	if c["clonedRepoDirectories"] != nil {
		t.Errorf("cloned: %v", c["clonedRepoDirectories"])
	}

	v.FailProvisioning(emulator.FailStep{Times: -1})
	for _, name := range []string{"x", "y"} {
		v.computer(object{"name": name})
		v.clock.Advance(time.Minute)
		if got := v.steps(name); got != "error fpppp" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestBreak(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	id := v.computer(object{"name": "a"})["id"].(string)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	for _, wrong := range []string{id, byom, "unknown"} { // The first one is still being set up.
		if err := v.Break(wrong); err == nil {
			t.Errorf("computer %s was broken", wrong)
		}
	}
	v.clock.Advance(time.Minute)
	if err := v.Break(id); err != nil {
		t.Fatal(err)
	}
	if got := v.steps("a"); got != "error ccccc" {
		t.Errorf("broken: %q", got)
	}
}

func TestInstallDeps(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	id := v.computer(object{"name": "a", "autoInstallDeps": true})["id"].(string)
	plain := v.computer(object{"name": "plain"})["id"].(string)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	install := func(want int, id string) answer { return v.call(want, "POST", computers+"/"+id+"/install-deps", nil) }
	v.detail(install(400, id), "is in status provisioning")
	v.clock.Advance(10 * time.Second)
	if got := v.steps("a"); got != "provisioning ccccci" {
		t.Errorf("during the first install: %q", got)
	}
	v.detail(install(409, id), "in progress")
	v.clock.Advance(time.Minute)
	before := v.call(200, "GET", computers+"/"+id, nil).object(t)["installSessionId"]
	v.FailProvisioning(emulator.FailStep{Name: "a", Step: "install-dependencies", Error: "no lock file"})
	if got := install(202, id).object(t); got["status"] != "active" || got["installSessionId"] == before {
		t.Errorf("computer: %v", got)
	}
	if got := v.steps("a"); got != "active ccccci" {
		t.Errorf("while installing: %q", got)
	}
	v.detail(install(409, id), "in progress")
	v.clock.Advance(2 * time.Second)
	if got := v.steps("a"); got != "active cccccf" {
		t.Errorf("after the failed install: %q", got)
	}
	install(202, id)
	v.clock.Advance(2 * time.Second)
	if got := v.steps("a"); got != "active cccccc" {
		t.Errorf("after the second install: %q", got)
	}
	v.detail(install(400, plain), "without autoInstallDeps")
	v.detail(install(400, byom), "BYOM")
	install(404, uuidA)
}

func TestActivityRestartAndSleep(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	id := v.computer(object{"name": "a"})["id"].(string)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	post := func(want int, id, what string) answer { return v.call(want, "POST", computers+"/"+id+"/"+what, nil) }
	restarted := func() bool { return post(200, id, "restart").object(t)["wasRestarted"].(bool) }
	for _, what := range []string{"activity", "restart"} {
		v.detail(post(400, id, what), "provisioning")
		v.detail(post(400, byom, what), "BYOM")
		post(404, uuidA, what)
	}
	v.clock.Advance(time.Minute)
	if restarted() {
		t.Error("a running computer was restarted")
	}
	v.clock.Advance(29 * time.Minute)
	if got := post(200, id, "activity").object(t)["lastActiveAt"]; got != float64(v.clock.Now().UnixMilli()) {
		t.Errorf("lastActiveAt: %v", got)
	}
	v.clock.Advance(29 * time.Minute)
	if restarted() {
		t.Error("the activity did not advance the inactivity clock")
	}
	v.clock.Advance(time.Minute)
	post(200, id, "activity") // Too late: activity wakes nobody.
	if !restarted() || restarted() {
		t.Error("after 30 minutes without activity exactly the first restart should wake the computer")
	}
	if err := v.Sleep(id); err != nil {
		t.Fatal(err)
	}
	if got := v.call(200, "GET", computers+"/"+id, nil).object(t)["status"]; got != "active" {
		t.Errorf("status while asleep: %v", got)
	}
	if !restarted() {
		t.Error("a sleeping computer was not restarted")
	}
	if v.Sleep(byom) == nil || v.Sleep(uuidA) == nil {
		t.Error("something that cannot sleep did")
	}
}

func TestRestartModes(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	id := v.computer(object{"name": "a"})["id"].(string)
	path := computers + "/" + id + "/restart"
	v.clock.Advance(time.Minute)
	for _, c := range []struct {
		name   string
		asleep bool
		body   any
		want   bool
	}{
		{"no body, running", false, nil, false}, {"no body, asleep", true, nil, true},
		{"empty body, running", false, object{}, false}, {"empty body, asleep", true, object{}, true},
		{"resume, running", false, object{"mode": "resume"}, false}, {"resume, asleep", true, object{"mode": "resume"}, true},
		{"reboot, running", false, object{"mode": "reboot"}, true}, {"reboot, asleep", true, object{"mode": "reboot"}, true},
	} {
		if c.asleep {
			if err := v.Sleep(id); err != nil {
				t.Fatal(err)
			}
		}
		if got := v.call(200, "POST", path, c.body).object(t)["wasRestarted"]; got != c.want {
			t.Errorf("%s: wasRestarted %v, want %t", c.name, got, c.want)
		}
	}
	v.clock.Advance(29 * time.Minute)
	v.call(200, "POST", path, object{"mode": "reboot"})
	v.clock.Advance(29 * time.Minute)
	if v.call(200, "POST", path, nil).object(t)["wasRestarted"] != false {
		t.Error("the inactivity clock ran on through a reboot")
	}
	v.detail(v.call(400, "POST", path, object{"mode": "off"}), `"mode" must be one of resume, reboot`)
	v.detail(v.call(400, "POST", path, object{"force": true}), `"force" is not known`)
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	managed := v.computer(object{"name": "a", "repos": append([]string{"https://code.example/acme/x"}, twoRepos...)})["id"].(string)
	byom := v.computer(object{"name": "b", "provider": "byom"})["id"].(string)
	for id, want := range map[string]string{
		managed: `{"configured":2,"secretsConfigured":0}`, byom: `{"configured":0,"secretsConfigured":0}`,
	} {
		if got := string(v.call(200, "POST", computers+"/"+id+"/refresh", nil).raw); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	v.call(404, "POST", computers+"/"+uuidA+"/refresh", nil)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	id := v.computer(object{"name": "a"})["id"].(string)
	byom := v.computer(object{"name": "b", "provider": "byom"})["id"].(string)
	v.detail(v.call(400, "GET", computers+"/"+id+"/metrics", nil), "provisioning")
	v.detail(v.call(400, "GET", computers+"/"+byom+"/metrics", nil), "BYOM")
	v.call(404, "GET", computers+"/"+uuidA+"/metrics", nil)

	samples := func(start time.Time) []any {
		t.Helper()
		query := ""
		if !start.IsZero() {
			query = "?start=" + start.Format(time.RFC3339)
		}
		var list []any
		decode(t, v.call(200, "GET", computers+"/"+id+"/metrics"+query, nil), &list)
		return list
	}
	began := v.clock.Now()
	keepAwake := func(d time.Duration) {
		for ; d > 0; d -= 20 * time.Minute {
			v.clock.Advance(min(d, 20*time.Minute))
			v.call(200, "POST", computers+"/"+id+"/activity", nil)
		}
	}
	keepAwake(2 * time.Hour)
	first := samples(time.Time{})
	if len(first) != 12 || first[0].(object)["timestamp"] != "2026-05-01T13:00:00Z" {
		t.Errorf("the last hour: %d samples, first %v", len(first), first[0])
	}
	if fmt.Sprint(first) != fmt.Sprint(samples(v.clock.Now().Add(-time.Hour))) {
		t.Error("the same period gave other samples")
	}
	if n := len(samples(began)); n != 23 { // None while it was set up, at 12:00.
		t.Errorf("since the beginning: %d samples", n)
	}
	if n := len(samples(v.clock.Now().Add(time.Hour))); n != 0 {
		t.Errorf("in the future: %d samples", n)
	}
	s := first[0].(object)
	for used, total := range map[string]string{"memUsed": "memTotal", "diskUsed": "diskTotal"} {
		if s[used].(float64) <= 0 || s[used].(float64) > s[total].(float64) {
			t.Errorf("sample: %v", s)
		}
	}

	v.clock.Advance(time.Hour) // It falls asleep at 14:30.
	slept := v.clock.Now()
	if n := len(samples(slept.Add(-20 * time.Minute))); n != 0 {
		t.Errorf("while asleep: %d samples", n)
	}
	v.call(200, "POST", computers+"/"+id+"/restart", nil)
	v.clock.Advance(10 * time.Minute)
	if n := len(samples(slept.Add(-time.Hour))); n != 6+2 {
		t.Errorf("around the sleep: %d samples", n)
	}
	keepAwake(5 * time.Minute)
	keepAwake(5 * 24 * time.Hour)
	if n := len(samples(began)); n != 4*24*12 {
		t.Errorf("after five days: %d samples", n)
	}
}

// TestListingManyComputers bounds nothing but completeness; the benchmark beside it tells the time.
func TestListingManyComputers(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	for i := range 10 {
		v.call(201, "POST", computers+"/bulk", object{"quantity": 20, "namePrefix": fmt.Sprintf("p%d", i), "repos": twoRepos})
	}
	if n := len(strings.Fields(v.names(v.BootstrapKey(), "?includeProvisioningSteps=true"))); n != 200 {
		t.Errorf("%d computers", n)
	}
}
