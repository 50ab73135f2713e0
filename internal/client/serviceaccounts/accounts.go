// Package serviceaccounts calls the operations on service accounts and their API keys.
package serviceaccounts

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on service accounts and their API keys.
type Client struct {
	conn *transport.Conn

	accounts *create.Ledger[Account]
	keys     *create.Ledger[APIKey]
}

// New returns a client for service accounts and their API keys.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn}
	c.accounts = create.NewLedger(conn, c.list)
	c.keys = create.NewLedger(conn, c.listKeys)
	return c
}

// Account is a service account of the organization. Every operation on it requires the key of a member with the Manager
// role or higher.
type Account struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Status is "active" if the account's keys authenticate. Its other values are not documented.
	Status string `json:"status"`
	// CreatedAt is zero if the service does not return it.
	CreatedAt wire.Millis `json:"createdAt"`
}

// CreateRequest is the body of createServiceAccount. An empty description is not sent.
type CreateRequest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// UpdateRequest is the body of updateServiceAccount. Nil means "keep"; an empty description clears it.
type UpdateRequest struct {
	Description *string `json:"description,omitempty"`
	Status      *string `json:"status,omitempty"`
}

func (a *Account) Ref() wire.Ref {
	return wire.Ref{Object: "service account", Name: a.Name, ID: a.ID, CreatedAt: a.CreatedAt.Time()}
}

func (a *Account) MissingField() string { return wire.MissingIf(a.Name == "", "name") }

// List returns all accounts of the organization, ordered by name. Calls in a short time share one listing.
func (c *Client) List(ctx context.Context) ([]Account, error) {
	all, err := c.accounts.All(ctx, collection.Organization)
	wire.SortByName(all)
	return all, err
}

func (c *Client) list(ctx context.Context, _ string) ([]Account, error) {
	r := transport.Get("listServiceAccounts", "/api/v0/service-accounts")
	return transport.CallList[Account](ctx, c.conn, r, "serviceAccounts", nil)
}

// Get reads one account. Reads in a short time share one listing. If the account does not exist, the error is a *MissingError.
func (c *Client) Get(ctx context.Context, id string) (*Account, error) {
	return c.accounts.Get(ctx, collection.Organization, id, c.getUncached)
}

func (c *Client) getUncached(ctx context.Context, id string) (*Account, error) {
	r := transport.Get("getServiceAccount", "/api/v0/service-accounts/{serviceAccountId}", id)
	return transport.CallObject[Account](ctx, c.conn, r, "serviceAccount", id)
}

// Create creates an account, and finds it after a lost response; see create.Named. The API does not say whether names are
// unique, so if an account with the name exists, nothing is sent and the error is an *ExistsError.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Account, error) {
	return create.Named(ctx, c.accounts, create.NamedObject[Account]{
		Name: body.Name,
		Key:  collection.Organization,
		Send: func(ctx context.Context) (*Account, error) {
			r := transport.Post("createServiceAccount", "/api/v0/service-accounts").With(body)
			return transport.CallObject[Account](ctx, c.conn, r, "serviceAccount", wire.AnyID)
		},
		IsWanted:   func(a *Account) bool { return a.Description == body.Description },
		OnAnswered: func(a *Account) { c.keys.Begin(a.ID) },
	})
}

// Update changes the fields that are set in body.
func (c *Client) Update(ctx context.Context, id string, body UpdateRequest) (*Account, error) {
	r := transport.Patch("updateServiceAccount", "/api/v0/service-accounts/{serviceAccountId}", id).With(body)
	updated, err := transport.PatchObject(ctx, c.conn, r, "serviceAccount", id, c.getUncached)
	return c.accounts.AfterWrite(collection.Organization, updated, err)
}

// Delete soft-deletes an account: its computers are torn down, and its keys stop authenticating. If the account is already
// gone, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Delete("deleteServiceAccount", "/api/v0/service-accounts/{serviceAccountId}", id))
	return c.accounts.AfterDelete(collection.Organization, id, collection.Gone(err))
}

// GoneWithAccount turns the 404 for a list of what an account owns into a *MissingError if the account itself is gone: computers and keys
// must not leave the state because a key cannot list them.
func (c *Client) GoneWithAccount(ctx context.Context, account string, err error) error {
	if account != "" && transport.IsNotFound(err) {
		if _, accountErr := c.getUncached(ctx, account); transport.IsNotFound(accountErr) {
			return collection.Gone(accountErr)
		}
	}
	return err
}

// CheckAccess checks during a plan that the key, its role, and base_url can manage service accounts and their keys.
func (c *Client) CheckAccess(ctx context.Context) error {
	return c.accounts.CheckAccess(ctx, collection.Organization)
}
