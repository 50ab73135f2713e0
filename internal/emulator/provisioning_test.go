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
		same(t, fmt.Sprintf("%s later", c.after), v.steps("a"), c.want)
	}
	c := v.call(200, "GET", computers+"/name/a?includeProvisioningSteps=true", nil).object(t)
	if fmt.Sprint(c["clonedRepoDirectories"]) != "[/home/agent/app /home/agent/lib]" || c["installSessionId"] == nil {
		t.Errorf("computer: %v", c)
	}
	first, created := c["provisioningSteps"].([]any)[0].(object), c["createdAt"].(float64)
	fields(t, "first step", first, object{"id": "create-computer", "name": "Create computer", "startedAt": created, "completedAt": created + 10_000})
	one := computers + "/" + c["id"].(string)
	for _, path := range []string{computers + "/name/a", one, computers + "/name/a?includeProvisioningSteps=false"} {
		if _, found := v.call(200, "GET", path, nil).object(t)["provisioningSteps"]; found {
			t.Errorf("%s: steps are shown to those who did not ask", path)
		}
	}
}

func TestProgrammedProvisioningFailure(t *testing.T) {
	v := startParallel(t)
	v.FailProvisioning(emulator.FailStep{Name: "ci-*", Step: "clone-repos", Error: "repository not found"})
	v.computer(object{"name": "dev", "repos": twoRepos})                         // Another name.
	v.computer(object{"name": "ci-none"})                                        // No such step.
	v.call(409, "POST", computers, object{"name": "ci-none", "repos": twoRepos}) // Refused: uses nothing up.
	v.computer(object{"name": "ci-1", "repos": twoRepos})
	v.computer(object{"name": "ci-2", "repos": twoRepos}) // Used up by then.
	v.clock.Advance(time.Minute)
	for name, want := range map[string]string{"dev": "active cccccc", "ci-none": "active ccccc", "ci-1": "error cccccf", "ci-2": "active cccccc"} {
		same(t, name, v.steps(name), want)
	}
	c := v.call(200, "GET", computers+"/name/ci-1?includeProvisioningSteps=true", nil).object(t)
	same(t, "failed step", c["provisioningSteps"].([]any)[5].(object)["error"], "repository not found")
	same(t, "cloned", c["clonedRepoDirectories"], nil)

	v.FailProvisioning(emulator.FailStep{Times: -1})
	for _, name := range []string{"x", "y"} {
		v.computer(object{"name": name})
		v.clock.Advance(time.Minute)
		same(t, name, v.steps(name), "error fpppp")
	}
}

func TestBreak(t *testing.T) {
	v := startParallel(t)
	id := v.computer(object{"name": "a"})["id"].(string)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	for _, wrong := range []string{id, byom, "unknown"} { // The first one is still being set up.
		fails(t, v.Break(wrong), "")
	}
	v.clock.Advance(time.Minute)
	must(t, v.Break(id))
	same(t, "broken", v.steps("a"), "error ccccc")
}

func TestInstallDeps(t *testing.T) {
	v := startParallel(t)
	id := v.computer(object{"name": "a", "autoInstallDeps": true})["id"].(string)
	install := func(want int, id string) response { return v.call(want, "POST", computers+"/"+id+"/install-deps", nil) }
	v.clock.Advance(10 * time.Second)
	same(t, "during the first install", v.steps("a"), "provisioning ccccci")
	v.detail(install(409, id), "in progress")
	v.clock.Advance(time.Minute)
	before := v.call(200, "GET", computers+"/"+id, nil).object(t)["installSessionId"]
	v.FailProvisioning(emulator.FailStep{Name: "a", Step: "install-dependencies", Error: "no lock file"})
	if got := install(202, id).object(t); got["status"] != "active" || got["installSessionId"] == before {
		t.Errorf("computer: %v", got)
	}
	same(t, "while installing", v.steps("a"), "active ccccci")
	v.detail(install(409, id), "in progress")
	v.clock.Advance(2 * time.Second)
	same(t, "after the failed install", v.steps("a"), "active cccccf")
	install(202, id)
	v.clock.Advance(2 * time.Second)
	same(t, "after the second install", v.steps("a"), "active cccccc")
}

func TestActivityRestartAndSleep(t *testing.T) {
	v := startParallel(t)
	id := v.computer(object{"name": "a"})["id"].(string)
	byom := v.computer(object{"name": "byom", "provider": "byom"})["id"].(string)
	post := func(want int, id, what string) response { return v.call(want, "POST", computers+"/"+id+"/"+what, nil) }
	restarted := func() bool { return post(200, id, "restart").object(t)["wasRestarted"].(bool) }
	v.clock.Advance(time.Minute)
	if restarted() {
		t.Error("a running computer was restarted")
	}
	v.clock.Advance(29 * time.Minute)
	same(t, "lastActiveAt", post(200, id, "activity").object(t)["lastActiveAt"], float64(v.clock.Now().UnixMilli()))
	v.clock.Advance(29 * time.Minute)
	if restarted() {
		t.Error("the activity did not advance the inactivity clock")
	}
	v.clock.Advance(time.Minute)
	post(200, id, "activity") // Too late: activity wakes nobody.
	if !restarted() || restarted() {
		t.Error("after 30 minutes without activity exactly the first restart should wake the computer")
	}
	must(t, v.Sleep(id))
	same(t, "status while asleep", v.call(200, "GET", computers+"/"+id, nil).object(t)["status"], "active")
	if !restarted() {
		t.Error("a sleeping computer was not restarted")
	}
	if v.Sleep(byom) == nil || v.Sleep(uuidA) == nil {
		t.Error("something that cannot sleep did")
	}
}

func TestMetrics(t *testing.T) {
	v := startParallel(t)
	id := v.computer(object{"name": "a"})["id"].(string)
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
	same(t, "the last hour", []any{len(first), first[0].(object)["timestamp"]}, []any{12, "2026-05-01T13:00:00Z"})
	same(t, "samples of the same period", fmt.Sprint(first), fmt.Sprint(samples(v.clock.Now().Add(-time.Hour))))
	if n := len(samples(began)); n != 23 { // None while it was set up, at 12:00.
		t.Errorf("since the beginning: %d samples", n)
	}
	same(t, "in the future", len(samples(v.clock.Now().Add(time.Hour))), 0)
	s := first[0].(object)
	for used, total := range map[string]string{"memUsed": "memTotal", "diskUsed": "diskTotal"} {
		if s[used].(float64) <= 0 || s[used].(float64) > s[total].(float64) {
			t.Errorf("sample: %v", s)
		}
	}

	v.clock.Advance(time.Hour) // It falls asleep at 14:30.
	slept := v.clock.Now()
	same(t, "while asleep", len(samples(slept.Add(-20*time.Minute))), 0)
	v.call(200, "POST", computers+"/"+id+"/restart", nil)
	v.clock.Advance(10 * time.Minute)
	same(t, "around the sleep", len(samples(slept.Add(-time.Hour))), 6+2)
	keepAwake(5 * time.Minute)
	keepAwake(5 * 24 * time.Hour)
	same(t, "after five days", len(samples(began)), 4*24*12)
}

// A credential is for a code host.
func TestRefresh(t *testing.T) {
	v := startParallel(t)
	managed := v.computer(object{"name": "a", "repos": append([]string{"https://code.example/acme/x"}, twoRepos...)})["id"].(string)
	same(t, "managed", string(v.call(200, "POST", computers+"/"+managed+"/refresh", nil).raw), `{"configured":2,"secretsConfigured":0}`)
}
