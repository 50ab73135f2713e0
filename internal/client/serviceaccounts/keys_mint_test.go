package serviceaccounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestCreateAPIKey(t *testing.T) {
	t.Parallel()
	amongOthers := (*Client).CreateKeyAmongOthers
	replaces := func(old Renewal) func(*Client, context.Context, NewAPIKey) (*MintedAPIKey, error) {
		return func(c *Client, ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
			return c.RenewKey(ctx, n, old)
		}
	}
	for name, tc := range map[string]struct {
		prepare  func(s *keyring)
		expires  bool
		call     func(*Client, context.Context, NewAPIKey) (*MintedAPIKey, error) // Nil means CreateKey.
		want     string                                                           // The ID of the returned key; empty for an error.
		wantErr  []string
		wantLive string
	}{
		"lost once":               {prepare: func(s *keyring) { s.breaking = once }, want: "made-2", wantLive: "[made-2]"},
		"a dead namesake":         {prepare: func(s *keyring) { s.add("old", revoked) }, want: "made-1", wantLive: "[made-1]"},
		"an expired namesake":     {prepare: func(s *keyring) { s.add("old", func(k *APIKey) { k.ExpiresAt = k.CreatedAt }) }, want: "made-1", wantLive: "[made-1]"},
		"a live namesake":         {prepare: func(s *keyring) { s.add("old", nil) }, wantErr: []string{"old", "2026-03-01T00:00:00Z", "already exists"}, wantLive: "[old]"},
		"among others":            {prepare: func(s *keyring) { s.add("old", nil) }, call: amongOthers, want: "made-1", wantLive: "[old made-1]"},
		"among others, lost once": {prepare: func(s *keyring) { s.add("old", nil); s.breaking = once }, call: amongOthers, want: "made-2", wantLive: "[old made-2]"},
		"somebody else at the same time": {
			prepare: func(s *keyring) {
				s.breaking = always
				s.meanwhile = func() { s.add("theirs", nil) }
			},
			wantErr: []string{"theirs", "made-1"}, wantLive: "[made-1 theirs]",
		},
		"somebody else's, the request lost before commit": {
			prepare: func(s *keyring) { s.swallow = true; s.breaking = always; s.meanwhile = func() { s.add("theirs", nil) } },
			expires: true, wantErr: []string{"theirs", "may have created"}, wantLive: "[theirs]",
		},
		"somebody else's before the request": {
			prepare: func(s *keyring) {
				s.swallow, s.breaking = true, always
				s.meanwhile = func() { s.add("theirs", func(k *APIKey) { k.CreatedAt -= 60_000 }) }
			},
			wantErr: []string{"theirs", "may have created"}, wantLive: "[theirs]",
		},
		"the service tells no time": {
			prepare: func(s *keyring) { s.timeless, s.breaking = true, once },
			wantErr: []string{"made-1", "may have created"}, wantLive: "[made-1]",
		},
		"its revocation fails": {
			prepare: func(s *keyring) { s.breaking, s.keeping = once, true },
			wantErr: []string{"made-1", "may have created", "createApiKey", "revokeApiKey"}, wantLive: "[made-1]",
		},
		"replaces one still listed": {prepare: func(s *keyring) { s.add("old", nil) }, call: replaces(Renewal{ID: "old"}), want: "made-1", wantLive: "[made-1]"},
		"replaces one that was rotated elsewhere": {
			prepare: func(s *keyring) { s.add("old", revoked); s.add("theirs", nil) },
			call:    replaces(Renewal{ID: "old"}), wantErr: []string{"already exists", "theirs"}, wantLive: "[theirs]",
		},
		"taken for revoked, and works": {
			prepare: func(s *keyring) { s.add("old", nil) },
			call:    replaces(Renewal{ID: "old", IsRevoked: true}), wantErr: []string{"works"}, wantLive: "[old]",
		},
		"spares one in its grace": {prepare: func(s *keyring) { s.add("old", revoked); s.add("spare", nil) }, call: replaces(Renewal{ID: "old", InGrace: []string{"spare"}}), want: "made-1", wantLive: "[spare made-1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newKeyring(t)
			if tc.prepare != nil {
				tc.prepare(s)
			}
			n := NewAPIKey{AccountID: "sa", Name: "ci"}
			if tc.expires {
				n.ExpiresAt = s.clk.Now().Add(time.Hour)
			}
			if tc.call == nil {
				tc.call = (*Client).CreateKey
			}
			made, err := tc.call(c, t.Context(), n)
			checkMade(t, s, made, err, tc.want, tc.wantErr, tc.wantLive)
		})
	}
}

