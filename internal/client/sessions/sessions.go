// Package sessions calls the operations on sessions.
package sessions

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on sessions.
type Client struct {
	conn *transport.Conn

	listings *collection.Listing[Session]
	pages    *collection.Paged[[]Session]
	created  *create.Sends[Session]
	sent     *create.Sends[Message]
}

// New returns a client for sessions.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn, created: create.NewSends[Session](conn), sent: create.NewSends[Message](conn)}
	c.listings = collection.NewListing(conn.Clock, c.listForReads)
	c.pages = newPages(conn)
	return c
}

const (
	// maxListed limits how many sessions of a computer are listed for reads. The others are read one by one.
	maxListed = 1000
	// notFoundPatience is how long every request but that of a refresh is retried after a 404, because the session may be new.
	notFoundPatience = 10 * time.Second
	notFoundPause    = 2 * time.Second
)

// newPages returns empty listings of sessions. They may take a minute or more if there was none for a while.
func newPages(conn *transport.Conn) *collection.Paged[[]Session] {
	r := transport.Get("listSessions", "/api/v0/sessions")
	r.Op.Slow = true
	return collection.NewPages[Session](conn, r, "sessions")
}

func query(computer string) url.Values {
	if computer == "" {
		return nil
	}
	return url.Values{"computerId": {computer}}
}

// pagesOf returns the key of the listing of one computer's sessions, or of all sessions; most 0 means all of them.
func pagesOf(computer string, most int) string {
	return collection.PageKey(most, query(computer))
}

// List returns the sessions of the API key's owner, newest first, on one computer or on all; most 0 means all of them. Calls in
// a short time share the pages.
func (c *Client) List(ctx context.Context, computer string, most int) ([]Session, error) {
	found, err := collection.Gather(c.pages.All(ctx, pagesOf(computer, most)), most)
	wire.SortNewestFirst(found)
	if err != nil || most == 0 {
		return found, err
	}
	return found[:min(most, len(found))], nil
}

// listForReads lists a computer's sessions, at most maxListed. If it gets none, for example because the computer was deleted,
// it lists the sessions of all computers.
func (c *Client) listForReads(ctx context.Context, computer string) ([]Session, error) {
	found, err := collection.Gather(newPages(c.conn).All(ctx, pagesOf(computer, 0)), maxListed)
	isRefused := collection.CannotList(err) && !transport.IsForeign(err)
	if computer == "" || len(found) > 0 || err != nil && !isRefused {
		return found, err
	}
	all, allErr := c.listForReads(ctx, "")
	if err == nil && collection.CannotList(allErr) {
		return found, nil
	}
	return all, allErr
}

// Peek returns a session from the listing that reads share now, without a request, or nil.
func (c *Client) Peek(ctx context.Context, id, computer string) *Session {
	return c.listings.Peek(ctx, computer, id)
}

// Listed returns a session from the listing of its computer that reads share, or nil.
func (c *Client) Listed(ctx context.Context, id, computer string) (*Session, error) {
	return c.listings.Lookup(ctx, computer, id)
}

// Get reads one session for a refresh, from a listing of its computer that the reads of a plan share, because only listings always
// have the settings. If it is not listed, it is read alone. If it does not exist, the error is a *MissingError, which is new if the
// session was created a moment ago.
func (c *Client) Get(ctx context.Context, id, computer string, createdAt time.Time) (*Session, error) {
	return c.listings.GetListed(ctx, computer, id, func(ctx context.Context, id string) (*Session, error) {
		if !collection.IsYoung(cmp.Or(c.conn.ServiceTime(), c.conn.Clock.Now()), createdAt) {
			return c.anywhere(ctx, id, computer)
		}
		found, err := c.GetUncached(ctx, id, computer) // One request is enough: a 404 proves nothing for a new session.
		if transport.IsNotFound(err) {
			err = &collection.MissingError{Err: err, IsNew: true}
		}
		return found, err
	})
}

// GetNow reads one session of which nothing is known yet: alone, and then its settings from the listing of its computer. If it does
// not exist, the error is a *MissingError.
func (c *Client) GetNow(ctx context.Context, id, computer string) (*Session, error) {
	found, err := retryNotFound(ctx, c, func() (*Session, error) { return c.anywhere(ctx, id, computer) })
	if err != nil || found.Settings != nil {
		return found, collection.Gone(err)
	}
	listed, err := c.listings.Lookup(ctx, cmp.Or(found.ComputerID, computer), found.ID)
	switch {
	case err != nil && !collection.CannotList(err):
		return nil, err
	case listed != nil:
		found.Settings = listed.Settings
	}
	return found, nil // Sessions of other owners are in no listing.
}

// anywhere reads one session alone, on its computer or elsewhere.
func (c *Client) anywhere(ctx context.Context, id, computer string) (*Session, error) {
	return onComputer(computer, func(computer string) (*Session, error) { return c.GetUncached(ctx, id, computer) })
}

