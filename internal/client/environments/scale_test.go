package environments

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// manyEnvironments is a client of a service with n environments, which are named e0, e1, and so on.
func manyEnvironments(b *testing.B, n int) *Client {
	b.Helper()
	var list strings.Builder
	for k := range n {
		if k > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, `{"id":"env_%d","name":"e%d","repositories":[],"scope":"organization","status":"ready","createdAt":1}`, k, k)
	}
	body := `{"environments":[` + list.String() + `]}`
	var made atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			clienttest.RespondJSON(w, http.StatusCreated, fmt.Sprintf(`{"id":"env_new_%d","buildId":"bld_1"}`, made.Add(1)))
			return
		}
		clienttest.RespondJSON(w, http.StatusOK, body)
	}))
	b.Cleanup(server.Close)
	c := area.Connected(b, transport.Config{BaseURL: server.URL, APIKey: clienttest.Key, Clock: clock.NewFake(clienttest.Start)})
	if _, err := c.List(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	return c
}

// One environment costs the same for any number of others: its reads and its creation never scan the listing.
func BenchmarkEnvironment_amongMany(b *testing.B) {
	for name, do := range map[string]func(b *testing.B, c *Client, k int) error{
		"read": func(b *testing.B, c *Client, _ int) error {
			_, err := c.Get(b.Context(), "env_7")
			return err
		},
		"read by name": func(b *testing.B, c *Client, _ int) error {
			_, err := c.Find(b.Context(), "", CreateRequest{Name: "e7"}.hasName)
			return err
		},
		"create": func(b *testing.B, c *Client, k int) error {
			_, err := c.Create(b.Context(), CreateRequest{Name: fmt.Sprint("new", k), Scope: ScopeOrganization})
			return err
		},
	} {
		for _, n := range []int{100, 10_000} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				c := manyEnvironments(b, n)
				k := 0
				for b.Loop() {
					k++
					if err := do(b, c, k); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
