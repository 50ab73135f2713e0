package emulator_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const accounts = "/api/v0/service-accounts"

func TestServiceAccountLifecycle(t *testing.T) {
	v := startParallel(t)
	a := v.call(201, "POST", accounts, object{"name": "ci", "description": "builds"}).object(t)
	id := a["id"].(string)
	if !strings.HasPrefix(id, "sa_") || len(id) != 29 || a["status"] != "active" || a["description"] != "builds" || len(a) != 4 {
		t.Errorf("created: %v", a)
	}
	path := accounts + "/" + id
	v.detail(v.call(409, "POST", accounts, object{"name": "ci"}), "already has")
	fields(t, "updated", v.call(200, "PATCH", path, object{"description": "", "status": "inactive"}).object(t), object{"status": "inactive", "description": nil})
	v.clock.Advance(time.Second)
	v.call(201, "POST", accounts, object{"name": "other"})
	list := v.call(200, "GET", accounts, nil).object(t)["serviceAccounts"].([]any)
	same(t, "list", []any{len(list), list[0].(object)["name"], list[1].(object)["id"]}, []any{2, "other", id})
	same(t, "delete", string(v.call(200, "DELETE", path, nil).raw), `{"deleted":true}`)
	v.call(404, "GET", path, nil)
	v.call(404, "PATCH", path, object{})
	v.call(404, "DELETE", path, nil)
	v.call(404, "GET", path+"/api-keys", nil)
	v.call(404, "POST", path+"/api-keys", object{"name": "k"})
	v.call(201, "POST", accounts, object{"name": "ci"})
}

// TestDeletedServiceAccount checks that a soft deletion tears down computers and ends keys, and of no other account.
func TestDeletedServiceAccount(t *testing.T) {
	v := startParallel(t)
	id, key := v.account("ci")
	_, other := v.account("other")
	mine := v.as(key, 201, "POST", computers, object{"name": "a"}).object(t)["id"].(string)
	theirs := v.as(other, 201, "POST", computers, object{"name": "a"}).object(t)["id"].(string)
	v.call(200, "DELETE", accounts+"/"+id, nil)
	v.call(404, "GET", computers+"/"+mine, nil)
	v.call(200, "GET", computers+"/"+theirs, nil)
	v.as(key, 401, "GET", computers, nil)
	v.as(other, 200, "GET", computers, nil)
}

func TestKeysOfAnInactiveAccount(t *testing.T) {
	v := startParallel(t)
	id, key := v.account("ci")
	v.call(200, "PATCH", accounts+"/"+id, object{"status": "inactive"})
	v.detail(v.as(key, 401, "GET", computers, nil), "not active")
	v.call(200, "PATCH", accounts+"/"+id, object{"status": "active"})
	v.as(key, 200, "GET", computers, nil)
}

// mint creates or rotates a key and returns the object under apiKey.
func (v *env) mint(want int, path string, body any) object {
	v.t.Helper()
	return v.call(want, "POST", path, body).object(v.t)["apiKey"].(object)
}

