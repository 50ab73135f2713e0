package emulator_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const computers = "/api/v0/computers"

// computer creates a computer with the manager's key and returns it.
func (v *env) computer(body object) object {
	v.t.Helper()
	return v.call(201, "POST", computers, body).object(v.t)
}

// account creates a service account and returns its ID and a key of it.
func (v *env) account(name string) (id, key string) {
	v.t.Helper()
	id = v.call(201, "POST", "/api/v0/service-accounts", object{"name": name}).object(v.t)["id"].(string)
	minted := v.call(201, "POST", "/api/v0/service-accounts/"+id+"/api-keys", object{"name": "key"}).object(v.t)
	return id, minted["apiKey"].(object)["value"].(string)
}

// names lists the names a query shows, in their order.
func (v *env) names(key, query string) string {
	v.t.Helper()
	var names []string
	for _, c := range v.as(key, 200, "GET", computers+query, nil).object(v.t)["computers"].([]any) {
		names = append(names, c.(object)["name"].(string))
	}
	return strings.Join(names, " ")
}

func TestCreateManagedComputer(t *testing.T) {
	v := startParallel(t)
	c := v.computer(object{"name": "dev", "repos": []string{"https://git.example/acme/app"}})
	id := c["id"].(string)
	for field, want := range map[string]any{
		"name": "dev", "providerType": "managed-a", "status": "provisioning", "remoteUser": "agent", "isListed": true,
		"ownerPrincipalKind": "human", "createdAt": float64(v.clock.Now().UnixMilli()),
		"relayClientUrl": "wss://relay.agentyard.example/v0/computer/" + id + "/client",
		"relayAgentUrl":  "wss://relay.agentyard.example/v0/computer/" + id + "/agent",
	} {
		same(t, field, c[field], want)
	}
	for _, field := range []string{"provisioningSteps", "clonedRepoDirectories", "hostId", "computerSource", "installSessionId"} {
		if value, found := c[field]; found {
			t.Errorf("%s = %v, want none", field, value)
		}
	}
	v.clock.Advance(time.Minute)
	c = v.call(200, "GET", computers+"/"+strings.ToUpper(id), nil).object(t)
	same(t, "after a minute", []any{c["status"], fmt.Sprint(c["clonedRepoDirectories"])}, []any{"active", "[/home/agent/app]"})
}

func TestCreateBYOMComputer(t *testing.T) {
	v := startParallel(t)
	c := v.computer(object{"name": "mine", "provider": "byom", "remoteUser": "dev"})
	fields(t, "computer", c, object{"status": "active", "remoteUser": "dev"})
	// A host ID does not decide the provider.
	for i, body := range []object{{"provider": "byom"}, {"provider": "managed-b"}, {}} {
		body["name"], body["hostId"] = fmt.Sprint("host-", i), fmt.Sprintf("%s%d", uuidA[:35], i)
		c, want := v.computer(body), body["provider"]
		if want == nil {
			want = "managed-a"
		}
		fields(t, body, c, object{"providerType": want, "hostId": body["hostId"]})
	}
	same(t, "steps", v.call(200, "GET", computers+"/name/mine?includeProvisioningSteps=true", nil).object(t)["provisioningSteps"], []any{})
}

func TestComputerNamesAndHostIDsAreUniquePerOwner(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	a := v.computer(object{"name": "a", "hostId": uuidA})
	b := v.computer(object{"name": "b"})
	v.detail(v.call(409, "POST", computers, object{"name": "a"}), "unique per owner")
	v.detail(v.call(409, "POST", computers, object{"name": "c", "hostId": strings.ToUpper(uuidA)}), "host ID")
	v.as(user, 201, "POST", computers, object{"name": "a", "hostId": uuidA})

	path := computers + "/" + b["id"].(string)
	v.detail(v.call(409, "PATCH", path, object{"name": "a"}), "unique per owner")
	v.detail(v.call(409, "PATCH", path, object{"hostId": uuidA}), "host ID")
	v.call(200, "PATCH", path, object{"name": "b", "remoteUser": "dev"})
	v.call(200, "PATCH", path, object{"hostId": uuidB})
	v.call(200, "PATCH", path, object{"hostId": uuidB})
	v.detail(v.call(409, "PATCH", path, object{"hostId": "33333333-3333-4333-8333-333333333333"}), "cannot be changed")
	got := v.call(200, "PATCH", path, object{}).object(t)
	fields(t, "computer", got, object{"name": "b", "hostId": uuidB, "remoteUser": "dev"})

	// A deleted or renamed computer frees its name and host ID.
	v.call(204, "DELETE", computers+"/"+a["id"].(string), nil)
	v.call(200, "PATCH", path, object{"name": "a"})
	v.computer(object{"name": "b", "hostId": uuidA})
	v.call(404, "PATCH", computers+"/"+uuidA, object{"name": "x"})
	v.call(404, "DELETE", computers+"/"+a["id"].(string), nil)
}

