package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const busy = `409 {"detail":"no"}`

func TestDeleteEnvironment(t *testing.T) {
	t.Parallel()
	const del, get, list, cancel = "DELETE /env_1", "GET /env_1", "GET ", "POST /env_1/builds/bld_1/cancel"
	record := func(more string) string { return "200 " + env("env_1", "a", `,"isDefault":false`+more) }
	building := record(`,"status":"building","latestBuild":{"id":"bld_1","status":"dreaming"}`)
	ready := record(`,"status":"ready","latestBuild":{"id":"bld_1","status":"succeeded"}`)
	other := listed(env("env_2", "b", ""))
	for name, tc := range map[string]struct {
		deletes []string // The last one is given again and again, as are the others.
		reads   []string
		cancel  string
		list    string
		wantErr func(error) bool
		gone    bool
		calls   []string
	}{
		"deleted":                         {deletes: []string{"204 "}, calls: []string{del}},
		"with a body":                     {deletes: []string{`200 {"id":"env_1"}`}, calls: []string{del}},
		"lost, and done":                  {deletes: []string{"drop", `404 {"detail":"no"}`}, list: other, wantErr: is[*GoneError], gone: true, calls: []string{del, del, list}},
		"gone":                            {deletes: []string{`404 {"detail":"no"}`}, list: other, wantErr: is[*GoneError], gone: true, calls: []string{del, list}},
		"hidden":                          {deletes: []string{`404 {"detail":"no"}`}, list: listed(env("env_1", "a", "")), wantErr: is[*APIError], calls: []string{del, list, list}},
		"a stranger's 404":                {deletes: []string{`404 <html>`}, wantErr: is[*APIError], calls: []string{del}},
		"a page":                          {deletes: []string{`200 <html>`}, wantErr: is[*TransportError], calls: []string{del, del, del, del}},
		"refused":                         {deletes: []string{`403 {"detail":"no"}`}, wantErr: is[*APIError], calls: []string{del}},
		"building":                        {deletes: []string{busy, "204 "}, reads: []string{building}, cancel: "204 ", calls: []string{del, get, cancel, del}},
		"building, by its build alone":    {deletes: []string{busy, "204 "}, reads: []string{record(`,"latestBuild":{"id":"bld_1","status":"queued"}`)}, cancel: "204 ", calls: []string{del, get, cancel, del}},
		"building, and it has just ended": {deletes: []string{busy, "204 "}, reads: []string{building}, cancel: busy, calls: []string{del, get, cancel, del}},
		"building, and the build is gone": {deletes: []string{busy, "204 "}, reads: []string{building}, cancel: `404 {"detail":"no"}`, calls: []string{del, get, cancel, del}},
		"building, and not to be stopped": {deletes: []string{busy}, reads: []string{building}, cancel: `403 {"detail":"no"}`, wantErr: is[*APIError], calls: []string{del, get, cancel}},
		"building, and it goes on":        {deletes: []string{busy, busy, "204 "}, reads: []string{building}, cancel: "204 ", calls: []string{del, get, cancel, del, get, cancel, del}},
		"building, and another one runs":  {deletes: []string{busy, busy, "204 "}, reads: []string{building, record(`,"status":"building","latestBuild":{"id":"bld_2"}`)}, cancel: "204 ", calls: []string{del, get, cancel, del, get, "POST /env_1/builds/bld_2/cancel", del}},
		"building without a build":        {deletes: []string{busy}, reads: []string{record(`,"status":"building"`)}, wantErr: is[*APIError], calls: []string{del, get, del, get, del, get}},
		"gone meanwhile":                  {deletes: []string{busy, `404 {"detail":"no"}`}, reads: []string{`404 {"detail":"no"}`}, list: other, wantErr: is[*GoneError], gone: true, calls: []string{del, get, del, list}},
		"another 409":                     {deletes: []string{busy}, reads: []string{ready}, wantErr: is[*APIError], calls: []string{del, get, del, get, del, get}},
		"409, and the cause is gone":      {deletes: []string{busy, "204 "}, reads: []string{ready}, calls: []string{del, get, del}},
		"another 409, never built":        {deletes: []string{busy}, reads: []string{record(``)}, wantErr: is[*APIError], calls: []string{del, get, del, get, del, get}},
		"409, and not to be read":         {deletes: []string{busy}, reads: []string{`501 {"detail":"no"}`}, wantErr: is[*APIError], calls: []string{del, get}},
		"a stranger's 409":                {deletes: []string{`409 <html>`}, wantErr: is[*APIError], calls: []string{del}},
		"the default, as a listing tells": {deletes: []string{busy, "204 "}, reads: []string{"200 " + env("env_1", "a", "")}, list: `200 {"environments":[` + env("env_1", "a", "") + `],"defaultEnvironmentId":"env_1"}`, calls: []string{del, get, list, del}},
		"no default, as a listing tells":  {deletes: []string{busy}, reads: []string{"200 " + env("env_1", "a", "")}, list: other, wantErr: is[*APIError], calls: []string{del, get, list, del, get, del, get}},
		"the default, if it were told":    {deletes: []string{busy}, reads: []string{"200 " + env("env_1", "a", "")}, list: `403 {"detail":"no"}`, wantErr: is[*APIError], calls: []string{del, get, list, del, get, list, del, get, list}},
		"the default, with no answer":     {deletes: []string{busy}, reads: []string{"200 " + env("env_1", "a", "")}, list: `501 {"detail":"no"}`, wantErr: is[*APIError], calls: []string{del, get, list}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := func(of *[]string) string {
				answer := (*of)[0]
				if len(*of) > 1 {
					*of = (*of)[1:]
				}
				return answer
			}
			c, rec, _ := serveShort(t, func(call string) string {
				switch call {
				case del:
					return next(&tc.deletes)
				case get:
					return next(&tc.reads)
				case list:
					return tc.list
				}
				return tc.cancel
			})
			err := c.DeleteEnvironment(t.Context(), "env_1", time.Hour)
			if !isA(err, tc.wantErr) || IsGone(err) != tc.gone {
				t.Errorf("got %v", err)
			}
			if tc.wantErr != nil && slices.Contains(tc.deletes, busy) && !tc.gone && !strings.Contains(err.Error(), "deleteEnvironment (DELETE /api/v0/environments/{environmentId}) answered 409") {
				t.Errorf("the error does not name the refusal: %v", err)
			}
			rec.want(t, tc.calls...)
		})
	}
}

