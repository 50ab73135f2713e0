package emulator

import (
	"maps"
	"slices"
	"sync"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

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
