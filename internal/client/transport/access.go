package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// CheckAccess checks the API key and base_url with the cheapest request, for objects whose creation lists nothing.
func (c *Conn) CheckAccess(ctx context.Context) error {
	return c.CheckOnce(ctx, "providers", func(ctx context.Context) error { _, err := c.Providers(ctx); return err })
}

// Providers is ListProviders with one request per process, whose error stays too.
func (c *Conn) Providers(ctx context.Context) ([]string, error) {
	got, err := c.providers.Get(ctx, "", func(ctx context.Context) (providersResponse, error) {
		providers, err := c.ListProviders(ctx)
		return providersResponse{providers, err}, nil // The error stays too, because each creation asks.
	})
	return got.providers, cmp.Or(err, got.err)
}

type providersResponse struct {
	providers []string
	err       error
}

// ListProviders returns the managed providers that the organization may use. It is the cheapest request that needs an API key.
func (c *Conn) ListProviders(ctx context.Context) ([]string, error) {
	providers, err := CallItems[string](ctx, c, Get("listComputerProviders", "/api/v0/computers/providers"), "providers", nil)
	slices.Sort(providers)
	return providers, err
}

// LearnServiceTime makes sure that the service's time is known: the response to the cheapest request has it. If that fails, the
// caller's own request fails too, or its object is named in an error.
func (c *Conn) LearnServiceTime(ctx context.Context) {
	if c.ServiceTime().IsZero() {
		_, _ = c.Providers(ctx)
	}
}

// CheckBaseURL returns an error if base_url does not lead to the API, because of a wrong path, for example. The 404 of an object then says
// nothing about the object. It sends a request once per process.
func (c *Conn) CheckBaseURL(ctx context.Context) error {
	if _, err := c.Providers(ctx); StatusOf(err) == http.StatusNotFound {
		return fmt.Errorf("base_url does not lead to the API; check its path: %w", err)
	}
	return nil
}

// CheckOnce calls send for the first caller of each purpose in a process. It returns only errors that every other request would get
// too, so that one mistake is reported once.
func (c *Conn) CheckOnce(ctx context.Context, purpose string, send func(context.Context) error) error {
	if c.unconfigured != nil {
		return nil
	}
	if _, isChecked := c.checked.LoadOrStore(purpose, true); isChecked {
		return nil
	}
	err := send(ctx)
	var transport *TransportError
	switch status := StatusOf(err); {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden, IsForeign(err), errors.As(err, &transport):
		return err
	case status == http.StatusNotFound:
		return c.CheckBaseURL(ctx)
	}
	return nil
}