// serveDefault refuses the deletion of the default, env_1, and notes when it was tried.
func serveDefault(t *testing.T) (c *Client, tries *[]time.Duration) {
	t.Helper()
	tries = new([]time.Duration)
	var told func() time.Duration
	c, _, clk := serveShort(t, func(call string) string {
		if call == "GET /env_1" {
			return "200 " + env("env_1", "a", `,"isDefault":true,"status":"ready"`)
		}
		*tries = append(*tries, told())
		return busy
	})
	told = func() time.Duration { return clk.Now().Sub(testStart) }
	return c, tries
}

func TestDeleteEnvironment_theDefaultWaitsForItsSiblings(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, tc := range map[string]struct {
		running int           // How many others are being deleted all the time.
		moves   time.Duration // When one of them ends.
		timeout time.Duration
		last    time.Duration
	}{
		"nobody else":             {timeout: time.Hour, last: 30 * second},
		"not for so long":         {timeout: 11 * second, last: 12 * second},
		"to the moment":           {timeout: 12 * second, last: 12 * second},
		"a moment more":           {timeout: 12*second + 1, last: 14 * second},
		"not at all":              {timeout: 0, last: 0},
		"one goes on":             {running: 1, timeout: time.Minute, last: 60 * second},
		"one ends":                {running: 1, moves: 50 * second, timeout: time.Hour, last: 80 * second},
		"one of two ends":         {running: 2, moves: 50 * second, timeout: 200 * second, last: 200 * second},
		"one begins, after a bit": {moves: 20 * second, timeout: time.Hour, last: 50 * second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, tries := serveDefault(t)
			c.deletions.move(tc.running, testStart)
			clk, moved := c.clock, false
			c.clock = onSleep{clk, func() {
				if tc.moves > 0 && clk.Now().Sub(testStart) >= tc.moves && !moved {
					moved = true
					c.deletions.move(-min(tc.running, 1), clk.Now())
				}
			}}
			err := c.DeleteEnvironment(t.Context(), "env_1", tc.timeout)
			if !IsConflict(err) || (*tries)[len(*tries)-1] != tc.last || len(*tries) != int(tc.last/deletePause)+1 {
				t.Errorf("got %v after tries at %v, want the last one at %v", err, *tries, tc.last)
			}
			if left := c.deletions.running; left != max(0, tc.running-min(1, int(tc.moves))) {
				t.Errorf("%d deletions are left", left)
			}
		})
	}
}