func TestListComputers(t *testing.T) {
	v := startParallel(t)
	key := v.BootstrapKey()
	for _, name := range []string{"one", "two", "three"} {
		v.computer(object{"name": name})
		v.clock.Advance(time.Second)
	}
	v.computer(object{"name": "hidden", "source": object{"kind": "template", "templateId": "template-base", "isListed": false}})
	v.computer(object{"name": "host", "hostId": uuidA})
	for query, want := range map[string]string{
		"?includeUnlisted=false": "host three two one",
		"?hostId=" + uuidA:       "host",
		"?hostId=" + uuidB:       "",
	} {
		same(t, query, v.names(key, query), want)
	}
	if got := v.names(key, "?includeUnlisted=true"); !strings.Contains(got, "hidden") || !strings.HasSuffix(got, "three two one") {
		t.Errorf("with unlisted: %q", got)
	}
	v.call(200, "GET", computers+"/name/hidden", nil)
	same(t, "providers", string(v.call(200, "GET", computers+"/providers", nil).raw), `{"providers":["managed-a","managed-b"]}`)
}

// TestAccess has who reaches the computer of a service account.
func TestComputersOfAnAccount(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	accountID, account := v.account("ci")
	for name, key := range map[string]string{"u": user, "s": account, "m": v.BootstrapKey()} {
		v.as(key, 201, "POST", computers, object{"name": name})
	}
	query := "?serviceAccountId=" + accountID
	same(t, "lists", v.names(v.BootstrapKey(), query)+"|"+v.names(v.BootstrapKey(), "")+"|"+v.names(user, ""), "s|m|u")
	v.call(200, "GET", computers+"/name/s"+query, nil)
	v.call(404, "GET", computers+"/name/s", nil)
}

func TestCreateFromASource(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	c := v.computer(object{"name": "t", "source": object{"kind": "execution-template", "templateId": "template-node", "isListed": true}})
	same(t, "computerSource", fmt.Sprint(c["computerSource"]), "map[kind:execution-template templateId:template-node]")
	clone := v.computer(object{"name": "clone", "source": object{"kind": "computer", "sourceComputerId": c["id"]}})
	same(t, "computerSource", fmt.Sprint(clone["computerSource"]), fmt.Sprintf("map[computerId:%s kind:computer]", c["id"]))
	byom := v.computer(object{"name": "byom", "provider": "byom"})
	for _, id := range []string{"x", strings.Repeat("x", 100_000)} {
		v.detail(v.call(404, "POST", computers, object{"name": "x", "source": object{"kind": "template", "templateId": id, "isListed": true}}), "No template")
		v.detail(v.call(404, "POST", computers, object{"name": "x", "source": object{"kind": "computer", "sourceComputerId": id}}), "No computer")
		v.detail(v.call(404, "POST", computers, object{"name": "x", "serviceAccountId": id}), "No service account")
		v.detail(v.call(404, "POST", computers+"/bulk", object{"quantity": 1, "namePrefix": "x", "serviceAccountId": id}), "No service account")
		v.detail(v.call(404, "GET", computers+"?serviceAccountId="+id, nil), "No service account")
	}
	v.as(user, 404, "POST", computers, object{"name": "x", "source": object{"kind": "computer", "sourceComputerId": c["id"]}})
	v.detail(v.call(400, "POST", computers, object{"name": "x", "source": object{"kind": "computer", "sourceComputerId": byom["id"]}}), "cloned")
}

