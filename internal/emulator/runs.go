package emulator

import (
	"context"
	"hash/maphash"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

const (
	// cutGrace is how long a run goes on without a connection after the emulator cut one: the client may retry.
	cutGrace = 30 * time.Second
	// otherGrace is how long a run of any client but the provider goes on without a connection. Tools such as curl open one for each request.
	otherGrace = time.Minute
)

// runs groups requests by run: one process of a client, as far as connections tell. The provider keeps a connection until its process
// ends, or until 90 seconds pass without a request.
// Two processes that run at the same time with the same User-Agent and key are one run.
type runs struct {
	mu      sync.Mutex
	last    int // The number of the newest run.
	current map[client]*run
	open    map[net.Conn]*connection
	over    func() // Called when a connection that carried requests was closed.
}

// client is who sends requests: its User-Agent, and a hash of its key.
type client struct {
	agent string
	key   uint64
}

// run is a run that may get further requests.
type run struct {
	number int
	client
	connections map[*connection]bool
	until       time.Time // Until when a new connection continues the run although all others are closed.
}

// connection is an open connection, and the runs whose requests it carried. That is one, unless it is that of a proxy.
type connection struct{ runs map[*run]bool }

type connectionKey struct{}

// hashSeed makes hashes of keys and bodies useless outside of this process.
var hashSeed = maphash.MakeSeed()

func newRuns(over func()) *runs {
	return &runs{current: map[client]*run{}, open: map[net.Conn]*connection{}, over: over}
}

// begin notes a new connection and attaches it to the context of its requests.
func (s *runs) begin(ctx context.Context, conn net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &connection{runs: map[*run]bool{}}
	s.open[conn] = c
	return context.WithValue(ctx, connectionKey{}, c)
}

// changed notes that a connection was closed.
func (s *runs) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := clock.System.Now()
	c := s.open[conn]
	for r := range c.runs {
		delete(r.connections, c)
		if len(r.connections) == 0 && !strings.HasPrefix(r.agent, statuspage.ProviderAgent) {
			r.until = now.Add(otherGrace)
		}
	}
	delete(s.open, conn)
	if len(c.runs) > 0 {
		s.over()
	}
	for who, r := range s.current {
		if !r.alive(now) {
			delete(s.current, who)
		}
	}
}

func (r *run) alive(now time.Time) bool { return len(r.connections) > 0 || now.Before(r.until) }

// join returns the run of a request.
func (s *runs) join(r *http.Request, now time.Time) *run {
	who := client{agent: r.UserAgent(), key: maphash.String(hashSeed, r.Header.Get("Authorization"))}
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.current[who]
	if current == nil || !current.alive(now) {
		s.last++
		current = &run{number: s.last, client: who, connections: map[*connection]bool{}}
		s.current[who] = current
	}
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		current.connections[c], c.runs[current] = true, true
		current.until = time.Time{}
	} else { // A test calls the handler without a server of ours.
		current.until = now.Add(otherGrace)
	}
	return current
}

// cut notes that the emulator itself is about to cut a connection of a run.
func (s *runs) cut(r *run, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.until = now.Add(cutGrace)
}

// connected returns the numbers of the runs with an open connection: their processes live.
func (s *runs) connected() map[int]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	numbers := map[int]bool{}
	for _, c := range s.open {
		for r := range c.runs {
			numbers[r.number] = true
		}
	}
	return numbers
}

// maxJournal bounds the memory of an emulator that runs for days.
const maxJournal = 100_000

// Entry is one request that reached the API.
type Entry = statuspage.Entry

// Journal lists the requests that reached the API; the status page, the control API under /_emulator/, and the file storage are not in it.
// It lives in memory only. Its methods may be called from any goroutine.
type Journal struct {
	mu      sync.Mutex
	entries []*Entry
	seq     int
}

// Entries returns a copy of all entries in the order of arrival.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Entry, len(j.entries))
	for i, e := range j.entries {
		out[i] = *e
	}
	return out
}

// newestRuns returns copies of the entries of the newest n runs, newest run first, and whether there are older ones. With a number
// in before, only runs with lower numbers count.
func (j *Journal) newestRuns(n, before int) (runs [][]Entry, older bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	sizes := map[int]int{}
	for _, e := range j.entries {
		if before == 0 || e.Run < before {
			sizes[e.Run]++
		}
	}
	numbers := slices.Sorted(maps.Keys(sizes))
	slices.Reverse(numbers)
	older = len(numbers) > n
	at := map[int]int{}
	for i, number := range numbers[:min(len(numbers), n)] {
		at[number] = i
		runs = append(runs, make([]Entry, 0, sizes[number]))
	}
	for _, e := range j.entries {
		if i, ok := at[e.Run]; ok {
			runs[i] = append(runs[i], *e)
		}
	}
	return runs, older
}

// Count returns how many requests of an operation arrived.
func (j *Journal) Count(operation string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, e := range j.entries {
		if e.Operation == operation {
			n++
		}
	}
	return n
}

// Reset forgets all entries.
func (j *Journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}

func (j *Journal) begin(e *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	e.Seq = j.seq
	if len(j.entries) >= maxJournal {
		j.entries = j.entries[len(j.entries)/10:]
	}
	j.entries = append(j.entries, e)
}

// change edits an entry under the journal's lock.
func (j *Journal) change(edit func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	edit()
}