// Only what can be deleted afterwards loses its build: the default goes where no other environment of the organization stays.
func TestDeleteEnvironment_cancelsTheBuildOfTheDefaultLast(t *testing.T) {
	t.Parallel()
	const del, get, list, cancel = "DELETE /env_1", "GET /env_1", "GET ", "POST /env_1/builds/bld_1/cancel"
	building := env("env_1", "a", `,"isDefault":true,"scope":"organization","status":"building","latestBuild":{"id":"bld_1","status":"queued"}`)
	shared, personal, untold := env("env_2", "b", `,"scope":"organization"`), env("env_2", "b", `,"scope":"user"`), env("env_2", "b", "")
	for name, tc := range map[string]struct {
		list string
		// A sibling is being deleted for so long. The listing shows it until then.
		sibling   time.Duration
		cancelled time.Duration // Negative for never.
		lists     int
		wantErr   func(error) bool
	}{
		"the last one":                  {list: listed(building), lists: 1},
		"somebody's own is no sibling":  {list: listed(building, personal), lists: 1},
		"a sibling stays":               {list: listed(building, shared), cancelled: -1, lists: 16, wantErr: isKept(true)},
		"one of no scope may be one":    {list: listed(building, untold), cancelled: -1, lists: 16, wantErr: isKept(true)},
		"a sibling is being deleted":    {list: listed(building, shared), sibling: time.Minute, cancelled: time.Minute, lists: 1},
		"whether one stays is not told": {list: `403 {"detail":"no"}`, cancelled: -1, lists: 1, wantErr: is[*APIError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cancelled, lists := time.Duration(-1), 0
			var now func() time.Duration
			c, _, clk := serveShort(t, func(call string) string {
				switch {
				case call == get:
					return "200 " + building
				case call == list && tc.sibling > 0 && now() >= tc.sibling:
					lists++
					return listed(building)
				case call == list:
					lists++
					return tc.list
				case call == cancel:
					cancelled = now()
					return "204 "
				case cancelled >= 0:
					return "204 "
				}
				return busy
			})
			now = func() time.Duration { return clk.Now().Sub(testStart) }
			if tc.sibling > 0 {
				c.deletions.move(1, testStart)
				c.clock = onSleep{clk, func() {
					if now() == tc.sibling {
						c.deletions.move(-1, clk.Now())
					}
				}}
			}
			err := c.DeleteEnvironment(t.Context(), "env_1", time.Hour)
			if !isA(err, tc.wantErr) || cancelled != tc.cancelled || lists != tc.lists {
				t.Errorf("got %v, cancelled at %v, %d listings", err, cancelled, lists)
			}
		})
	}
}

// isKept reports that an error says why an environment is kept.
func isKept(isDefault bool) func(error) bool {
	return func(err error) bool {
		var kept *KeptError
		return errors.As(err, &kept) && kept.IsDefault == isDefault && IsConflict(err)
	}
}

