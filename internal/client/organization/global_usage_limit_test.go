package organization

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// A renamed resource sets and removes the limit in any order.
func TestGlobalUsageLimit_aValueOutlivesARemoval(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: `200 {"limit":1000000}`}))
	for _, limit := range []*int64{nil, new(int64(million)), nil} {
		if err := c.SetGlobalUsageLimit(t.Context(), limit); err != nil {
			t.Error(err)
		}
	}
	if want := []string{`{"limit":null}`, `{"limit":1000000}`}; !slices.Equal(rec.Bodies, want) {
		t.Errorf("sent %v", rec.Bodies)
	}
}

// Success is every 2xx of the service.
func TestSetAndRemoveGlobalUsageLimit(t *testing.T) {
	t.Parallel()
	asked, tried := []string{putGlobal}, []string{putGlobal, putGlobal, putGlobal, putGlobal}
	for name, tc := range map[string]struct {
		limit   *int64
		put     string
		wantErr func(error) bool
		calls   []string
	}{
		"set":             {new(int64(largest)), `200 {"limit":9007199254740992}`, nil, asked},
		"set, 204":        {new(int64(largest)), "204 ", nil, asked},
		"set, {}":         {new(int64(largest)), "200 {}", nil, asked},
		"a page":          {new(int64(largest)), "200 <html>", clienttest.Is[*transport.TransportError], tried},
		"403":             {new(int64(largest)), `403 {"detail":"no"}`, clienttest.Is[*transport.APIError], asked},
		"a page of 404":   {new(int64(largest)), "404 <html>", transport.IsForeign, asked},
		"500":             {new(int64(largest)), `500 {"detail":"no"}`, clienttest.Is[*transport.APIError], tried},
		"removed":         {nil, `200 {"limit":null}`, nil, asked},
		"removal lost":    {nil, "drop", clienttest.Is[*transport.TransportError], tried},
		"removal refused": {nil, `403 {"detail":"no"}`, clienttest.Is[*transport.APIError], asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: tc.put}))
			err := c.SetGlobalUsageLimit(t.Context(), tc.limit)
			if !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %v", err)
			}
			clienttest.WantText(t, err, "setGlobalUsageLimit")
			rec.Want(t, tc.calls...)
			body := `{"limit":9007199254740992}`
			if tc.limit == nil {
				body = `{"limit":null}`
			}
			if rec.Bodies[0] != body {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}
