package organization

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestGlobalUsageLimit_writtenTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second *int64
		wantErr       func(error) bool
	}{
		"a value and a removal": {new(int64(million)), nil, nil},
		"a removal and a value": {nil, new(int64(million)), nil},
		"two values":            {new(int64(million)), new(int64(2 * million)), clienttest.Is[*LimitConflictError]},
	} {
		t.Run(name, func(t *testing.T) {
			area.InBubble(t, clienttest.Responses(map[string]string{putGlobal: `200 {"limit":1000000}`}), func(t *testing.T, c *Client, b *clienttest.Bubbled) {
				write := func(limit *int64) error {
					if limit == nil {
						return c.RemoveGlobalUsageLimit(t.Context())
					}
					_, err := c.SetGlobalUsageLimit(t.Context(), *limit)
					return err
				}
				go func() {
					if err := write(tc.first); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				if err := write(tc.second); !clienttest.IsA(err, tc.wantErr) {
					t.Errorf("got %v", err)
				}
				_ = clock.System.Sleep(t.Context(), time.Second)
				b.Want(t, "50ms "+putGlobal)
			})
		})
	}
}

// An apply plans again after each write, which must not list the limits again.
func TestUsageLimitsAtPlan(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
		getLimits: limited("a@x 1"), putLimits: updated("a@x 1000000"), getGlobal: `200 {"limit":7}`,
	}))
	plan := func() {
		t.Helper()
		if limits, err := c.UsageLimitsAtPlan(t.Context()); err != nil || shownLimits(limits) != "none a@x=1" {
			t.Errorf("got %+v, %v", limits, err)
		}
		if limit, err := c.GlobalUsageLimitAtPlan(t.Context()); err != nil || *limit != 7 {
			t.Errorf("the global limit is %v, %v", limit, err)
		}
	}
	for range 2 {
		plan()
		if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
			t.Error(err)
		}
	}
	rec.Want(t, getLimits, getGlobal, putLimits, putLimits)
}

// Many plans share one failed listing, and report it once.
func TestUsageLimitsAtPlan_refused(t *testing.T) {
	t.Parallel()
	const no = `403 {"detail":"no"}`
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getLimits: no, getGlobal: no}))
	for _, fails := range []bool{true, false} {
		limits, userErr := c.UsageLimitsAtPlan(t.Context())
		if limits != nil || (userErr != nil) != fails {
			t.Errorf("got %+v, %v", limits, userErr)
		}
	}
	if limit, err := c.GlobalUsageLimitAtPlan(t.Context()); limit != nil || err == nil {
		t.Errorf("the global limit is %v, %v", limit, err)
	}
	rec.Want(t, getLimits, getGlobal)
}

