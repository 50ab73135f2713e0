package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// CheckAccess checks the API key and base_url with the cheapest request, for objects whose creation lists nothing.
func (c *Conn) CheckAccess(ctx context.Context) error {
	return c.CheckOnce(ctx, "providers", func(ctx context.Context) error { _, err := c.Providers(ctx); return err })
}

// Providers is ListProviders with one request per process.
func (c *Conn) Providers(ctx context.Context) ([]string, error) {
	return c.providers.Get(ctx, "", c.ListProviders)
}

// Today returns the service's time when this process first asked for it, so that a run that passes midnight has one day. It does
// not depend on other requests. It is the local time if the response has no date.
func (c *Conn) Today(ctx context.Context) (time.Time, error) {
	return c.today.Get(ctx, "", func(ctx context.Context) (time.Time, error) {
		response, err := c.Exchange(ctx, Request{Op: opListProviders}, OnlyJSON)
		var refusal *APIError
		switch {
		case errors.As(err, &refusal) && refusal.FromService && refusal.Status < http.StatusInternalServerError && refusal.Status != http.StatusUnauthorized: // This key may still read something else.
			return cmp.Or(refusal.at, c.Clock.Now()).UTC(), nil
		case err != nil:
			return time.Time{}, err
		}
		return cmp.Or(response.At, c.Clock.Now()).UTC(), nil
	})
}

var opListProviders = Operation{Name: "listComputerProviders", Method: http.MethodGet, Route: "/api/v0/computers/providers"}

// ListProviders returns the managed providers that the organization may use. It is the cheapest request that needs an API key.
func (c *Conn) ListProviders(ctx context.Context) ([]string, error) {
	r := Request{Op: opListProviders}
	response, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	providers, err := wire.ReadList[string](response.Body, "providers")
	if err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	slices.Sort(providers) // The API does not define the order, and a changing order would show up as drift.
	return providers, nil
}

// CheckOnce calls send once per process and purpose; later callers wait for it. It returns only errors that every other
// request would get too, or *UncheckedError, and only to the first caller.
func (c *Conn) CheckOnce(ctx context.Context, purpose string, send func(context.Context) error) (err error) {
	if c.unconfigured != nil {
		return nil
	}
	first := make(chan error, 1)
	_, _ = c.checked.Get(ctx, purpose, func(ctx context.Context) (struct{}, error) {
		first <- send(ctx)
		return struct{}{}, nil
	})
	select {
	case err = <-first:
	default: // Another caller gets the error.
	}
	var api *APIError
	var transport *TransportError
	switch status := StatusOf(err); {
	case errors.As(err, &api) && (api.MayHaveActed() || status == http.StatusTooManyRequests):
		return &UncheckedError{err}
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden, IsForeign(err), errors.As(err, &transport):
		return err
	}
	return nil
}

// UncheckedError says that nothing was checked, because the service is down or too busy.
type UncheckedError struct{ Err error }

func (e *UncheckedError) Error() string { return e.Err.Error() }
func (e *UncheckedError) Unwrap() error { return e.Err }
