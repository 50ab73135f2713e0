package organization

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area = areatest.New[*Client](New)

// user is the JSON of a member; more starts with a comma.
func user(id, email, more string) string {
	return fmt.Sprintf(`{"id":%q,"email":%q,"createdAt":"2026-03-01T00:00:00Z","metadata":{}%s}`, id, email, more)
}

// usersPage is a page of members; an empty cursor ends the listing.
func usersPage(next string, users ...string) string {
	return clienttest.PageOf("users", next, users)
}

// threePages are the responses of a listing of five members, with the third member on two pages.
var threePages = map[string]string{
	"GET " + membersRoute + "?limit=100":          usersPage("a", user("u1", "Ada@acme.example", ""), user("u2", "ben@acme.example", "")),
	"GET " + membersRoute + "?cursor=a&limit=100": usersPage("b", user("u3", "cho@acme.example", "")),
	"GET " + membersRoute + "?cursor=b&limit=100": usersPage("", user("u3", "cho@acme.example", ""), user("u4", "dan@acme.example", ""), user("u5", "eve@acme.example", "")),
}

func membersOf(members []Member) string {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	return strings.Join(ids, " ")
}

func TestMembers_readsEveryField(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(string) string {
		return usersPage("",
			`{"id":"u1","email":"ada@acme.example","firstName":"Ada","lastName":"Adams","createdAt":"2026-03-01T01:00:00.5+01:00","lastSignInAt":"2026-03-02T00:00:00Z",
			  "metadata":{"team":"core","level":3,"tags":["a", "b"],"lead":true,"office":null,"id":12345678901234567890},"new":{}}`,
			`{"id":"u2","email":"ben@acme.example","firstName":null,"lastName":"","createdAt":"2026-03-01T00:00:00Z","lastSignInAt":null,"metadata":null}`,
			`{"id":"u3","email":"cho@acme.example"}`)
	})
	found, err := c.Members(t.Context(), 0)
	if err != nil || len(found) != 3 {
		t.Fatalf("got %+v, %v", found, err)
	}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	one := found[0]
	if one.ID != "u1" || one.Email != "ada@acme.example" || one.FirstName != "Ada" || one.LastName != "Adams" || !one.CreatedAt.Equal(at.Add(500*time.Millisecond)) || !one.LastSignInAt.Equal(at.AddDate(0, 0, 1)) {
		t.Errorf("got %+v", one)
	}
	if want := (wire.Metadata{"team": "core", "level": "3", "tags": `["a","b"]`, "lead": "true", "office": "null", "id": "12345678901234567890"}); !maps.Equal(one.Metadata, want) {
		t.Errorf("metadata %v, want %v", one.Metadata, want)
	}
	for _, m := range found[1:] {
		if m.FirstName != "" || m.LastName != "" || !m.LastSignInAt.IsZero() || len(m.Metadata) != 0 {
			t.Errorf("what is unset is %+v", m)
		}
	}
}

func TestMembers_pages(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(threePages))
	for range 2 {
		if found, err := c.Members(t.Context(), 0); err != nil || membersOf(found) != "u1 u2 u3 u4 u5" {
			t.Errorf("got %s, %v", membersOf(found), err)
		}
	}
	rec.Want(t, "GET "+membersRoute+"?limit=100", "GET "+membersRoute+"?cursor=a&limit=100", "GET "+membersRoute+"?cursor=b&limit=100")
	none, _, _ := area.ServeShort(t, func(string) string { return usersPage("") })
	if found, err := none.Members(t.Context(), 0); err != nil || found == nil || len(found) != 0 {
		t.Errorf("without members: %v, %v", found, err)
	}
}

// The requested number limits the number and the size of the pages.
func TestMembers_most(t *testing.T) {
	t.Parallel()
	for most, calls := range map[int][]string{
		1:   {"limit=1"},
		3:   {"limit=3", "cursor=3&limit=3"}, // The service may return less than requested.
		99:  {"limit=99", "cursor=99&limit=99"},
		100: {"limit=100", "cursor=100&limit=100"},
		150: {"limit=100", "cursor=100&limit=100"},
		300: {"limit=100", "cursor=100&limit=100", "cursor=200&limit=100", "cursor=300&limit=100"},
	} {
		t.Run(strconv.Itoa(most), func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
				limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
				var users []string
				for n := range max(1, limit*4/5) {
					users = append(users, user(fmt.Sprint("u", from+n), fmt.Sprintf("u%d@acme.example", from+n), ""))
				}
				clienttest.Say(w, usersPage(strconv.Itoa(from+limit), users...))
			})
			found, err := c.Members(t.Context(), most)
			if err != nil || len(found) != most {
				t.Errorf("got %d members, %v", len(found), err)
			}
			for i := range calls {
				calls[i] = "GET " + membersRoute + "?" + calls[i]
			}
			rec.Want(t, calls...)
		})
	}
}

