package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// FaultHeader is in every response that a fault made; its value is the fault's kind.
const FaultHeader = contract.FaultHeader

// FaultKind says what a fault does. "Before commit" means that the request changes nothing; "after commit" that it was
// carried out in full, and only its response is spoiled.
type FaultKind string

// The kinds of faults.
const (
	// FaultStatusBeforeCommit answers Fault.Status with an error body.
	FaultStatusBeforeCommit FaultKind = "status-before-commit"
	// FaultStatusAfterCommit does the work and answers Fault.Status with an error body.
	FaultStatusAfterCommit FaultKind = "status-after-commit"
	// FaultDropBeforeCommit closes the connection without a response.
	FaultDropBeforeCommit FaultKind = "drop-before-commit"
	// FaultDropAfterCommit does the work and closes the connection without a response.
	FaultDropAfterCommit FaultKind = "drop-after-commit"
	// FaultCommitsLate closes the connection without a response, and does the work later: Fault.Delay of the emulator's time must have
	// passed when the next request comes.
	FaultCommitsLate FaultKind = "commits-late"
	// FaultDelayAfterCommit does the work, waits for Fault.Delay, then answers.
	FaultDelayAfterCommit FaultKind = "delay-after-commit"
	// FaultTruncatedBody does the work and sends half of the response, with the length of the whole.
	FaultTruncatedBody FaultKind = "truncated-body"
	// FaultNonJSON does the work and answers with the real status and an HTML page.
	FaultNonJSON FaultKind = "non-json"
	// FaultOtherResponse does the work and answers Fault.Status (200 if 0) with Fault.Body, as another version of the service may.
	FaultOtherResponse FaultKind = "other-response"
	// FaultOtherServer answers the same and does nothing, as another server at the address does.
	FaultOtherServer FaultKind = "other-server"
	// FaultRateLimited answers 429 with Retry-After, before anything is done.
	FaultRateLimited FaultKind = "rate-limited"
	// FaultNotFoundAfterCreate lets a creation pass and answers 404 to the next Fault.Reads reads of what it made.
	FaultNotFoundAfterCreate FaultKind = "not-found-after-create"
	// FaultRepeatedCursor lets a page that was asked for by a cursor say that there is more, with that same cursor. A
	// first page passes, because its cursor is the one that repeats.
	FaultRepeatedCursor FaultKind = "repeated-cursor"
)

// Fault is one programmed misbehaviour.
type Fault struct {
	// Operation is an operationId; empty means any.
	Operation string `json:"operation,omitempty"`
	// Kind says what happens.
	Kind FaultKind `json:"kind"`
	// Status is the response's status, for the two status kinds (0 means 500) and the two kinds of other answers (0 means 200).
	Status int `json:"status,omitempty"`
	// Body is what the two kinds of other answers send: as JSON if it is that, else as HTML.
	Body string `json:"body,omitempty"`
	// RetryAfter is the value of the header of that name, for the status kinds and FaultRateLimited (there "1" if empty).
	RetryAfter string `json:"retryAfter,omitempty"`
	// Delay is real time for FaultDelayAfterCommit, and the emulator's time for FaultCommitsLate.
	Delay time.Duration `json:"-"`
	// After lets this many matching requests pass first.
	After int `json:"after,omitempty"`
	// Times is how many matching requests are hit; 0 means 1, -1 means all.
	Times int `json:"times,omitempty"`
	// Match is a text the request's path must contain; empty matches every path.
	Match string `json:"match,omitempty"`
	// Reads is for FaultNotFoundAfterCreate; 0 means 1.
	Reads int `json:"reads,omitempty"`
}

// problem says what is wrong with a fault; empty means nothing.
func (f Fault) problem() string {
	switch f.Kind {
	case FaultOtherResponse, FaultOtherServer:
		if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
			return fmt.Sprintf("the status %d is not between 200 and 599", f.Status)
		}
	case FaultStatusBeforeCommit, FaultStatusAfterCommit:
		if f.Status != 0 && (f.Status < 400 || f.Status > 599) {
			return fmt.Sprintf("the status %d is not between 400 and 599", f.Status)
		}
	case FaultDropBeforeCommit, FaultDropAfterCommit, FaultCommitsLate, FaultDelayAfterCommit,
		FaultTruncatedBody, FaultNonJSON, FaultRateLimited, FaultNotFoundAfterCreate, FaultRepeatedCursor:
	default:
		return fmt.Sprintf("the kind %q does not exist", f.Kind)
	}
	return ""
}

// Faults is the list of programmed faults. A request is hit by at most one: the first that matches.
// Its methods may be called from any goroutine.
type Faults struct {
	mu      sync.Mutex
	pending []Fault
	hidden  map[string]int // ID of a created object → how many reads of it still answer 404.
	late    []lateRequest
}

// lateRequest is a request of FaultCommitsLate, and the time from which it is carried out.
type lateRequest struct {
	at   time.Time
	send func()
}

// takeLate returns the requests of FaultCommitsLate that are due, in the order in which they came.
func (f *Faults) takeLate(now time.Time) (due []lateRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = slices.DeleteFunc(f.late, func(l lateRequest) bool {
		isDue := !l.at.After(now)
		if isDue {
			due = append(due, l)
		}
		return isDue
	})
	return due
}

// Add appends faults to the list. An invalid fault makes the request that it hits return 500 with the reason.
func (f *Faults) Add(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range faults {
		fault.Times = cmp.Or(fault.Times, 1)
		f.pending = append(f.pending, fault)
	}
}

// Clear removes all faults.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending, f.hidden, f.late = nil, nil, nil
}

