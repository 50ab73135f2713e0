package emulator

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
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
}

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
	if x.route.method == http.MethodGet {
		transaction = e.store.db.View
	}
	var response reply
	err = transaction(func(tx *bolt.Tx) error {
		req := &request{e: e, tx: tx, now: e.clock.Now(), params: x.params, body: body}
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
		if req.query, err = checkQuery(r.URL.RawQuery, x.route); err != nil {
			return err
		}
		if err := req.checkBody(r, x.route); err != nil {
			return err
		}
		for name, value := range x.params {
			if strings.ContainsRune(value, 0) {
				return refuse("nul-character", "The path parameter %s contains a NUL character.", name)
			}
		}
		response, err = x.route.handle(req)
		return err
	})
	if err != nil {
		e.writeError(w, r, err)
		return
	}
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

// checkQuery refuses parameters the operation does not have, repeated ones, and empty ones: none means anything empty.
func checkQuery(raw string, rt *route) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, badRequest("The query cannot be parsed: %v.", err)
	}
	for name, given := range values {
		switch {
		case slices.Contains(rt.repeated, name):
		case !slices.Contains(rt.query, name):
			return nil, invalid("The operation %s has no query parameter %q.", rt.operation, name)
		case len(given) > 1:
			return nil, invalid("The query parameter %q was given %d times.", name, len(given))
		}
		for _, v := range given {
			switch {
			case v == "":
				return nil, invalid("The query parameter %q must not be empty.", name)
			case strings.ContainsRune(v, 0):
				return nil, invalidBy("nul-character", "The query parameter %q contains a NUL character.", name)
			}
		}
	}
	return values, nil
}

func (r *request) checkBody(sent *http.Request, rt *route) error {
	rule, limit := rt.body, rt.bodyLimit()
	switch {
	case len(r.body) == 0 && rule == requiredBody:
		return invalid("A JSON body is required.")
	case len(r.body) == 0:
		return nil
	case rule == noBody && sent.Method != http.MethodPost:
		return invalid("This operation takes no body.")
	case len(r.body) > limit:
		return invalidBy("body-size", "The body is larger than %d bytes.", limit)
	}
	media, _, err := mime.ParseMediaType(sent.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || media != "application/json" {
		return invalid("The Content-Type of the body is %q; it must be application/json.", sent.Header.Get("Content-Type"))
	}
	if rule != noBody {
		return nil
	}
	f, err := r.fields()
	if err != nil {
		return err
	}
	return f.done()
}

// flag reads a query parameter that is "true" or "false"; absent means false.
func (r *request) flag(name string) (bool, error) {
	if !r.query.Has(name) {
		return false, nil
	}
	switch r.query.Get(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid("The query parameter %q must be true or false.", name)
}
