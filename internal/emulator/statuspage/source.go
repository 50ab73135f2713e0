package statuspage

import (
	"net/http"
	"time"
)

// Source is what the pages read. The emulator has it.
type Source interface {
	// State is what the pages show beside objects and requests.
	State() State
	// Version changes with whatever may change a page.
	Version() int64
	// Objects returns all objects, in the order of the status page, and what the page of one shows, if it is named and exists.
	Objects(kind, id string) (kinds []*Kind, row *Row, d Detail, err error)
	// NewestRuns returns the requests of the newest n runs, or of those before a number that is not 0, and whether there are older ones.
	NewestRuns(n, before int) (runs [][]Entry, older bool)
	// Requests returns all requests, in the order of their arrival.
	Requests() []Entry
	// Connected has the runs whose process still has a connection.
	Connected() map[int]bool
	// Fail answers a request with an error. One that is fs.ErrNotExist is a 404.
	Fail(w http.ResponseWriter, r *http.Request, err error)
}

// State is what the pages show of the emulator itself.
type State struct {
	URL, ClockFile, Tier string
	Now                  time.Time
	Ahead                time.Duration // By how much the clock was moved.
	Kept                 bool          // The key and the objects outlive the process.
	Faults               []Fault
}

// Fault is something that the control API programmed.
type Fault struct{ Kind, For, Left string }

// Entry is one request that reached the API.
type Entry struct {
	// Seq counts the requests from 1 in the order of their arrival; Reset does not restart it.
	Seq int `json:"seq"`
	// Time is the emulator's clock at arrival.
	Time time.Time `json:"time"`
	// Started is the real time at arrival.
	Started time.Time `json:"-"`
	// Run is the number of the run that the request belongs to, from 1: one process of a client, as far as its connections tell.
	Run int `json:"run"`
	// UserAgent is the name that the client gave itself.
	UserAgent string `json:"-"`
	// Operation is the operationId, empty for a request that matches no operation.
	Operation string `json:"operation"`
	// Method, Path and Query are the request's own; Route is the path with its parameters' names.
	Method string `json:"method"`
	Route  string `json:"route"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// BodyHash is equal for equal bodies, and only in this process: it recognizes a repeated request.
	BodyHash uint64 `json:"-"`
	// Status is the status that was sent; 0 while the request runs and when the connection was dropped.
	Status int `json:"status"`
	// Duration is the real time until the response was ready.
	Duration time.Duration `json:"-"`
	// Principal is the ID of the authenticated caller, empty when the request did not get that far.
	Principal string `json:"principal,omitempty"`
	// Named is the name in the body, such as that of an object to create.
	Named string `json:"-"`
	// Refusals are why the service refused the request, or parts of one that it otherwise carried out.
	Refusals []string `json:"refusals,omitempty"`
	// RequestID is what the service calls a request that it refused, if its response has that.
	RequestID string `json:"requestId,omitempty"`
	// Fault is the kind of the fault that hit the request, empty for none.
	Fault string `json:"fault,omitempty"`
	// Changes are what the request did to objects, also if its response was lost.
	Changes []Change `json:"-"`
}

// Change is what a request did to an object.
type Change struct {
	Verb string `json:"verb"` // Such as "created".
	Ref
	Until   int64  `json:"-"`                 // When the object is ready or has failed, in milliseconds on the emulator's clock; 0 for at once.
	Listed  int64  `json:"-"`                 // When lists show it; 0 for at once.
	Failure string `json:"failure,omitempty"` // What it then is, such as "build failed"; empty if it is ready.
}

// Kind is all objects of one kind.
type Kind struct {
	ID, Name, One, Heading string // As in addresses, of several, of one, and what the state of such an object is.
	Resource               string // What imports an object.
	Operation, Note        string // The operation that returns an object, and what about it is worth knowing.
	Rows                   []Row

	Total, Failed, Rest int  // Rest is how many rows only the list of all has.
	Whole               bool // This is the list of all.
}

// Row is an object.
type Row struct {
	Ref
	State       string
	Owner       string
	Note, Badge string // The badge is a note that stands out.
	CreatedAt   int64  // In milliseconds; 0 if nobody knows.
	Seq         uint64 // Orders objects of one millisecond.
	Resource    string // What imports it, if that is not the resource of its kind.
	ImportID    string // The ID that imports it, if that is another one.
	Foreign     bool   // Only the owner can delete and import it.
	Requests    string // What the path or the query of a request for it contains, if that is not the ID.

	Class string
	At    string // The time of creation.
}

// Detail is what only the page of an object shows.
type Detail struct {
	Body    any // What the API returns; nil if it returns nothing.
	History []Event
	Actions []Action
}

// Event is something that happened to an object and that its JSON does not say.
type Event struct {
	At         int64
	Text, Note string
	// State is what it came to, and colors the event.
	State string
}

// stateClasses are the states that stand out.
var stateClasses = map[string]string{
	"error": "bad", "failed": "bad", "provisioning": "busy", "building": "busy", "running": "busy", "pending": "busy", "expired": "warn", "grace period": "warn",
}
