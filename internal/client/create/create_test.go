package create_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// thing is any object with a name.
type thing struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Color     string      `json:"color"`
	CreatedAt wire.Millis `json:"createdAt"`
}

func (t *thing) Ref() wire.Ref {
	return wire.Ref{Object: "thing", Name: t.Name, ID: t.ID, CreatedAt: t.CreatedAt.Time()}
}

func (t *thing) MissingField() string { return "" }

// things is a client that creates red things.
type things struct {
	conn   *transport.Conn
	ledger *create.Ledger[thing]
	sends  *create.Sends[thing]
}

func newThings(conn *transport.Conn) *things {
	ledger := create.NewLedger(conn, func(ctx context.Context, _ string) ([]thing, error) {
		return transport.CallList[thing](ctx, conn, transport.Get("listThings", "/api/v0/environments"), "things", nil)
	})
	return &things{conn: conn, ledger: ledger, sends: create.NewSends[thing](conn)}
}

func (c *things) create(ctx context.Context, name string) (*thing, error) {
	return create.Named(ctx, c.ledger, create.NamedObject[thing]{
		Name:    name,
		HasName: func(t *thing) bool { return t.Name == name },
		Send: func(ctx context.Context) (*thing, error) {
			return transport.CallObject[thing](ctx, c.conn, transport.Post("createThing", "/api/v0/environments"), "thing", wire.AnyID)
		},
		IsWanted: func(t *thing) bool { return t.Color == "red" },
	})
}

// createUnnamed creates a thing whose name says nothing.
func (c *things) createUnnamed(ctx context.Context) (*thing, error) {
	return create.Unnamed(ctx, c.sends, create.UnnamedObject[thing]{
		Object: "thing", Body: "red",
		Send: func(ctx context.Context) (*thing, error) {
			return transport.CallObject[thing](ctx, c.conn, transport.Post("createThing", "/api/v0/environments"), "thing", wire.AnyID)
		},
		List: func(ctx context.Context) ([]thing, error) {
			return transport.CallList[thing](ctx, c.conn, transport.Get("listThings", "/api/v0/environments"), "things", nil)
		},
		IsWanted: func(t *thing) bool { return t.Color == "red" },
	})
}

var area = areatest.New[*things](newThings)

// The client's clock and the service's start at 2026-03-01, which is 1772323200000.
const (
	mine  = `{"id":"new","name":"ci","color":"red","createdAt":1772323200000}`
	older = `{"id":"old","name":"ci","color":"red","createdAt":1772323199000}`
	blue  = `{"id":"blue","name":"ci","color":"blue","createdAt":1772323200000}`
	other = `{"id":"other","name":"CI","color":"red","createdAt":1772323200000}`
)

