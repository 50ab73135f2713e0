package emulator

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// request is what a handler gets: one authenticated request inside one transaction.
type request struct {
	e      *Emulator
	tx     *bolt.Tx
	now    time.Time
	who    principal
	params map[string]string
	query  url.Values
	body   []byte

	operation string
	effects   []statuspage.Change
}

// noteChange notes for the status page that the request does to an object what its operation usually does.
func (r *request) noteChange(id, name string) *statuspage.Change {
	effect := statuspage.Effects[r.operation]
	r.effects = append(r.effects, statuspage.Change{Verb: effect.Verb, Ref: statuspage.Ref{Kind: effect.Kind, ID: id, Name: name}})
	return &r.effects[len(r.effects)-1]
}

// values are the body of an answer, or a part of it.
type values = map[string]any

// reply is a successful answer; a nil body means an empty one, and any but an archive or a redirection is sent as JSON.
type reply struct {
	status int
	body   any
}

type (
	// archive is the bytes of a ZIP file.
	archive []byte
	// redirection is the address where the response is.
	redirection string
)

// on is a handler of an object that the path names.
func on[T any](find func(*request) (T, error), handle func(*request, T) (reply, error)) func(*request) (reply, error) {
	return func(r *request) (reply, error) {
		object, err := find(r)
		if err != nil {
			return reply{}, err
		}
		return handle(r, object)
	}
}

func (r *request) computerInPath() (*computer, error) { return r.computer(r.params["computerId"]) }
func (r *request) accountInPath() (*serviceAccount, error) {
	return r.account(r.params["serviceAccountId"])
}
func (r *request) environmentInPath() (*environment, error) {
	return r.environment(r.params["environmentId"])
}

// serveAPI is the handler that Options.Wrap wraps. Everything one request changes is in one transaction.
func (e *Emulator) serveAPI(w http.ResponseWriter, r *http.Request) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	switch {
	case !ok:
		e.writeError(w, r, fail(http.StatusInternalServerError, "The handler was called outside of the emulator's server."))
		return
	case x.route == nil && len(x.allowed) > 0:
		w.Header().Set("Allow", strings.Join(x.allowed, ", "))
		e.writeError(w, r, fail(http.StatusMethodNotAllowed, "The path %s does not support %s.", r.URL.Path, r.Method))
		return
	case x.route == nil:
		e.writeError(w, r, notFound("There is no operation at the path %s.", r.URL.Path))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.writeError(w, r, badRequest("The body could not be read: %v.", err))
		return
	}
	transaction := e.store.db.Update
	if r.Method == http.MethodGet {
		transaction = e.store.db.View
	}
	var response reply
	var req *request
	err = transaction(func(tx *bolt.Tx) error {
		req = &request{e: e, tx: tx, now: e.clock.Now(), params: x.params, body: body, operation: x.route.operation}
		var err error
		if req.who, err = authenticate(tx, r.Header.Get("Authorization"), req.now); err != nil {
			return err
		}
		e.journal.change(func() { x.entry.Principal = req.who.ID })
		if x.route.admit != nil {
			if err := x.route.admit(req); err != nil {
				return err
			}
		}
		if err := req.check(r, x); err != nil {
			return err
		}
		response, err = x.route.handle(req)
		return err
	})
	if err != nil {
		e.writeError(w, r, err)
		return
	}
	e.journal.change(func() { x.entry.Changes = req.effects })
	switch body := response.body.(type) {
	case nil:
		w.WriteHeader(response.status)
	case archive:
		w.Header().Set("Content-Type", zipType)
		w.WriteHeader(response.status)
		if _, err := w.Write(body); err != nil {
			e.log.Debug("the client went away", "error", err)
		}
	case redirection:
		w.Header().Set("Location", string(body))
		w.WriteHeader(response.status)
	default:
		e.writeJSON(w, response.status, body)
	}
}

// deviation is a problem that the contract finds.
func deviation(d contract.Deviation) problem {
	return problem{text: fmt.Sprintf("%s: expected %s, found %s (%s).", d.Place, d.Expected, d.Found, d.Kind)}
}

// check refuses what the contract does not allow, and the rules for all requests.
func (r *request) check(sent *http.Request, x *exchange) error {
	if limit := x.route.bodyLimit(); len(r.body) > limit {
		return refuse("body-size", "The body is larger than %d bytes.", limit)
	}
	var problems []problem
	for _, d := range r.e.doc.CheckRequest(sent, r.body) {
		if x.route.unknown != 0 && d.Kind == contract.WrongEnum {
			return fail(x.route.unknown, "%s: expected %s.", d.Place, d.Expected)
		}
		problems = append(problems, deviation(d))
	}
	if len(problems) > 0 {
		return invalidFor(problems...)
	}
	r.query = sent.URL.Query()
	// It separates the parts of keys in the database. Without pairs of backslashes, an escape is one.
	if strings.Contains(sent.URL.RequestURI(), "%00") || strings.Contains(strings.ReplaceAll(string(r.body), `\\`, ""), `\u0000`) {
		return refuse("nul-character", "The request contains a NUL character.")
	}
	return nil
}

// pagination is the paging part of a list answer under /api/v0.
type pagination struct {
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"`
}

// limit is how many items a request asks for.
func (r *request) limit() int {
	limit, err := strconv.Atoi(r.query.Get("limit"))
	if err != nil {
		return 20
	}
	return limit
}

// page cuts the page a request asks for out of a list, given the ID of each item in its order. The cursor names
// the last item of the page before; one that names no item of the list is refused.
func (r *request) page(ids []string) (from, to int, p pagination, err error) {
	if r.query.Has("cursor") {
		id, err := base64.RawURLEncoding.DecodeString(r.query.Get("cursor"))
		at := slices.Index(ids, string(id))
		if err != nil || at < 0 {
			return 0, 0, p, refuse("cursor-unknown", "The query parameter %q is not a cursor of this list.", "cursor")
		}
		from = at + 1
	}
	to = min(len(ids), from+min(r.limit(), r.e.opts.MaxPageSize))
	if to < len(ids) {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(ids[to-1]))
		p = pagination{HasMore: true, NextCursor: &cursor}
	}
	return from, to, p, nil
}
