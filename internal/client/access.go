package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// CheckAccess is CheckComputers for an object whose creation lists nothing.
func (c *conn) CheckAccess(ctx context.Context) error {
	return c.checkOnce("providers", func() error { _, err := call[struct{}](ctx, c, request{op: opListProviders}); return err })
}

// checkOnce sends one request per process and purpose, which later callers wait for. Only errors that every later request would get too are returned, and only to the first caller.
func (c *conn) checkOnce(purpose string, send func() error) (err error) {
	if c.unconfigured != nil {
		return nil
	}
	once, _ := c.checked.LoadOrStore(purpose, &sync.Once{})
	once.(*sync.Once).Do(func() { err = send() })
	var transport *TransportError
	switch status := StatusOf(err); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, IsForeign(err), errors.As(err, &transport):
		return err
	}
	return nil
}

// opListProviders is the cheapest request that needs an API key.
var opListProviders = operation{name: "listComputerProviders", method: http.MethodGet, route: "/api/v0/computers/providers"}