func TestSetAndRemoveGlobalUsageLimit(t *testing.T) {
	t.Parallel()
	asked, looked := []string{putGlobal}, []string{putGlobal, getGlobal}
	lost := []string{putGlobal, putGlobal, putGlobal, putGlobal, getGlobal}
	const own, none = `200 {"limit":9007199254740992}`, `200 {"limit":null}`
	for name, tc := range map[string]struct {
		removes   bool
		put, read string
		wantErr   func(error) bool
		says      string
		calls     []string
	}{
		"set":                        {put: own, calls: asked},
		"set, with other keys":       {put: `201 {"limit":9007199254740992,"new":1}`, calls: asked},
		"set, 204":                   {put: "204 ", read: own, calls: looked},
		"set, {}":                    {put: "200 {}", read: own, calls: looked},
		"set, []":                    {put: "200 []", read: own, calls: looked},
		"set, a page":                {put: "200 <html>", read: own, calls: looked},
		"set, null told":             {put: none, read: own, calls: looked},
		"set, another told":          {put: `200 {"limit":5}`, read: own, calls: looked},
		"set, a text":                {put: `200 {"limit":"9007199254740992"}`, read: own, calls: looked},
		"not set":                    {put: "200 {}", read: none, wantErr: clienttest.Is[*wire.ResponseError], says: "read back", calls: looked},
		"not set, another told":      {put: `200 {"limit":5}`, read: `200 {"limit":5}`, wantErr: clienttest.Is[*wire.ResponseError], says: "read back", calls: looked},
		"not told, and not read":     {put: "200 {}", read: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "response to setGlobalUsageLimit has no limit", calls: looked},
		"not told twice":             {put: "200 {}", read: "200 {}", wantErr: clienttest.Is[*wire.ResponseError], says: "response to setGlobalUsageLimit has no limit", calls: looked},
		"removal not told twice":     {removes: true, put: "200 {}", read: "200 {}", wantErr: clienttest.Is[*wire.ResponseError], calls: looked},
		"400":                        {put: `400 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"401":                        {put: `401 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"403":                        {put: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"501":                        {put: `501 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"a page of 404":              {put: "404 <html>", wantErr: transport.IsForeign, calls: asked},
		"500, but set":               {put: `500 {"detail":"no"}`, read: own, calls: lost},
		"500, and not set":           {put: `500 {"detail":"no"}`, read: none, wantErr: clienttest.Is[*transport.APIError], says: "returned 500", calls: lost},
		"lost, but set":              {put: "drop", read: own, calls: lost},
		"lost, and not set":          {put: "drop", read: `200 {"limit":5}`, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"lost, and not read":         {put: "drop", read: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removed":                    {removes: true, put: none, calls: asked},
		"removed, {}":                {removes: true, put: "200 {}", read: none, calls: looked},
		"removed, lost":              {removes: true, put: "drop", read: none, calls: lost},
		"removed, a limit told":      {removes: true, put: own, read: none, calls: looked},
		"not removed":                {removes: true, put: own, read: own, wantErr: clienttest.Is[*wire.ResponseError], says: "read back", calls: looked},
		"removal lost, and not done": {removes: true, put: "drop", read: own, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removal refused":            {removes: true, put: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: tc.put, getGlobal: tc.read}))
			var err error
			body := `{"limit":9007199254740992}`
			if tc.removes {
				body = `{"limit":null}`
				err = c.RemoveGlobalUsageLimit(t.Context())
			} else {
				var got *int64
				if got, err = c.SetGlobalUsageLimit(t.Context(), largest); err == nil && *got != largest {
					t.Errorf("got %d", *got)
				}
			}
			if !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %v", err)
			}
			clienttest.WantText(t, err, tc.says, "setGlobalUsageLimit")
			rec.Want(t, tc.calls...)
			if rec.Bodies[0] != body {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}

// A request in flight runs to its response, and a request that would be retried is followed by a read instead.
func TestSetGlobalUsageLimit_interrupted(t *testing.T) {
	t.Parallel()
	for name, start := range clienttest.Ending(t) {
		for put, tc := range map[string]struct {
			read    string
			wantErr func(error) bool
			calls   []string
		}{
			`200 {"limit":1000000}`: {calls: []string{putGlobal}},
			`200 {}`:                {read: `200 {"limit":1000000}`, calls: []string{putGlobal, getGlobal}},
			`503 {"detail":"yes"}`:  {read: `200 {"limit":1000000}`, calls: []string{putGlobal, getGlobal}},
			`503 {"detail":"no"}`:   {read: `200 {"limit":null}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{putGlobal, getGlobal}},
		} {
			ctx, end := start()
			c, rec, _ := area.ServeShort(t, func(call string) string {
				if call == getGlobal {
					return tc.read
				}
				end()
				return put
			})
			if _, err := c.SetGlobalUsageLimit(ctx, million); !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("%s, %s: got %v", name, put, err)
			}
			rec.Want(t, tc.calls...)
			if err := c.RemoveGlobalUsageLimit(ctx); !errors.Is(err, ctx.Err()) {
				t.Errorf("%s, %s: a removal after the run gets %v", name, put, err)
			}
			rec.Want(t, tc.calls...)
		}
	}
}
