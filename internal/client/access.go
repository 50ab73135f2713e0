package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// CheckComputers says in the plan of a new computer or fleet whether the service refuses the provider. The creation needs
// the same listing, so the check adds no request.
func (c *Client) CheckComputers(ctx context.Context, account string) error {
	purpose := "computers"
	if account != "" {
		purpose = "computers of service accounts"
	}
	return c.checkOnce(purpose, func() error { _, err := c.computers.known(ctx, account, "", c.lastHeard()); return err })
}

// CheckServiceAccounts is CheckComputers for a service account.
func (c *Client) CheckServiceAccounts(ctx context.Context) error {
	return c.checkOnce("service accounts", func() error { _, err := c.accounts.known(ctx, organization, "", c.lastHeard()); return err })
}

// CheckAPIKeys is CheckComputers for an API key.
func (c *Client) CheckAPIKeys(ctx context.Context, account string) error {
	return c.checkOnce("API keys", func() error { _, err := c.apiKeys.known(ctx, account, "", c.lastHeard()); return err })
}

// CheckEnvironments is CheckComputers for an environment.
func (c *Client) CheckEnvironments(ctx context.Context) error {
	return c.checkOnce("environments", func() error { _, err := c.environments.known(ctx, organization, "", c.lastHeard()); return err })
}

// CheckAccess is CheckComputers for an object whose creation lists nothing.
func (c *Client) CheckAccess(ctx context.Context) error {
	return c.checkOnce("providers", func() error { _, err := c.ComputerProviders(ctx); return err })
}

// checkOnce sends one request per process and purpose, which later callers wait for. Only errors that every later request would get too are returned, and only to the first caller.
func (c *Client) checkOnce(purpose string, send func() error) (err error) {
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