func TestNamed(t *testing.T) {
	t.Parallel()
	exists, lost, refused := clienttest.Is[*create.ExistsError], clienttest.Is[*create.LostError], clienttest.Is[*transport.APIError]
	for name, tc := range map[string]struct {
		before, after []string // The listings before and after the POST.
		late          int      // How many listings after the POST show only early.
		early         []string
		post          string
		isNotSent     bool
		wantID        string
		wantErr       func(error) bool
	}{
		"answered":                             {before: []string{other}, post: "201 " + mine, wantID: "new"},
		"answered with one known before":       {before: []string{other}, post: "201 " + other, wantErr: lost},
		"answered with blanks at its end":      {post: `201 {"id":"new","name":"ci\n"}`, wantID: "new"},
		"answered with another name":           {post: `201 {"id":"x","name":"theirs"}`, wantErr: lost},
		"dropped after the commit":             {before: []string{other}, after: []string{other, mine}, post: "drop", wantID: "new"},
		"dropped before the commit":            {before: []string{other}, after: []string{other}, post: "drop", wantErr: lost},
		"500 after the commit":                 {after: []string{mine}, post: "500 {}", wantID: "new"},
		"500 before the commit":                {post: "500 {}", wantErr: lost},
		"answered with no object":              {after: []string{mine}, post: "201 {}", wantID: "new"},
		"answered with a page":                 {after: []string{mine}, post: "201 <html>", wantID: "new"},
		"302 of another server":                {after: []string{mine}, post: "302 <html>", wantID: "new"},
		"403 of another server":                {after: []string{mine}, post: "403 <html>", wantID: "new"},
		"407 of another server":                {after: []string{mine}, post: "407 <html>", wantID: "new"},
		"lost, and shown late":                 {after: []string{mine}, late: 3, post: "drop", wantID: "new"},
		"lost, and shown too late":             {after: []string{mine}, late: 4, post: "drop", wantErr: lost},
		"lost, and another one appears":        {after: []string{blue}, post: "drop", wantErr: lost},
		"lost, and an older one appears":       {after: []string{older}, post: "drop", wantErr: lost},
		"lost, and two appear":                 {after: []string{mine, blue}, post: "drop", wantID: "new"},
		"lost, and shown after another one":    {early: []string{blue}, after: []string{blue, mine}, late: 1, post: "drop", wantID: "new"},
		"lost, and shown after an older one":   {early: []string{older}, after: []string{older, mine}, late: 3, post: "drop", wantID: "new"},
		"lost, and two appear that are alike":  {after: []string{mine, `{"id":"two","name":"ci","color":"red"}`}, post: "drop", wantErr: lost},
		"lost, and it was known by other name": {before: []string{`{"id":"new","name":"old"}`}, after: []string{mine}, post: "drop", wantErr: lost},
		"taken":                                {before: []string{older}, isNotSent: true, wantErr: exists},
		"somebody was quicker":                 {after: []string{older}, post: `409 {"detail":"taken"}`, wantErr: exists},
		"409 for another reason":               {post: `409 {"detail":"taken"}`, wantErr: refused},
		"refused":                              {post: "402 {}", wantErr: refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listing, late := tc.before, 0
			c, rec, _ := area.ServeShort(t, func(call string) string {
				if call == "POST " {
					listing, late = tc.after, tc.late
					return tc.post
				}
				if late > 0 {
					late--
					return clienttest.PageOf("things", "", tc.early)
				}
				return clienttest.PageOf("things", "", listing)
			})
			ctx, found := create.WithFound(t.Context())
			made, err := c.create(ctx, "ci")
			if !clienttest.IsA(err, tc.wantErr) || err == nil && made.ID != tc.wantID {
				t.Errorf("got %+v, %v", made, err)
			}
			if isFound := err == nil && !strings.HasPrefix(tc.post, `201 {"id":"new"`); (len(*found) == 1) != isFound || isFound && (*found)[0].ID != "new" {
				t.Errorf("found are %v", *found)
			}
			rec.WantCount(t, http.MethodPost, map[bool]int{true: 0, false: 1}[tc.isNotSent])
			listings := rec.Count(http.MethodGet)
			if _, err := c.ledger.All(t.Context(), ""); err != nil || (rec.Count(http.MethodGet) == listings) != tc.isNotSent {
				t.Errorf("%d listings, then %d for a read: %v", listings, rec.Count(http.MethodGet), err)
			}
			var taken *create.ExistsError
			if errors.As(err, &taken) && (taken.Found[0].ID != "old" || taken.Found[0].CreatedAt.IsZero()) {
				t.Errorf("the error tells %+v", taken)
			}
		})
	}
}

// A new object may be visible late, so the search is repeated with growing pauses, also after an interrupt.
func TestNamed_searchesForAWhile(t *testing.T) {
	t.Parallel()
	c, _, clk := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": clienttest.PageOf("things", "", nil), "POST ": "drop"}))
	_, err := c.create(t.Context(), "ci")
	if want := []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}; !clienttest.Is[*create.LostError](err) || !slices.Equal(clk.Sleeps(), want) {
		t.Errorf("%v after pauses of %v, want %v", err, clk.Sleeps(), want)
	}
}

// A listing that still has the deleted object of the name does not end the search for the new one.
func TestNamed_afterADeletion(t *testing.T) {
	t.Parallel()
	late, listed := 2, []string{older}
	c, _, _ := area.ServeShort(t, func(call string) string {
		if call == "POST " {
			return "drop"
		}
		page := clienttest.PageOf("things", "", listed)
		if late--; late == 0 {
			listed = []string{mine}
		}
		return page
	})
	_ = c.ledger.AfterDelete("", "old", nil)
	if got, err := c.create(t.Context(), "ci"); err != nil || got.ID != "new" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// An interrupted run still finds what it created.
func TestNamed_interrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var made []string
	c, rec, _ := area.ServeShort(t, func(call string) string {
		if call == "POST " {
			made = []string{mine}
			cancel()
			return "drop"
		}
		return clienttest.PageOf("things", "", made)
	})
	if got, err := c.create(ctx, "ci"); err != nil || got.ID != "new" {
		t.Errorf("got %+v, %v", got, err)
	}
	rec.WantCount(t, http.MethodPost, 1)
}

// The same run may delete what has the name, as after a rename without a moved block, so the creation waits ten seconds for it.
func TestNamed_waitsUntilTheNameIsFree(t *testing.T) {
	t.Parallel()
	for free, isCreated := range map[int]bool{1: true, 4: true, 5: false} { // A listing each two seconds.
		listings, list := 0, []string{older}
		c, _, _ := area.ServeShort(t, func(call string) string {
			if call == "POST " {
				return "201 " + mine
			}
			if listings++; listings > free+1 {
				list = nil
			}
			return clienttest.PageOf("things", "", list)
		})
		if _, err := c.create(t.Context(), "ci"); (err == nil) != isCreated {
			t.Errorf("free after %d more listings: %v", free, err)
		}
	}
}

