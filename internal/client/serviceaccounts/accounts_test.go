package serviceaccounts

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

var area = areatest.New[*Client](New)

func TestCreateServiceAccount_reconcilesALostAnswer(t *testing.T) {
	t.Parallel()
	const older, mine, other = `{"id":"sa_old","name":"ci","status":"active","createdAt":1772323200000}`, `{"id":"sa_new","name":"ci","status":"active"}`, `{"id":"sa_other","name":"CI","status":"active"}`
	for name, tc := range map[string]struct {
		before, after string // The listings before and after the POST.
		post          func(w http.ResponseWriter)
		posts         int
		wantID        string
		wantErr       any
	}{
		"dropped after commit": {before: other, after: other + "," + mine, post: clienttest.Drop, posts: 1, wantID: "sa_new"},
		"an older one exists":  {before: other + "," + older, posts: 0, wantErr: new(*create.ExistsError)},
		"another description":  {after: `{"id":"sa_new","name":"ci","description":"theirs"}`, post: clienttest.Drop, posts: 1, wantErr: new(*create.LostError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listing := tc.before
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method == http.MethodPost {
					listing = tc.after
					tc.post(w)
					return
				}
				clienttest.RespondJSON(w, 200, `{"serviceAccounts":[`+listing+`]}`)
			})
			got, err := c.Create(t.Context(), CreateRequest{Name: "ci"})
			if tc.wantErr == nil && (err != nil || got.ID != tc.wantID) {
				t.Errorf("got %+v, %v, want %s", got, err, tc.wantID)
			}
			if tc.wantErr != nil && !errors.As(err, tc.wantErr) {
				t.Errorf("got %#v, want a %T", err, tc.wantErr)
			}
			rec.WantCount(t, http.MethodPost, tc.posts)
		})
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