// A listing that cannot be completed is an error.
func TestMembers_failures(t *testing.T) {
	t.Parallel()
	first := usersPage("a", user("u1", "ada@acme.example", ""))
	for name, tc := range map[string]struct{ second, want string }{
		"refused":             {`403 {"detail":"no"}`, "listMembers (GET " + membersRoute + ") returned 403: no"},
		"broken":              {`501 {"detail":"no"}`, "returned 501"},
		"a circle":            {usersPage("a", user("u2", "ben@acme.example", "")), "leads back to an earlier page"},
		"the same again":      {usersPage("b", user("u1", "ada@acme.example", "")), "leads back to an earlier page"},
		"more, but not where": {`200 {"users":[],"pagination":{"hasMore":true,"nextCursor":null}}`, "has no cursor"},
		"no members":          {`200 {"pagination":{"hasMore":false}}`, "the field users is missing"},
		"no object":           {usersPage("", `{}`), "object 1 of the list is invalid: it has no ID"},
		"no email":            {usersPage("", user("u2", "", "")), "the field email is missing"},
		"odd metadata":        {usersPage("", `{"id":"u2","email":"b@c","metadata":"x"}`), "metadata"},
		"odd time":            {usersPage("", `{"id":"u2","email":"b@c","createdAt":"soon"}`), "not a timestamp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
				"GET " + membersRoute + "?limit=100":          first,
				"GET " + membersRoute + "?cursor=a&limit=100": tc.second,
			}))
			found, err := c.Members(t.Context(), 0)
			if err == nil || found != nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "listMembers") {
				t.Errorf("got %v, %v", found, err)
			}
			if _, err := c.MembersByEmail(t.Context(), "nobody@acme.example"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the look-up: %v", err)
			}
			// Each call starts over after the error.
			rec.WantCount(t, http.MethodGet, 4)
		})
	}
}

func TestMembersByEmail(t *testing.T) {
	t.Parallel()
	for email, tc := range map[string]struct {
		want     string
		requests int
	}{
		"ada@acme.example":    {"u1", 1},
		"BEN@ACME.example":    {"u2", 1},
		"cho@acme.example":    {"u3", 2},
		"eve@acme.example":    {"u5", 3},
		"nobody@acme.example": {"", 3},
	} {
		t.Run(email, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(threePages))
			for range 2 {
				if found, err := c.MembersByEmail(t.Context(), email); err != nil || membersOf(found) != tc.want {
					t.Errorf("got %s, %v", membersOf(found), err)
				}
			}
			rec.WantCount(t, http.MethodGet, tc.requests)
		})
	}
}

// Two members whose addresses differ only in case are both returned, whatever pages others have read.
func TestMembersByEmail_twoOfTheSameEmail(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(string) string {
		return usersPage("", user("u1", "ada@acme.example", ""), user("u2", "ben@acme.example", ""), user("u3", "Ada@acme.example", ""))
	})
	if found, err := c.MembersByEmail(t.Context(), "ADA@acme.example"); err != nil || membersOf(found) != "u1 u3" {
		t.Errorf("got %s, %v", membersOf(found), err)
	}
}

