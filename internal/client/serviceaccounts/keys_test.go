package serviceaccounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// keyring is a service with the keys of one account, and with configurable failures.
type keyring struct {
	mu   sync.Mutex
	clk  *clock.Fake
	keys []APIKey
	// breaking drops the response to the nth creation or rotation, counted from 1, after the service carried it out; nil drops
	// none.
	breaking func(n int) bool
	// refusing rejects every rotation of a live key with 400, and of one that is gone with 404.
	refusing bool
	// meanwhile is called after each creation and rotation.
	meanwhile func()
	// deaf drops every response after a creation or rotation, and keeping rejects revocations.
	deaf, keeping bool
	// swallow ignores creations and rotations, and timeless omits the Date header.
	swallow, timeless bool
	// late carries out a rotation that drops its response only at the second listing after it.
	late bool
	// beforeRefusal is called before a rotation is rejected, and onList before each listing.
	beforeRefusal, onList func()

	made    int
	listed  int
	revoked []string
}

func (s *keyring) add(id string, change func(*APIKey)) {
	k := APIKey{ID: id, Name: "ci", CreatedAt: wire.Millis(s.clk.Now().UnixMilli())}
	if change != nil {
		change(&k)
	}
	s.keys = append(s.keys, k)
}

func (s *keyring) end(id string, at time.Time) {
	for i := range s.keys {
		if s.keys[i].ID == id && !s.keys[i].IsRevoked {
			s.keys[i].IsRevoked, s.keys[i].RevokedAt = true, wire.Millis(at.UnixMilli())
		}
	}
}

func (s *keyring) refuse(before func()) { s.refusing, s.beforeRefusal = true, before }