func TestAPIKeyLifecycle(t *testing.T) {
	v := startParallel(t)
	id, _ := v.account("ci")
	keys := accounts + "/" + id + "/api-keys"
	expiry := float64(v.clock.Now().Add(time.Hour).UnixMilli())
	v.clock.Advance(time.Second)
	k := v.mint(201, keys, object{"name": "key", "expiresAt": expiry})
	value := k["value"].(string)
	if !strings.HasPrefix(value, "fk-") || k["name"] != "key" || k["expiresAt"] != expiry || len(k) != 5 {
		t.Errorf("created: %v", k)
	}
	v.as(value, 200, "GET", computers, nil)
	raw := v.call(200, "GET", keys, nil)
	check.Lacks(t, string(raw.raw), value)
	list := raw.object(t)["apiKeys"].([]any)
	want := object{
		"id": k["id"], "name": "key", "fingerprint": k["fingerprint"], "createdAt": float64(v.clock.Now().UnixMilli()),
		"isRevoked": false, "expiresAt": expiry, "revokedAt": nil,
	}
	if len(list) != 2 || fmt.Sprint(list[0]) != fmt.Sprint(want) { // Same name, twice: names are not unique.
		t.Errorf("list: %v", list)
	}
	v.clock.Advance(time.Hour)
	v.detail(v.as(value, 401, "GET", computers, nil), "expired")
	v.detail(v.call(400, "POST", keys+"/"+k["id"].(string)+"/rotate", nil), "expired")

	revoke := keys + "/" + k["id"].(string) + "/revoke"
	v.call(204, "POST", revoke, nil)
	revokedAt := float64(v.clock.Now().UnixMilli())
	v.clock.Advance(time.Minute)
	v.call(204, "POST", revoke, nil)
	got := v.call(200, "GET", keys, nil).object(t)["apiKeys"].([]any)[0].(object)
	fields(t, "revoked", got, object{"isRevoked": true, "revokedAt": revokedAt})
	v.detail(v.as(value, 401, "GET", computers, nil), "revoked")
	v.detail(v.call(409, "POST", keys+"/"+k["id"].(string)+"/rotate", nil), "revoked")
	v.call(404, "POST", keys+"/none/revoke", nil)
	v.call(404, "POST", keys+"/none/rotate", nil)
}

func TestRotation(t *testing.T) {
	v := startParallel(t)
	id, _ := v.account("ci")
	keys := accounts + "/" + id + "/api-keys"
	at := func(d time.Duration) int64 { return v.clock.Now().Add(d).UnixMilli() }
	first := v.mint(201, keys, object{"name": "deploy", "expiresAt": at(time.Hour)})
	rotate := func(k object) string { return keys + "/" + k["id"].(string) + "/rotate" }
	works := func(k object) bool {
		a, err := v.try(k["value"].(string), "GET", computers, nil)
		return err == nil && a.status == 200
	}

	second := v.mint(200, rotate(first), nil)
	if works(first) || !works(second) || second["name"] != "deploy" || second["id"] == first["id"] || second["expiresAt"] != nil {
		t.Errorf("rotated at once: %v", second)
	}
	third := v.mint(200, rotate(second), object{"gracePeriodMinutes": 10, "expiresAt": at(5 * time.Minute)})
	if !works(second) || !works(third) {
		t.Error("both keys should work during the grace period")
	}
	v.detail(v.call(409, "POST", rotate(first), nil), "revoked")
	v.detail(v.call(409, "POST", rotate(second), nil), "already rotated")
	v.detail(v.call(409, "POST", rotate(second), object{"gracePeriodMinutes": 10}), "already rotated")
	v.detail(v.call(400, "POST", rotate(third), object{"gracePeriodMinutes": 6}), "expires before the grace period")
	fourth := v.mint(200, rotate(third), object{"gracePeriodMinutes": 5})
	v.clock.Advance(5 * time.Minute)
	if works(third) || !works(second) || !works(fourth) {
		t.Error("after five minutes the third key should have ended, and only it")
	}
	v.clock.Advance(5*time.Minute - time.Millisecond)
	check.Is(t, "the second key works in its grace period", works(second), true)
	v.clock.Advance(time.Millisecond)
	check.Is(t, "the second key works after its grace period", works(second), false)
	// Revoking ends a grace period early.
	fifth := v.mint(200, rotate(fourth), object{"gracePeriodMinutes": 10})
	v.call(204, "POST", keys+"/"+fourth["id"].(string)+"/revoke", nil)
	if works(fourth) || !works(fifth) {
		t.Error("the fourth key should have ended by its revocation")
	}
}

func TestKeysAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	_, key := v.account("ci")
	check.Must(t, v.Close())
	data, err := os.ReadFile(v.file)
	check.Must(t, err)
	if bytes.Contains(data, []byte(key)) {
		t.Error("the data file holds the key itself")
	}
}
