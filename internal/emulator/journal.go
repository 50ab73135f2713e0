package emulator

import (
	"slices"
	"sync"
	"time"
)

// maxJournal bounds the memory of an emulator that runs for days.
const maxJournal = 100_000

// Entry is one request that reached the API.
type Entry struct {
	// Seq counts the requests from 1 in the order of their arrival; Reset does not restart it.
	Seq int
	// Time is the emulator's clock at arrival.
	Time time.Time
	// Started is the real time at arrival.
	Started time.Time
	// Run is the number of the run that the request belongs to, from 1: one process of a client, as far as its connections tell.
	Run int
	// UserAgent is the name that the client gave itself.
	UserAgent string
	// Operation is the operationId, empty for a request that matches no operation.
	Operation string
	// Method, Path and Query are the request's own; Route is the path with its parameters' names.
	Method, Route, Path, Query string
	// BodyHash is equal for equal bodies, and only in this process: it recognizes a repeated request.
	BodyHash uint64
	// Status is the status that was sent; 0 while the request runs and when the connection was dropped.
	Status int
	// Duration is the real time until the response was ready.
	Duration time.Duration
	// Principal is the ID of the authenticated caller, empty when the request did not get that far.
	Principal string
	// Fault is the kind of the fault that hit the request, empty for none.
	Fault string
}

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

// latest returns copies of the newest n entries, newest first, and how many there are in all.
func (j *Journal) latest(n int) (entries []Entry, total int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.entries[max(0, len(j.entries)-n):]) {
		entries = append(entries, *e)
	}
	return entries, len(j.entries)
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