func (s *keyring) live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, k := range s.keys {
		if k.IsLive(s.clk.Now()) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

func (s *keyring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header()["Date"] = []string{s.clk.Now().Format(http.TimeFormat)}
	if s.timeless {
		w.Header()["Date"] = nil
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v0/service-accounts/sa/api-keys"), "/")
	if s.deaf && s.made > 0 {
		clienttest.Drop(w)
	}
	switch {
	case r.Method == http.MethodGet:
		s.listed++
		if s.onList != nil {
			s.onList()
		}
		body, _ := json.Marshal(map[string]any{"apiKeys": s.keys})
		clienttest.RespondJSON(w, 200, string(body))
	case len(path) == 3 && path[2] == "revoke" && s.keeping:
		clienttest.RespondJSON(w, 403, `{"detail":"no","status":403,"title":"x"}`)
	case len(path) == 3 && path[2] == "revoke":
		s.revoked = append(s.revoked, path[1])
		s.end(path[1], s.clk.Now())
		w.WriteHeader(204)
	case len(path) == 3 && path[2] == "rotate":
		var body struct {
			GraceMinutes int `json:"gracePeriodMinutes"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if s.refusing {
			if s.beforeRefusal != nil {
				s.beforeRefusal()
			}
			status := 400
			if len(s.keys) == 0 {
				status = 404
			}
			clienttest.RespondJSON(w, status, `{"detail":"no","title":"x"}`)
			return
		}
		if s.late && s.breaking(s.made+1) {
			at := s.listed + 2
			s.made++
			s.onList = func() {
				if s.listed == at {
					s.end(path[1], s.clk.Now())
					s.add("made-1", nil)
				}
			}
			clienttest.Drop(w)
		}
		if !s.swallow && body.GraceMinutes == 0 {
			s.end(path[1], s.clk.Now())
		}
		s.mint(w, 200)
	default:
		s.mint(w, 201)
	}
}

func (s *keyring) mint(w http.ResponseWriter, status int) {
	if s.made++; s.made > 50 {
		clienttest.RespondJSON(w, 400, `{"detail":"the minting does not end"}`)
		return
	}
	id := fmt.Sprint("made-", s.made)
	if !s.swallow {
		s.add(id, nil)
	}
	if s.meanwhile != nil {
		s.meanwhile()
	}
	if s.breaking != nil && s.breaking(s.made) {
		clienttest.Drop(w)
	}
	clienttest.RespondJSON(w, status, fmt.Sprintf(`{"apiKey":{"id":%q,"value":"fk-value-%d","fingerprint":"f","name":"ci","expiresAt":null}}`, id, s.made))
}

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func newKeyring(t *testing.T) (*keyring, *Client) {
	t.Helper()
	s := &keyring{clk: clock.NewFake(start)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c := area.Connected(t, transport.Config{BaseURL: server.URL, APIKey: clienttest.Key, MaxRetries: 1, Clock: s.clk})
	return s, c
}

func revoked(k *APIKey) { k.IsRevoked, k.RevokedAt = true, k.CreatedAt }

func always(int) bool { return true }

func once(n int) bool { return n == 1 }

// A machine whose clock is wrong gives a key the life that the configuration says: the service counts by its own clock.
func TestCreateKey_lifeByTheServicesClock(t *testing.T) {
	t.Parallel()
	const ahead, life = 15 * time.Minute, 20 * time.Minute
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("Date", clienttest.Start.Add(ahead).Format(http.TimeFormat))
		if r.Method == http.MethodGet {
			clienttest.RespondJSON(w, 200, `{"apiKeys":[]}`)
			return
		}
		clienttest.RespondJSON(w, 201, `{"apiKey":{"id":"k","value":"v"}}`)
	})
	_, err := c.CreateKeyAmongOthers(t.Context(), NewAPIKey{AccountID: "sa", ExpiresIn: life})
	check.Must(t, err)
	if want := fmt.Sprintf(`"expiresAt":%d}`, clienttest.Start.Add(ahead+life).UnixMilli()); !strings.HasSuffix(rec.Bodies[len(rec.Bodies)-1], want) {
		t.Errorf("sent %v, want %s", rec.Bodies, want)
	}
}

// A machine whose clock is wrong judges by the service's clock whether a key has expired: before a creation, a rotation, and after a 404 for
// a revocation.
func TestKeys_expireByTheServicesClock(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ahead, expiresIn time.Duration // The service's clock, and a key, by this machine's clock.
		create, renew    string        // What is sent for another key with the name, and in place of the key.
		isGone           bool          // Whether the key is gone after a 404 for its revocation.
	}{
		"behind the service, the key has expired":   {15 * time.Minute, 10 * time.Minute, "api-keys", "api-keys", true},
		"behind the service, the key lives":         {15 * time.Minute, 20 * time.Minute, "", "rotate", false},
		"ahead of the service, the key has expired": {-15 * time.Minute, -20 * time.Minute, "api-keys", "api-keys", true},
		"ahead of the service, the key lives":       {-15 * time.Minute, -10 * time.Minute, "", "rotate", false},
	} {
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
			w.Header().Set("Date", clienttest.Start.Add(tc.ahead).Format(http.TimeFormat))
			switch {
			case strings.HasSuffix(r.URL.Path, "/revoke"):
				clienttest.RespondJSON(w, 404, `{"detail":"no"}`)
			case r.Method == http.MethodPost:
				clienttest.RespondJSON(w, 201, fmt.Sprintf(`{"apiKey":{"id":"new-%d","value":"v"}}`, n))
			default:
				clienttest.RespondJSON(w, 200, fmt.Sprintf(`{"apiKeys":[{"id":"old","name":"ci","expiresAt":%d}]}`, clienttest.Start.Add(tc.expiresIn).UnixMilli()))
			}
		})
		sent := func() string {
			last := rec.Calls()[len(rec.Calls())-1]
			if !strings.HasPrefix(last, http.MethodPost) {
				return ""
			}
			return last[strings.LastIndex(last, "/")+1:]
		}
		check.Is(t, name+": revoked", collection.IsGone(c.RevokeExistingKey(t.Context(), "sa", "old")), tc.isGone)
		n := NewAPIKey{AccountID: "sa", Name: "ci"}
		made, err := c.CreateKey(t.Context(), n)
		if sent() != tc.create || (err == nil) != (tc.create != "") {
			t.Errorf("%s: create: sent %q, %v", name, sent(), err)
		}
		old := Renewal{ID: "old"}
		if made != nil {
			old.InGrace = []string{made.ID}
		}
		if _, err := c.RenewKey(t.Context(), n, old); sent() != tc.renew || err != nil {
			t.Errorf("%s: renew: sent %q, %v", name, sent(), err)
		}
	}
}

// A creation that is answered with another account does not make that one look new: its key is rotated, and none is minted beside it.
func TestKeys_afterAResponseWithAnotherAccount(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch isKey := strings.Contains(r.URL.Path, "/api-keys"); {
		case r.Method == http.MethodPost && isKey:
			clienttest.RespondJSON(w, 201, `{"apiKey":{"id":"new","value":"v"}}`)
		case r.Method == http.MethodPost:
			clienttest.RespondJSON(w, 201, `{"serviceAccount":{"id":"sa","name":"theirs"}}`)
		case isKey:
			clienttest.RespondJSON(w, 200, `{"apiKeys":[{"id":"old","name":"ci"}]}`)
		default:
			clienttest.RespondJSON(w, 200, `{"serviceAccounts":[{"id":"sa","name":"theirs"}]}`)
		}
	})
	if _, err := c.Create(t.Context(), CreateRequest{Name: "mine"}); err == nil {
		t.Error("another account counts as the new one")
	}
	_, err := c.RenewKey(t.Context(), NewAPIKey{AccountID: "sa", Name: "ci"}, Renewal{ID: "old"})
	if last := rec.Calls()[len(rec.Calls())-1]; err != nil || !strings.HasSuffix(last, "/rotate") {
		t.Errorf("sent %s, %v", last, err)
	}
}

var area = areatest.New[*Client](New)

// A name in other letters is another name, and an account with another description is not the lost one. See create.TestNamed.
func TestCreateServiceAccount_lost(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{`{"id":"sa_new","name":"ci"}`: "sa_new", `{"id":"sa_new","name":"ci","description":"theirs"}`: ""} {
		listing := `{"id":"sa_other","name":"CI"}`
		c, rec, _ := area.ServeShort(t, func(call string) string {
			if strings.HasPrefix(call, http.MethodPost) {
				listing += "," + after
				return "drop"
			}
			return `200 {"serviceAccounts":[` + listing + `]}`
		})
		got, err := c.Create(t.Context(), CreateRequest{Name: "ci"})
		if (err == nil) != (want != "") || err == nil && got.ID != want {
			t.Errorf("%s: got %+v, %v", after, got, err)
		}
		rec.WantCount(t, http.MethodPost, 1)
	}
}

// An account that was found after a lost response may be another run's, and have keys already.
func TestKeysNamed_ofANewAccount(t *testing.T) {
	t.Parallel()
	const account = `{"id":"sa","name":"ci","status":"active"}`
	for response, listings := range map[string]int{"201 " + account: 0, "drop": 1} {
		isSent := false
		c, rec, _ := area.ServeShort(t, func(call string) string {
			switch {
			case strings.HasPrefix(call, http.MethodPost):
				isSent = true
				return response
			case strings.HasSuffix(call, "/api-keys"):
				return `200 [{"id":"k","name":"ci"}]`
			case isSent:
				return `200 [` + account + `]`
			}
			return `200 []`
		})
		_, err := c.Create(t.Context(), CreateRequest{Name: "ci"})
		check.Must(t, err)
		before := len(rec.Calls())
		keys, err := c.KeysNamed(t.Context(), "sa", "ci")
		if asked := len(rec.Calls()) - before; err != nil || len(keys) != listings || asked != listings {
			t.Errorf("%s: %v, %v with %d requests, want %d", response, keys, err, asked, listings)
		}
	}
}

// Values of keys are only in the state. So a key is gone only if its account is gone too, or if it is not listed as live.
func TestKeys_afterA404(t *testing.T) {
	t.Parallel()
	const gone, live, dead = `404 {"detail":"no such account"}`, `200 [{"id":"k","name":"ci"}]`, `200 [{"id":"k","name":"ci","isRevoked":true}]`
	const account = `200 {"id":"sa","name":"a"}`
	for name, tc := range map[string]struct {
		keys, account    string
		isRead, isRevoke bool // Whether the key is gone, according to a read and to a revocation.
	}{
		"the account is gone":            {gone, gone, true, true},
		"the account is there":           {gone, account, false, false},
		"the account cannot be read":     {gone, `403 {"detail":"no"}`, false, false},
		"the keys cannot be listed":      {`403 {"detail":"no"}`, gone, false, false},
		"the key is live":                {live, account, false, false},
		"the key is revoked":             {dead, account, false, true},
		"the key is not listed":          {`200 []`, account, false, true},
		"the keys are on another server": {"404 <html>", gone, false, false},
	} {
		c, _, _ := area.ServeShort(t, func(call string) string {
			switch {
			case strings.HasPrefix(call, http.MethodPost):
				return gone
			case strings.HasSuffix(call, "/api-keys"):
				return tc.keys
			}
			return tc.account
		})
		if _, err := c.GetKey(t.Context(), "sa", "k"); collection.IsGone(err) != tc.isRead {
			t.Errorf("%s: read: %v", name, err)
		}
		if err := c.RevokeExistingKey(t.Context(), "sa", "k"); collection.IsGone(err) != tc.isRevoke || err == nil {
			t.Errorf("%s: revoked: %v", name, err)
		}
	}
}
