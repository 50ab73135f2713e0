// Package client calls the Agentyard API. Its fields are the areas of the API.
package client

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Client calls the service. It is safe for concurrent use.
type Client struct {
	// Conn is the connection that all areas share.
	Conn            *transport.Conn
	Computers       *computers.Client
	ServiceAccounts *serviceaccounts.Client
	Environments    *environments.Client
	Sessions        *sessions.Client
	Organization    *organization.Client
	Analytics       *analytics.Client
	Wikis           *wikis.Client
	CI              *ci.Client
}

// New returns a client, or a *transport.ConfigError that names the setting at fault.
func New(cfg transport.Config) (*Client, error) {
	conn, err := transport.New(cfg)
	if err != nil {
		return nil, err
	}
	return newClient(conn), nil
}

// Unconfigured returns a client whose every call fails with a *transport.UnconfiguredError.
func Unconfigured(setting string, clk clock.Clock) *Client {
	return newClient(transport.NewUnconfigured(setting, clk))
}

func newClient(conn *transport.Conn) *Client {
	accounts := serviceaccounts.New(conn)
	return &Client{
		Conn:            conn,
		Computers:       computers.New(conn, accounts),
		ServiceAccounts: accounts,
		Environments:    environments.New(conn),
		Sessions:        sessions.New(conn),
		Organization:    organization.New(conn),
		Analytics:       analytics.New(conn),
		Wikis:           wikis.New(conn),
		CI:              ci.New(conn),
	}
}