// What this process wrote needs no listing, and a second one of the name is refused.
func TestNamed_knowsWhatThisProcessMade(t *testing.T) {
	t.Parallel()
	var made []string
	c, rec, _ := area.ServeShort(t, func(call string) string {
		if call == "POST " {
			made = append(made, mine)
			return "201 " + mine
		}
		return clienttest.PageOf("things", "", made)
	})
	if _, err := c.create(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.create(t.Context(), "ci"); !clienttest.Is[*create.ExistsError](err) {
		t.Errorf("got %v", err)
	}
	if _, err := c.create(t.Context(), "other"); !clienttest.Is[*create.LostError](err) {
		t.Errorf("the response has what this process made before: %v", err)
	}
	rec.WantCount(t, http.MethodPost, 2)
}

// Without a name, as many objects as were lost are given to those who asked for them. If there are more, or if one proves no age, the
// errors name them.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		posts    []string // What becomes of requests that are in flight together.
		theirs   string   // What somebody else creates meanwhile.
		timeless bool     // The service does not tell its time.
		looks    int      // How many listings succeed; 0 means all.
		served   int      // How many callers get an object of their own.
		named    string   // The objects in the errors of the others.
	}{
		"all are answered":           {posts: []string{"red", "red"}, served: 2},
		"two of three are lost":      {posts: []string{"red lost", "red", "red lost"}, served: 3},
		"lost before the commit":     {posts: []string{"unsent"}},
		"made otherwise than asked":  {posts: []string{"blue lost"}, named: "new-1"},
		"another's is alike":         {posts: []string{"red lost"}, theirs: `"color":"red","createdAt":1772323200000`, named: "new-1 theirs"},
		"another's shows no time":    {posts: []string{"red lost"}, theirs: `"color":"red"`, named: "new-1 theirs"},
		"another's is older":         {posts: []string{"red lost"}, theirs: `"color":"red","createdAt":1772323199000`, served: 1},
		"another's is not wanted":    {posts: []string{"red lost"}, theirs: `"color":"blue","createdAt":1772323200000`, served: 1},
		"only another's, without it": {posts: []string{"unsent"}, theirs: `"color":"red"`, named: "theirs"},
		"the service tells no time":  {posts: []string{"red lost"}, timeless: true, named: "new-1"},
		"another's is answered":      {posts: []string{"red", "red earlier"}, served: 1, named: "new-1"},
		"the last look fails":        {posts: []string{"red lost"}, looks: 1, named: "new-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var inFlight, callers sync.WaitGroup
			var made []string
			sent, looks := 0, 0
			inFlight.Add(len(tc.posts))
			c, _, clk := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if tc.timeless {
					w.Header()["Date"] = nil
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodGet {
					if looks++; tc.looks > 0 && looks > tc.looks+1 { // The first request asks for the time.
						clienttest.RespondJSON(w, 403, `{"detail":"no"}`)
						return
					}
					clienttest.Say(w, clienttest.PageOf("things", "", made))
					return
				}
				color, isLost := strings.CutSuffix(tc.posts[sent], " lost")
				sent++
				color, isEarlier := strings.CutSuffix(color, " earlier")
				number := sent
				if isEarlier {
					number = 1
				}
				object := fmt.Sprintf(`{"id":"new-%d","color":%q,"createdAt":1772323200000}`, number, color)
				if color != "unsent" {
					made = append(made, object)
				}
				if tc.theirs != "" {
					made = append(made, `{"id":"theirs",`+tc.theirs+`}`)
				}
				mu.Unlock()
				inFlight.Done()
				inFlight.Wait()
				mu.Lock()
				if isLost || color == "unsent" {
					clienttest.Drop(w)
				}
				clienttest.RespondJSON(w, 201, object)
			})
			_, _ = c.conn.Providers(t.Context()) // Creations that start together share it.
			given := map[string]bool{}
			named := ""
			for range tc.posts {
				callers.Go(func() {
					got, err := c.createUnnamed(t.Context())
					mu.Lock()
					defer mu.Unlock()
					var lost *create.LostError
					switch {
					case err == nil:
						given[got.ID] = true
					case errors.As(err, &lost):
						for _, found := range lost.Found {
							named = strings.TrimSpace(named + " " + found.ID)
						}
					default:
						t.Error(err)
					}
				})
			}
			callers.Wait()
			if len(given) != tc.served || given["theirs"] || named != tc.named || sent != len(tc.posts) {
				t.Errorf("%v are given and %q named after %d requests", given, named, sent)
			}
			if waited := clk.Now().Sub(clienttest.Start); waited > 7*time.Second { // One search.
				t.Errorf("the searches took %v", waited)
			}
		})
	}
}
