// Package client calls the Agentyard API. Its fields are the areas of the API; it knows nothing of Terraform's types.
package client

import "github.com/agentyard/terraform-provider-agentyard/internal/clock"

// Client calls the service. It is safe for concurrent use.
type Client struct {
	*conn
	*computersClient
	*serviceAccountsClient
	*environmentsClient
	*sessionsClient
	*organizationClient
	*analyticsClient
	*wikiClient
	*ciClient
}

// New returns a client, or a *ConfigError that names the setting at fault.
func New(cfg Config) (*Client, error) {
	c, err := newConn(cfg)
	if err != nil {
		return nil, err
	}
	return newClient(c), nil
}

// Unconfigured returns a client whose every call fails with an *UnconfiguredError.
func Unconfigured(setting string, clk clock.Clock) *Client {
	return newClient(newUnconfigured(setting, clk))
}

func newClient(c *conn) *Client {
	accounts := newServiceAccounts(c)
	return &Client{
		conn:                  c,
		computersClient:       newComputers(c, accounts),
		serviceAccountsClient: accounts,
		environmentsClient:    newEnvironments(c),
		sessionsClient:        newSessions(c),
		organizationClient:    newOrganization(c),
		analyticsClient:       newAnalytics(c),
		wikiClient:            newWiki(c),
		ciClient:              newCI(c),
	}
}