// Pending returns the faults with hits left, with After and Times counted down.
func (f *Faults) Pending() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Fault(nil), f.pending...)
}

// take returns the fault that hits a request, if one does.
func (f *Faults) take(operation string, r *http.Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method == http.MethodGet {
		for id, reads := range f.hidden {
			if !strings.Contains(r.URL.Path, "/"+id) {
				continue
			}
			if f.hidden[id]--; reads <= 1 {
				delete(f.hidden, id)
			}
			return Fault{Kind: FaultNotFoundAfterCreate}, true
		}
	}
	hit := take(&f.pending, func(p *Fault) *int { return &p.Times }, func(p *Fault) bool {
		if p.Operation != "" && p.Operation != operation || !strings.Contains(r.URL.Path, p.Match) {
			return false
		}
		if p.Kind == FaultNotFoundAfterCreate && r.Method != http.MethodPost || p.Kind == FaultRepeatedCursor && !r.URL.Query().Has("cursor") {
			return false
		}
		if p.After > 0 {
			p.After--
			return false
		}
		return true
	})
	if hit == nil {
		return Fault{}, false
	}
	return *hit, true
}

// hide makes reads of the objects that a response describes fail.
func (f *Faults) hide(created []runreport.Object, reads int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hidden == nil {
		f.hidden = map[string]int{}
	}
	for _, object := range created {
		f.hidden[object.ID] = max(1, reads)
	}
}

// beforeCommit carries out what a fault does before the request is handled. It reports whether the request ends here.
func (e *Emulator) beforeCommit(x *exchange, w *response, r *http.Request, f Fault) (ends bool) {
	if text := f.problem(); text != "" {
		e.writeError(w, r, fail(http.StatusInternalServerError, "A programmed fault is wrong: %s.", text))
		return true
	}
	switch f.Kind {
	case FaultStatusBeforeCommit:
		e.writeFaultStatus(w, r, f)
	case FaultRateLimited:
		f.Status, f.RetryAfter = http.StatusTooManyRequests, cmp.Or(f.RetryAfter, "1")
		e.writeFaultStatus(w, r, f)
	case FaultOtherServer:
		w.writeOther(f)
	case FaultDropBeforeCommit:
		w.drop = true
	case FaultCommitsLate:
		w.drop = true
		late := r.WithContext(context.WithoutCancel(r.Context()))
		e.faults.mu.Lock()
		defer e.faults.mu.Unlock()
		e.faults.late = append(e.faults.late, lateRequest{e.clock.Now().Add(f.Delay), func() { e.api.ServeHTTP(&response{header: http.Header{}}, late) }})
	case FaultNotFoundAfterCreate:
		if r.Method != http.MethodGet {
			return false
		}
		e.writeError(w, r, notFound("No %s with this ID was found.", x.noun()))
	default:
		return false
	}
	return true
}

// afterCommit spoils the response of a request that was carried out.
func (e *Emulator) afterCommit(x *exchange, w *response, r *http.Request, f Fault) {
	switch f.Kind {
	case FaultStatusAfterCommit:
		w.reset()
		e.writeFaultStatus(w, r, f)
	case FaultDropAfterCommit:
		w.drop = true
	case FaultDelayAfterCommit:
		w.drop = clock.System.Sleep(r.Context(), f.Delay) != nil
	case FaultTruncatedBody:
		if w.body.Len() == 0 { // A 204 has nothing to cut; a promised body that never comes is as broken.
			w.status = http.StatusOK
			w.body.WriteString("{}")
		}
		w.header.Set("Content-Length", strconv.Itoa(w.body.Len()))
		w.body.Truncate(w.body.Len() / 2)
		w.drop, w.partial = true, true
	case FaultNonJSON:
		if w.status == http.StatusNoContent {
			w.status = http.StatusOK
		}
		w.body.Reset()
		w.body.WriteString("<!DOCTYPE html><html><body><h1>Please stand by</h1></body></html>\n")
		w.header.Set("Content-Type", "text/html; charset=utf-8")
	case FaultOtherResponse:
		w.writeOther(f)
	case FaultNotFoundAfterCreate:
		if w.status < 300 {
			created, _, _ := runreport.Answer(x.entry.Operation, w.body.Bytes())
			e.faults.hide(created, f.Reads)
		}
	case FaultRepeatedCursor:
		w.repeatCursor(r.URL.Query().Get("cursor"))
	}
}

// repeatCursor makes a page lead to itself. A response that is no page stays as it is.
func (a *response) repeatCursor(cursor string) {
	var body map[string]json.RawMessage
	if json.Unmarshal(a.body.Bytes(), &body) != nil {
		return
	}
	for _, form := range []struct{ part, more, next string }{
		{"pagination", "hasMore", "nextCursor"}, {"meta", "has_more", "next_cursor"},
	} {
		var part map[string]any
		if json.Unmarshal(body[form.part], &part) != nil {
			continue
		}
		part[form.more], part[form.next] = true, cursor
		body[form.part], _ = json.Marshal(part) // What was just decoded can be encoded.
	}
	a.body.Reset()
	_ = json.NewEncoder(&a.body).Encode(body) // The same.
}

func (a *response) writeOther(f Fault) {
	a.reset()
	a.status = max(f.Status, http.StatusOK)
	a.header.Set("Content-Type", "text/html; charset=utf-8")
	if json.Valid([]byte(f.Body)) {
		a.header.Set("Content-Type", "application/json")
	}
	a.body.WriteString(f.Body)
}

func (e *Emulator) writeFaultStatus(w *response, r *http.Request, f Fault) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	e.writeError(w, r, fail(cmp.Or(f.Status, http.StatusInternalServerError), "A programmed fault answered this request."))
}
