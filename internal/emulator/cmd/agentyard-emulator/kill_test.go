package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

const (
	accountsPath  = "/api/v0/service-accounts"
	computersPath = "/api/v0/computers"
	sessionsPath  = "/api/v0/sessions"
)

// object is a decoded JSON object.
type object = map[string]any

// killable is an emulator as a process of its own.
type killable struct {
	t        *testing.T
	cmd      *exec.Cmd
	url, key string
	acked    atomic.Int64 // Writes that were acknowledged.
	// It is killed with a number of requests left that contain a text: when the last one is sent, or when its response arrives.
	deadly     string
	left       atomic.Int64 // 0 is never.
	onResponse bool
}

func startKillable(t *testing.T, file string) *killable {
	t.Helper()
	cmd := emulatorCommand(t, t.TempDir(), "-listen", "127.0.0.1:0", "-data", file, "-quiet", "-step", "0", "-session-delay", "0", "-session-list-delay", "0")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems.Len() > 0 {
			t.Errorf("the emulator says: %s", &problems)
		}
	})
	k := &killable{t: t, cmd: cmd}
	k.url, k.key, _ = printed(t, out)
	return k
}

// end kills the emulator, unless that was done, and waits for it.
func (k *killable) end() {
	k.t.Helper()
	_ = k.cmd.Process.Kill()
	var exit *exec.ExitError
	if err := k.cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		k.t.Fatalf("the emulator ended with %v", err)
	}
}