func TestDeleteEnvironment_saysWhatKeepsIt(t *testing.T) {
	t.Parallel()
	building := `,"status":"building","latestBuild":{"id":"bld_1","status":"queued"}`
	for name, tc := range map[string]struct {
		record  string
		timeout time.Duration
		want    func(error) bool
	}{
		"the default":                  {`,"isDefault":true,"status":"ready"`, time.Hour, isKept(true)},
		"the default, out of time":     {`,"isDefault":true,"status":"ready"`, 5 * time.Second, isKept(true)},
		"a build that does not end":    {`,"isDefault":false` + building, 5 * time.Second, isKept(false)},
		"a default that is built":      {`,"isDefault":true` + building, 5 * time.Second, isKept(false)},
		"nothing that shows":           {`,"isDefault":false,"status":"ready"`, time.Hour, func(err error) bool { return !is[*KeptError](err) }},
		"nobody has looked what it is": {`,"isDefault":true,"status":"ready"`, 0, func(err error) bool { return !is[*KeptError](err) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record := env("env_1", "a", tc.record)
			c, _, _ := serveShort(t, answers(map[string]string{
				"DELETE /env_1": busy, "GET /env_1": "200 " + record, "GET ": listed(record), "POST /env_1/builds/bld_1/cancel": "204 ",
			}))
			if err := c.DeleteEnvironment(t.Context(), "env_1", tc.timeout); !tc.want(err) || !IsConflict(err) {
				t.Errorf("got %T: %v", err, err)
			}
		})
	}
}

// onSleep is a clock that tells when somebody has slept.
type onSleep struct {
	clock.Clock

	slept func()
}

func (c onSleep) Sleep(ctx context.Context, d time.Duration) error {
	err := c.Clock.Sleep(ctx, d)
	c.slept()
	return err
}

func TestDeleteEnvironment_endsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, start := range ending(t) {
		ctx, end := start()
		c, tries := serveDefault(t)
		c.clock = endAtSleep{c.clock, end}
		if err := c.DeleteEnvironment(ctx, "env_1", time.Hour); !IsConflict(err) || len(*tries) != 1 {
			t.Errorf("%s: got %v after %v", name, err, *tries)
		}
	}
}

// The end of one deletion counts for the patience of another one.
func TestDeleteEnvironment_movesAtItsEnd(t *testing.T) {
	t.Parallel()
	var pass func()
	c, _, clk := serveShort(t, func(string) string { pass(); return "204 " })
	pass = func() {
		if c.deletions.running != 1 || !c.deletions.moved.Equal(testStart) {
			t.Errorf("%d deletions run, the last one moved at %v", c.deletions.running, c.deletions.moved)
		}
		clk.Advance(time.Minute)
	}
	if err := c.DeleteEnvironment(t.Context(), "env_2", time.Hour); err != nil {
		t.Fatal(err)
	}
	if c.deletions.running != 0 || !c.deletions.moved.Equal(testStart.Add(time.Minute)) {
		t.Errorf("%d deletions run, the last one moved at %v", c.deletions.running, c.deletions.moved)
	}
}

// What is deleted stands in nobody's way, and nothing need be asked for that.
func TestDeleteEnvironment_freesTheName(t *testing.T) {
	t.Parallel()
	for answer, calls := range map[string][]string{
		"204 ":                {"GET ", "POST ", "DELETE /env_1", "POST "},
		`404 {"detail":"no"}`: {"GET ", "POST ", "DELETE /env_1", "GET ", "POST "},
		`403 {"detail":"no"}`: {"GET ", "POST ", "DELETE /env_1", "GET ", "POST "},
	} {
		made := 0
		c, rec, _ := serveShort(t, func(call string) string {
			switch call {
			case "GET ":
				return listed()
			case "POST ":
				made++
				return fmt.Sprintf(`201 {"id":"env_%d"}`, made)
			}
			return answer
		})
		for range 2 {
			if _, err := c.CreateEnvironment(t.Context(), aCreation); err != nil {
				t.Errorf("%s: %v", answer, err)
			}
			if made == 1 {
				_ = c.DeleteEnvironment(t.Context(), "env_1", time.Hour)
			}
		}
		rec.want(t, calls...)
	}
}