// Concurrent callers share the pages.
func TestMembers_manyReadersShareThePages(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(threePages))
	var wait sync.WaitGroup
	for n := range 50 {
		wait.Go(func() {
			email := []string{"ada@acme.example", "cho@acme.example", "eve@acme.example"}[n%3]
			if found, err := c.MembersByEmail(t.Context(), email); err != nil || len(found) != 1 {
				t.Errorf("%s: %v, %v", email, found, err)
			}
		})
		wait.Go(func() {
			if found, err := c.Members(t.Context(), 0); err != nil || len(found) != 5 {
				t.Errorf("got %v, %v", found, err)
			}
		})
	}
	wait.Wait()
	rec.WantCount(t, http.MethodGet, 3)
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	const remove = "DELETE " + membersRoute + "?email=ada%2Bci%26x%40acme.example"
	gone := `404 {"detail":"The organization has no such member.","status":404,"title":"Not Found"}`
	with, others := usersPage("", user("u1", "Ada+ci&x@acme.example", "")), usersPage("", user("u2", "ben@acme.example", ""))
	for name, tc := range map[string]struct {
		answers []string // The responses to the removal, and then to the listing.
		isGone  bool
		want    string
		calls   int
	}{
		"removed":                      {[]string{"204 "}, false, "", 1},
		"with a body":                  {[]string{"200 {}"}, false, "", 1},
		"nobody":                       {[]string{gone, others}, true, "does not exist", 2},
		"answer lost":                  {[]string{"drop", gone, others}, true, "does not exist", 3},
		"still listed":                 {[]string{gone, with, with}, false, "returned 404", 3},
		"gone in a new listing":        {[]string{gone, with, others}, true, "does not exist", 3},
		"nobody at all":                {[]string{gone, usersPage("")}, false, "may still exist", 2},
		"nobody at all any more":       {[]string{gone, with, usersPage("")}, false, "lists no members", 3},
		"nothing to list":              {[]string{gone, gone}, false, "may still exist", 2},
		"a 404 of something else":      {[]string{"404 <html>"}, false, "returned 404", 1},
		"a page of something else":     {[]string{"200 <html>", "200 <html>", "200 <html>", "200 <html>"}, false, "not JSON", 4},
		"oneself":                      {[]string{`409 {"detail":"not yourself"}`}, false, "returned 409: not yourself", 1},
		"not allowed":                  {[]string{`403 {"detail":"no"}`}, false, "returned 403", 1},
		"a failure before the removal": {[]string{"503 {}", "204 "}, false, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n > len(tc.answers) {
					clienttest.Say(w, "418 {}")
					return
				}
				clienttest.Say(w, tc.answers[n-1])
			})
			err := c.RemoveMember(t.Context(), "ada+ci&x@acme.example")
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) || collection.IsGone(err) != tc.isGone {
				t.Errorf("got %v, gone %v", err, collection.IsGone(err))
			}
			if calls := rec.Calls(); len(calls) != tc.calls || calls[0] != remove {
				t.Errorf("asked %v", calls)
			}
			clienttest.WantText(t, err, "removeMember")
		})
	}
}

// A removal invalidates the cached listing.
func TestRemoveMember_discardsTheListing(t *testing.T) {
	t.Parallel()
	for answer, reads := range map[string]int{"204 ": 2, `403 {"detail":"no"}`: 2} {
		c, rec, _ := area.ServeShort(t, func(call string) string {
			if strings.HasPrefix(call, http.MethodDelete) {
				return answer
			}
			return usersPage("", user("u1", "ada@acme.example", ""))
		})
		for range 2 {
			if _, err := c.MembersByEmail(t.Context(), "ada@acme.example"); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.RemoveMember(t.Context(), "ada@acme.example"); (err != nil) != (answer != "204 ") {
			t.Errorf("the removal: %v", err)
		}
		for range 2 {
			if _, err := c.Members(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
		if n := rec.Count(http.MethodGet); n != reads {
			t.Errorf("%s: %d reads", answer, n)
		}
	}
}

// A listing keeps only its records in memory.
func TestMembers_heap(t *testing.T) { //nolint:paralleltest // It measures the heap of the whole process.
	const pages, size = 100, 100
	usersOf := func(number int) []string {
		users := make([]string, size)
		for n := range users {
			users[n] = user(fmt.Sprintf("user_%026d", number*size+n), fmt.Sprintf("member-%05d@acme.example", number*size+n), `,"firstName":"Avery","lastName":"Adams","lastSignInAt":"2026-03-01T00:00:00Z"`)
		}
		return users
	}
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		number, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		next := ""
		if number+1 < pages {
			next = strconv.Itoa(number + 1)
		}
		clienttest.Say(w, usersPage(next, usersOf(number)...))
	})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // The second run frees what was pooled.
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var at []int64
	n := 0
	for members, err := range c.members.All(t.Context(), collection.PageSize(0)) {
		if err != nil || len(members) != size {
			t.Fatalf("page %d has %d members: %v", n, len(members), err)
		}
		rec.Forget() // Only the listing is measured.
		if n++; n == pages/5 || n == pages {
			at = append(at, heap())
		}
	}
	grown := (at[1] - at[0]) / (pages - pages/5)

	before, kept := heap(), make([][]Member, pages)
	for number := range kept {
		clienttest.Must(t, json.Unmarshal([]byte("["+strings.Join(usersOf(number), ",")+"]"), &kept[number]))
	}
	records := (heap() - before) / pages
	runtime.KeepAlive(kept)
	runtime.KeepAlive(c)
	t.Logf("a page grows the heap by %d bytes, its records by %d", grown, records)
	if n != pages || grown > records*11/10 {
		t.Errorf("%d pages: each grows the heap by %d bytes, and its records take %d", n, grown, records)
	}
}

func TestMembers_unconfigured(t *testing.T) {
	t.Parallel()
	c := area.Unconfigured()
	var missing *transport.UnconfiguredError
	if _, err := c.Members(t.Context(), 0); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}