func checkMade(t *testing.T, s *keyring, made *MintedAPIKey, err error, want string, wantErr []string, wantLive string) {
	t.Helper()
	if want != "" && (err != nil || made.ID != want || made.Value == "") {
		t.Errorf("got %+v, %v, want %s", made, err, want)
	}
	if want == "" && err == nil {
		t.Errorf("got %+v, want an error", made)
	}
	clienttest.WantText(t, err, wantErr...)
	check.Is(t, "the live keys", fmt.Sprint(s.live()), wantLive)
}

func TestRotateAPIKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare  func(s *keyring)
		grace    int64
		want     string
		wantErr  []string
		wantLive string
	}{
		"answered":  {want: "made-1", wantLive: "[made-1]"},
		"lost once": {prepare: func(s *keyring) { s.breaking = once }, want: "made-2", wantLive: "[made-2]"},
		"lost always": {
			prepare: func(s *keyring) { s.breaking = always },
			wantErr: []string{"API key old was rotated, but the value of the new key was lost", "createApiKey"}, wantLive: "[]",
		},
		"lost always, with a grace period": {
			prepare: func(s *keyring) { s.breaking = always }, grace: 5,
			wantErr: []string{"API key old was rotated, but the value of the new key was lost", "createApiKey"}, wantLive: "[old]",
		},
		"lost, and somebody else's appears": {
			prepare: func(s *keyring) {
				s.breaking = once
				s.meanwhile = func() { s.add("theirs", func(k *APIKey) { k.CreatedAt += 5000 }); s.meanwhile = nil }
			},
			wantErr: []string{"made-1", "theirs", "rotateApiKey"}, wantLive: "[made-1 theirs]",
		},
		"lost, and the service acts late": {prepare: func(s *keyring) { s.breaking, s.late = once, true }, want: "made-2", wantLive: "[made-2]"},
		"lost, and listed after an older one of somebody else": {
			prepare: func(s *keyring) {
				s.breaking, s.swallow = once, true
				s.meanwhile = func() {
					s.add("theirs", func(k *APIKey) { k.CreatedAt -= 60_000 })
					s.swallow, s.meanwhile = false, nil
					at := s.listed + 2
					s.onList = func() {
						if s.listed == at {
							s.add("made-1", nil)
						}
					}
				}
			},
			grace: 5, want: "made-2", wantLive: "[old theirs made-2]",
		},
		"refused, and a newer one lives": {
			prepare: func(s *keyring) { s.refusing = true; s.clk.Advance(time.Minute); s.add("lost", nil) }, grace: 10,
			wantErr: []string{"lost, created at 2026-03-01T00:01:00Z", "400"}, wantLive: "[old lost]",
		},
		"lost before commit, and somebody else's appears": {
			prepare:  func(s *keyring) { s.swallow, s.breaking, s.meanwhile = true, once, func() { s.add("theirs", nil) } },
			wantErr:  []string{"rotateApiKey"},
			wantLive: "[old theirs]",
		},
		"lost, another expiry appears": {
			prepare: func(s *keyring) {
				s.breaking = once
				s.meanwhile = func() { s.add("theirs", func(k *APIKey) { k.ExpiresAt = k.CreatedAt + 3600_000 }); s.meanwhile = nil }
			},
			grace: 5, want: "made-2", wantLive: "[old theirs made-2]",
		},
		"refused, because it was rotated elsewhere": {
			prepare: func(s *keyring) { s.refuse(func() { s.end("old", s.clk.Now()); s.add("theirs", nil) }) },
			wantErr: []string{"already exists", "theirs"}, wantLive: "[theirs]",
		},
		"refused, and vanished meanwhile": {
			prepare: func(s *keyring) { s.refuse(func() { s.keys = nil }) },
			want:    "made-1", wantLive: "[made-1]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newKeyring(t)
			s.add("old", nil)
			if tc.prepare != nil {
				tc.prepare(s)
			}
			made, err := c.RenewKey(t.Context(), NewAPIKey{AccountID: "sa", Name: "ci"}, Renewal{ID: "old", GraceMinutes: tc.grace})
			checkMade(t, s, made, err, tc.want, tc.wantErr, tc.wantLive)
		})
	}
}