func TestSoftwareDraftIsReplayed(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	body := func(name, turn string) object {
		return object{"name": name, "source": object{"kind": "template", "templateId": "template-base", "isListed": true,
			"softwareDraft": object{"workstreamId": uuidA, "creationSessionId": uuidA, "firstTurnId": turn}}}
	}
	id := v.computer(body("a", uuidA))["id"]
	fields(t, "replayed", v.call(200, "POST", computers, body("b", uuidA)).object(t), object{"id": id, "name": "a"})
	v.computer(body("other-turn", uuidB))
	v.as(user, 201, "POST", computers, body("of-user", uuidA))
	v.call(204, "DELETE", computers+"/"+id.(string), nil)
	v.computer(body("again", uuidA))
}

func TestBulkCreation(t *testing.T) {
	v := startParallel(t)
	v.computer(object{"name": "ci-2"})
	bulk := func(quantity int) object {
		return v.call(201, "POST", computers+"/bulk", object{"quantity": quantity, "namePrefix": "ci", "provider": "managed-b"}).object(t)
	}
	made := func(o object) string {
		var names []string
		for _, c := range o["computers"].([]any) {
			names = append(names, c.(object)["name"].(string))
		}
		return strings.Join(names, " ")
	}
	o := bulk(3)
	if made(o) != "ci-1 ci-3 ci-4" || o["requestedQuantity"] != 3.0 || o["error"] != nil {
		t.Errorf("first batch: %v", o)
	}
	first := o["computers"].([]any)[0].(object)
	fields(t, "first computer", first, object{"status": "provisioning", "providerType": "managed-b"})
	v.call(204, "DELETE", computers+"/"+first["id"].(string), nil)

	v.FailBulkAfter(2, "out of capacity")
	if o = bulk(2); o["error"] != nil { // Too small a batch to fail after two.
		t.Errorf("second batch: %v", o)
	}
	o = bulk(20)
	if made(o) != "ci-6 ci-7" || o["requestedQuantity"] != 20.0 || o["error"].(object)["message"] != "out of capacity" {
		t.Errorf("third batch: %v", o)
	}
	v.FailBulkAfter(0, "none left")
	if o = bulk(1); len(o["computers"].([]any)) != 0 || o["error"] == nil {
		t.Errorf("fourth batch: %v", o)
	}
	if o = bulk(1); made(o) != "ci-8" {
		t.Errorf("fifth batch: %v", o)
	}
}

func TestConcurrentCreates(t *testing.T) {
	v := startParallel(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			// Every name is wanted twice; one of the two must lose.
			a, err := v.try(v.BootstrapKey(), "POST", computers, object{"name": fmt.Sprintf("c-%d", i/2)})
			if err != nil || a.status != 201 && a.status != 409 {
				t.Errorf("create: %d %v", a.status, err)
			}
		})
	}
	wg.Wait()
	same(t, "computers", len(strings.Fields(v.names(v.BootstrapKey(), ""))), 25)
	same(t, "journal entries", v.Journal().Count("createComputer"), 50)
}

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
		check.Fails(t, v.Break(wrong), "")
	}
	v.clock.Advance(time.Minute)
	check.Must(t, v.Break(id))
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
	check.Is(t, "restarted", restarted(), false)
	v.clock.Advance(29 * time.Minute)
	same(t, "lastActiveAt", post(200, id, "activity").object(t)["lastActiveAt"], float64(v.clock.Now().UnixMilli()))
	v.clock.Advance(29 * time.Minute)
	check.Is(t, "restarted", restarted(), false)
	v.clock.Advance(time.Minute)
	post(200, id, "activity") // Too late: activity wakes nobody.
	if !restarted() || restarted() {
		t.Error("after 30 minutes without activity exactly the first restart should wake the computer")
	}
	check.Must(t, v.Sleep(id))
	same(t, "status while asleep", v.call(200, "GET", computers+"/"+id, nil).object(t)["status"], "active")
	check.Is(t, "a sleeping computer is restarted", restarted(), true)
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