// send sends a request. Nobody knows what became of one that returns an error.
func (k *killable) send(key, method, path string, body any) (int, []byte, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, k.url+path, reader)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	last := strings.Contains(method+" "+path, k.deadly) && k.left.Add(-1) == 0
	if last && !k.onResponse {
		go func() { _ = k.cmd.Process.Kill() }()
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	if last && k.onResponse {
		_ = k.cmd.Process.Kill() // Requests of others are under way.
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// write sends a request with the manager's key, and reports whether it was acknowledged.
func (k *killable) write(method, path string, body any) (object, bool) {
	status, text, err := k.send(k.key, method, path, body)
	if err != nil {
		return nil, false
	}
	var answer object
	if status >= 300 || json.Unmarshal(text, &answer) != nil {
		k.t.Errorf("%s %s: %d %s", method, path, status, text)
		return nil, false
	}
	k.acked.Add(1)
	return answer, true
}

// read returns an object that must be there.
func (k *killable) read(path string) object {
	k.t.Helper()
	status, text, err := k.send(k.key, http.MethodGet, path, nil)
	var answer object
	if err != nil || status != http.StatusOK || json.Unmarshal(text, &answer) != nil {
		k.t.Errorf("%s: %d %s %v", path, status, text, err)
	}
	return answer
}

// status is that of a GET.
func (k *killable) status(key, path string) int {
	k.t.Helper()
	status, _, err := k.send(key, http.MethodGet, path, nil)
	if err != nil {
		k.t.Error(err)
	}
	return status
}

// family is a service account with what belongs to it: a key, which is rotated, and a computer. It is deleted as a whole.
type family struct {
	account, computer, key, former string
	rotating, deleting, deleted    bool // The first two are asked for, and not acknowledged.
}

// ledger is what the writers of all rounds know.
type ledger struct {
	mu       sync.Mutex
	kept     map[string]object // What a creation returned, by path.
	fleets   map[string]bool   // Whether the bulk creation with a prefix was acknowledged.
	families []*family
}

// note changes the ledger.
func (l *ledger) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// writers are loops that write until the emulator is gone.
func (l *ledger) writers(k *killable, round int) []func(i int) bool {
	name := func(kind string, i int) string { return fmt.Sprintf("%s-%d-%d", kind, round, i) }
	return []func(int) bool{
		func(i int) bool { // Accounts.
			a, ok := k.write("POST", accountsPath, object{"name": name("account", i), "description": strings.Repeat("d", 1000)})
			if ok {
				l.note(func() { l.kept[accountsPath+"/"+a["id"].(string)] = a })
			}
			return ok
		},
		func(i int) bool { // Computers, one by one, with sessions.
			c, ok := k.write("POST", computersPath, object{"name": name("one", i), "provider": "byom"})
			if !ok {
				return false
			}
			l.note(func() { l.kept[computersPath+"/"+c["id"].(string)] = c })
			s, ok := k.write("POST", sessionsPath, object{"computerId": c["id"], "cwd": "/w", "sessionSettings": object{}})
			if ok {
				l.note(func() {
					l.kept[sessionsPath+"/"+s["sessionId"].(string)] = object{"sessionId": s["sessionId"], "computerId": c["id"]}
				})
			}
			return ok
		},
		func(i int) bool { // Computers, many at once.
			prefix := name("bulk", i)
			l.note(func() { l.fleets[prefix] = false })
			_, ok := k.write("POST", computersPath+"/bulk", object{"namePrefix": prefix, "quantity": 5})
			if ok {
				l.note(func() { l.fleets[prefix] = true })
			}
			return ok
		},
		func(i int) bool { // Accounts with keys and computers.
			a, ok := k.write("POST", accountsPath, object{"name": name("family", i)})
			if !ok {
				return false
			}
			f := &family{account: accountsPath + "/" + a["id"].(string)}
			minted, ok := k.write("POST", f.account+"/api-keys", object{"name": "key"})
			if !ok {
				return false
			}
			key := minted["apiKey"].(object)
			f.key = key["value"].(string)
			c, ok := k.write("POST", computersPath, object{"name": name("of", i), "serviceAccountId": a["id"]})
			if !ok {
				return false
			}
			f.computer = computersPath + "/" + c["id"].(string)
			l.note(func() { l.families = append(l.families, f) })

			l.note(func() { f.rotating = true })
			minted, ok = k.write("POST", f.account+"/api-keys/"+key["id"].(string)+"/rotate", nil)
			if !ok {
				return false
			}
			l.note(func() { f.rotating, f.former, f.key = false, f.key, minted["apiKey"].(object)["value"].(string) })
			if i%3 == 0 {
				return true
			}
			l.note(func() { f.deleting = true })
			if _, ok = k.write("DELETE", f.account, nil); ok {
				l.note(func() { f.deleting, f.deleted = false, true })
			}
			return ok
		},
	}
}

// check compares an emulator with all that was acknowledged, and with itself.
func (l *ledger) check(k *killable) {
	k.t.Helper()
	for path, want := range l.kept {
		got := k.read(path)
		for field, value := range want {
			if fmt.Sprint(got[field]) != fmt.Sprint(value) {
				k.t.Errorf("%s was acknowledged as %v, and is %v", path, want, got)
				break
			}
		}
	}
	for _, f := range l.families {
		l.checkFamily(k, f)
	}
	sizes := map[string]int{}
	list, _ := k.read(computersPath)["computers"].([]any)
	for _, c := range list {
		id, name := c.(object)["id"], c.(object)["name"].(string)
		sizes[name[:strings.LastIndex(name, "-")]]++
		if byName := k.read(computersPath + "/name/" + name); byName["id"] != id {
			k.t.Errorf("%s is %v in the list, and %v by its name", name, id, byName["id"])
		}
	}
	for prefix, acked := range l.fleets {
		if n := sizes[prefix]; n != 5 && (acked || n != 0) {
			k.t.Errorf("the bulk creation of %s, acknowledged: %v, left %d of 5 computers", prefix, acked, n)
		}
	}
}

// checkFamily demands that a deletion and a rotation happened as a whole, or not at all.
func (l *ledger) checkFamily(k *killable, f *family) {
	k.t.Helper()
	account, computer, key := k.status(k.key, f.account), k.status(k.key, f.computer), k.status(f.key, computersPath)
	switch {
	case account == 404 && (f.deleted || f.deleting):
		if computer != 404 || key != 401 {
			k.t.Errorf("%s is deleted, but its computer returns %d, and its key %d", f.account, computer, key)
		}
		return
	case account != 200 || f.deleted || computer != 200 || key != 200 && !f.rotating:
		k.t.Errorf("%+v: the account returns %d, its computer %d, and its key %d", f, account, computer, key)
		return
	case f.former != "" && k.status(f.former, computersPath) != 401:
		k.t.Errorf("%s was rotated, but the former key is valid", f.account)
	}
	live := 0
	keys, _ := k.read(f.account + "/api-keys")["apiKeys"].([]any)
	for _, key := range keys {
		if key.(object)["isRevoked"] == false {
			live++
		}
	}
	if live != 1 {
		k.t.Errorf("%s has %d live keys: %v", f.account, live, keys)
	}
}

// What was acknowledged survives a kill at any moment as a whole, and what was not is there as a whole or not at all.
func TestKill_losesNothing_slow(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: `make test-slow` runs it")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.db")
	l := &ledger{kept: map[string]object{}, fleets: map[string]bool{}}
	random := rand.New(rand.NewPCG(1, 2))
	deadly := []string{"POST " + accountsPath, "POST " + computersPath, "/bulk", "/rotate", "DELETE ", sessionsPath}
	var acked int64
	for round := range 2 * len(deadly) {
		k := startKillable(t, file)
		l.check(k)
		k.deadly, k.onResponse = deadly[round/2], round%2 == 1
		k.left.Store(2 + random.Int64N(5))
		var writers sync.WaitGroup
		for _, write := range l.writers(k, round) {
			writers.Go(func() {
				for i := 0; write(i); i++ {
				}
			})
		}
		writers.Wait()
		k.end()
		acked += k.acked.Load()
	}
	if acked < 100 {
		t.Errorf("only %d writes were acknowledged", acked)
	}
	k := startKillable(t, file)
	l.check(k)
	k.end()
}