// The creation time is the date of the response, unless the response has one. An error response is returned as it is.
// The service may trim the name: the answer is of the key all the same, and its value is not lost.
func TestCreateAPIKey_readsItsAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status       int
		date, answer string
		want         wire.Millis
	}{
		"by the Date":     {201, "Sun, 01 Mar 2026 00:00:09 GMT", `{"apiKey":{"id":"k","value":"fk","name":"ci"}}`, wire.Millis(time.Date(2026, 3, 1, 0, 0, 9, 0, time.UTC).UnixMilli())},
		"in the answer":   {201, "Sun, 01 Mar 2026 00:00:09 GMT", `{"apiKey":{"id":"k","value":"fk","name":"ci","createdAt":7}}`, 7},
		"nowhere":         {201, "", `{"apiKey":{"id":"k","value":"fk","name":"ci"}}`, 0},
		"refused":         {403, "", `{"detail":"no","status":403,"title":"x"}`, 0},
		"without a value": {201, "", `{"apiKey":{"id":"k","name":"ci"}}`, 0},
		"without a name":  {201, "", `{"apiKey":{"id":"k","value":"fk"}}`, 0},
		"known before":    {201, "", `{"apiKey":{"id":"known","value":"fk","name":"ci"}}`, 0},
		"of another name": {201, "", `{"apiKey":{"id":"k","value":"fk","name":"deploy"}}`, 0},
	} {
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header()["Date"] = nil
			if tc.date != "" {
				w.Header().Set("Date", tc.date)
			}
			if r.Method == http.MethodGet {
				clienttest.RespondJSON(w, 200, `{"apiKeys":[{"id":"known","name":"ci","isRevoked":true}]}`)
				return
			}
			clienttest.RespondJSON(w, tc.status, tc.answer)
		})
		made, err := c.CreateKey(t.Context(), NewAPIKey{AccountID: "sa", Name: "ci "})
		var lost *create.LostError
		useless := name == "without a value" || name == "of another name" || name == "known before"
		switch {
		case name == "refused" && (transport.StatusOf(err) != 403 || errors.As(err, &lost)), useless && err == nil:
			t.Errorf("%s: %v", name, err)
		case tc.status == 201 && !useless && (err != nil || made.CreatedAt != tc.want):
			t.Errorf("%s: %+v, %v", name, made, err)
		}
		check.Is(t, name+": mints", rec.Count(http.MethodPost), 1)
	}
}

// No key with a lost value stays live, and no more keys are minted than needed.
func TestAPIKeys_stopMinting(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare  func(s *keyring, interrupt func())
		rotates  bool
		minted   int
		wantErr  string
		wantLive string
		isErr    func(error) bool
	}{
		"every response is lost": {
			prepare: func(s *keyring, _ func()) { s.breaking = always },
			minted:  mintAttempts, wantErr: "createApiKey", wantLive: "[]", isErr: transport.IsAmbiguous,
		},
		"interrupted": {
			prepare: func(s *keyring, interrupt func()) { s.breaking, s.meanwhile = always, interrupt },
			minted:  1, wantErr: "createApiKey", wantLive: "[]", isErr: func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		"interrupted rotation": {
			prepare: func(s *keyring, interrupt func()) { s.add("old", nil); s.breaking, s.meanwhile = once, interrupt },
			rotates: true, minted: 1, wantErr: "rotateApiKey", wantLive: "[]", isErr: transport.IsAmbiguous,
		},
		"no listing after the loss": {
			prepare: func(s *keyring, _ func()) { s.breaking, s.deaf = always, true },
			minted:  1, wantErr: "API key", wantLive: "[made-1]", isErr: clienttest.Is[*create.LostError],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newKeyring(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			tc.prepare(s, interrupt)
			n, call := NewAPIKey{AccountID: "sa", Name: "ci"}, (*Client).CreateKey
			if tc.rotates {
				call = func(c *Client, ctx context.Context, n NewAPIKey) (*MintedAPIKey, error) {
					return c.RenewKey(ctx, n, Renewal{ID: "old"})
				}
			}
			made, err := call(c, ctx, n)
			checkMade(t, s, made, err, "", []string{tc.wantErr}, tc.wantLive)
			if lives := tc.wantLive != "[]"; s.made != tc.minted || !tc.isErr(err) || !lives && len(s.revoked) != tc.minted {
				t.Errorf("%d keys were created, %v revoked: %v", s.made, s.revoked, err)
			}
		})
	}
}