// GetUncached reads one session alone, on a computer or, with an empty ID, wherever it is. The response may lack the settings.
func (c *Client) GetUncached(ctx context.Context, id, computer string) (*Session, error) {
	return transport.CallObject[Session](ctx, c.conn, transport.Get("getSession", "/api/v0/sessions/{sessionId}", id).Where(query(computer)), "session", id)
}

// onComputer sends a request for a session of a computer. After a 404, it retries without the computer, which may have been
// deleted.
func onComputer[T any](computer string, send func(computer string) (T, error)) (T, error) {
	result, err := send(computer)
	if computer != "" && transport.IsNotFound(err) {
		return send("")
	}
	return result, err
}

// retryNotFound retries a request after a 404, because the session may be new.
func retryNotFound[T any](ctx context.Context, c *Client, send func() (T, error)) (result T, err error) {
	err = c.conn.Until(ctx, notFoundPatience, notFoundPause, transport.IsNotFound, func() (err error) {
		result, err = send()
		return err
	})
	if transport.IsNotFound(err) && ctx.Err() != nil {
		err = fmt.Errorf("waiting for the session to become visible: %w", ctx.Err())
	}
	return result, err
}

// Create creates a session, and finds it after a lost response; see create.Unnamed.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Session, error) {
	if body.Settings.IsEmpty() {
		body.Settings = nil
	}
	object := "session on the computer " + body.ComputerID
	made, err := create.Unnamed(ctx, c.created, create.UnnamedObject[Session]{
		Object: object,
		Place:  strings.ToLower(body.ComputerID),
		Body:   body,
		Send:   func(ctx context.Context) (*Session, error) { return c.send(ctx, body) },
		List: func(ctx context.Context) ([]Session, error) {
			all, err := c.listForReads(ctx, body.ComputerID)
			return collection.Filter(all, func(s *Session) bool { return s.ParentSessionID == "" && !body.isElsewhere(s) }), err
		},
		IsWanted: body.isWanted,
	})
	c.invalidate(body.ComputerID)
	if err == nil && body.isElsewhere(made) {
		return nil, create.AnotherObject(object, "", made.Ref())
	}
	return made, err
}

// send creates a session. If the response has the ID but not the whole session, the next refresh reads the rest.
func (c *Client) send(ctx context.Context, body CreateRequest) (*Session, error) {
	made, isWhole, err := transport.CallCreate[Session](ctx, c.conn, transport.Post("createSession", "/api/v0/sessions").With(body), "session")
	if err != nil || isWhole {
		return made, err
	}
	createdAt := cmp.Or(made.CreatedAt.Time(), c.conn.ServiceTime(), c.conn.Clock.Now())
	return &Session{
		ID: made.ID, Status: StatusIdle, CreatedAt: wire.Millis(createdAt.UnixMilli()),
		ComputerID: cmp.Or(made.ComputerID, body.ComputerID), Settings: made.Settings,
	}, nil
}

// Update changes the settings that are not nil.
func (c *Client) Update(ctx context.Context, id, computer string, settings *Settings) (*Session, error) {
	defer c.invalidate(computer)
	r := transport.Patch("updateSession", "/api/v0/sessions/{sessionId}", id).With(map[string]*Settings{"sessionSettings": settings})
	read := func(ctx context.Context, id string) (*Session, error) {
		c.invalidate(computer)
		return c.GetNow(ctx, id, computer)
	}
	return retryNotFound(ctx, c, func() (*Session, error) { return transport.PatchObject(ctx, c.conn, r, "session", id, read) })
}

// Delete soft-deletes a session: the service keeps it for a while. If the session does not exist, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id, computer string) error {
	defer c.invalidate(computer)
	var isLost bool // An attempt got no response. If it deleted the session, later attempts return 404.
	_, err := retryNotFound(ctx, c, func() (any, error) {
		return onComputer(computer, func(computer string) (any, error) {
			err := c.conn.CallIgnoringBody(ctx, transport.Delete("deleteSession", "/api/v0/sessions/{sessionId}", id).Where(query(computer)))
			isLost = isLost || transport.IsRepeated(err)
			return nil, err
		})
	})
	if transport.IsNotFound(err) && isLost {
		return nil
	}
	return collection.Gone(err)
}

// invalidate drops the cached sessions of a computer and of all computers.
func (c *Client) invalidate(computer string) {
	c.listings.Invalidate(computer, "")
	c.pages.Invalidate()
}

// invalidateAll drops all cached sessions.
func (c *Client) invalidateAll() {
	c.listings.InvalidateAll()
	c.pages.Invalidate()
}

// Interrupt interrupts the agent of a session and returns the new status. An idle session stays idle.
func (c *Client) Interrupt(ctx context.Context, id string) (string, error) {
	type outcome struct {
		Status string `json:"status"`
	}
	r := transport.Post("interruptSession", "/api/v0/sessions/{sessionId}/interrupt", id).Repeatable()
	response, err := retryNotFound(ctx, c, func() (*outcome, error) { return transport.Call[outcome](ctx, c.conn, r) })
	c.invalidateAll()
	switch {
	case err != nil:
		return "", err
	case response.Status == "":
		return "", r.Unexpected("the field status is missing")
	}
	return response.Status, nil
}
