package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
)

const (
	sessionsPath = "/api/v0/sessions"
	// notVisibleTime is how long the service may return 404 for a session that exists.
	notVisibleTime = 2 * time.Minute
)

// watchSessions remembers the sessions that pass by. After an interrupt, lists may not show the newest ones yet.
func (r *run) watchSessions(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		isCreate := req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, sessionsPath)
		isDelete := req.Method == http.MethodDelete && strings.HasSuffix(path.Dir(req.URL.Path), sessionsPath)
		if !isCreate && !isDelete {
			next.ServeHTTP(w, req)
			return
		}
		seen := &copied{ResponseWriter: w}
		next.ServeHTTP(seen, req)
		if seen.status >= http.StatusMultipleChoices {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if isDelete {
			delete(r.sessions, path.Base(req.URL.Path))
			return
		}
		var s sessions.Session
		if json.Unmarshal(seen.body.Bytes(), &s) == nil && s.ID != "" {
			r.sessions[s.ID] = s
		}
	})
}

// copied keeps a copy of a response.
type copied struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

func (c *copied) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *copied) Write(data []byte) (int, error) {
	c.body.Write(data)
	return c.ResponseWriter.Write(data)
}

// removeSessions deletes the sessions of the run that still exist. The service may return 404 for a new one; then it tries again.
func (r *run) removeSessions(ctx context.Context, c *client.Client) error {
	r.mu.Lock()
	left := make([]sessions.Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		left = append(left, s)
	}
	r.mu.Unlock()
	var errs []error
	for _, s := range left {
		errs = append(errs, removeSession(ctx, c, s))
	}
	return errors.Join(errs...)
}

func removeSession(ctx context.Context, c *client.Client, s sessions.Session) error {
	ctx, cancel := context.WithTimeout(ctx, notVisibleTime)
	defer cancel()
	pause := time.NewTicker(3 * time.Second)
	defer pause.Stop()
	for {
		err := c.Sessions.Delete(ctx, s.ID, s.ComputerID, s.CreatedAt.Time())
		if !collection.IsGone(err) && !collection.IsNew(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // It is not new any more, and does not exist.
		case <-pause.C:
		}
	}
}