// slowKeyring takes long to list a key that it made, and drops the first response to its revocation after a while.
type slowKeyring struct {
	*keyring
	isAsked bool
}

func (s *slowKeyring) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	pause, isFirst := time.Duration(0), false
	switch {
	case s.made > 0 && r.Method == http.MethodGet:
		pause = 14 * time.Second
	case s.made > 0:
		pause, isFirst, s.isAsked = 2*time.Second, !s.isAsked, true
	}
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(pause):
	}
	if isFirst {
		return nil, io.ErrUnexpectedEOF
	}
	defer func() {
		if recover() != nil {
			err = io.ErrUnexpectedEOF
		}
	}()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// The search of an interrupted run may take nearly all the time that it has. The revocation of what it finds has its own.
func TestCreateKey_interruptedWithASlowService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		s := &keyring{clk: clock.NewFake(start), breaking: always, meanwhile: interrupt}
		c := area.Connected(t, transport.Config{BaseURL: "https://api.agentyard.example", APIKey: clienttest.Key, MaxRetries: 1, Transport: &slowKeyring{keyring: s}})
		made, err := c.CreateKey(ctx, NewAPIKey{AccountID: "sa", Name: "ci"})
		checkMade(t, s, made, err, "", []string{"createApiKey"}, "[]")
	})
}

// Keys with one name are created one after the other, so that none is mistaken for another's successor.
func TestCreateAPIKey_concurrently(t *testing.T) {
	t.Parallel()
	s, c := newKeyring(t)
	s.breaking = once
	var group sync.WaitGroup
	var mu sync.Mutex
	made, stopped := 0, 0
	for range 8 {
		group.Go(func() {
			_, err := c.CreateKey(t.Context(), NewAPIKey{AccountID: "sa", Name: "ci"})
			mu.Lock()
			defer mu.Unlock()
			var exists *create.ExistsError
			switch {
			case err == nil:
				made++
			case errors.As(err, &exists) && exists.Found[0].ID == "made-2" && exists.Found[0].ImportID == "sa/made-2":
				stopped++
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made != 1 || stopped != 7 || fmt.Sprint(s.live()) != "[made-2]" {
		t.Errorf("%d made, %d stopped, live: %v", made, stopped, s.live())
	}
}

// CreateMissingKey does not refuse because of a key that was revoked since the listing.
func TestCreateMissingKey_looksAgain(t *testing.T) {
	t.Parallel()
	s, c := newKeyring(t)
	s.add("old", nil)
	_, err := c.ListKeys(t.Context(), "sa")
	check.Must(t, err)
	s.end("old", s.clk.Now())
	made, err := c.CreateMissingKey(t.Context(), NewAPIKey{AccountID: "sa", Name: "ci"})
	checkMade(t, s, made, err, "made-1", nil, "[made-1]")
}

// A creation waits until a live key with the name is revoked. CreateMissingKey does not wait.
func TestCreateKey_waitsUntilTheNameIsFree(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		call func(*Client, context.Context, NewAPIKey) (*MintedAPIKey, error)
		want string
	}{
		"create":         {(*Client).CreateKey, "made-1"},
		"create missing": {(*Client).CreateMissingKey, ""},
	} {
		s, c := newKeyring(t)
		s.add("old", nil)
		s.onList = func() {
			if s.clk.Now().Sub(start) >= 3*time.Second {
				s.end("old", s.clk.Now())
			}
		}
		made, err := tc.call(c, t.Context(), NewAPIKey{AccountID: "sa", Name: "ci"})
		if (err == nil) != (tc.want != "") || err == nil && made.ID != tc.want {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
}
