package emulator_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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
