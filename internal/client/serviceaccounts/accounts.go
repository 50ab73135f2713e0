// Package serviceaccounts calls the operations on service accounts and their API keys.
package serviceaccounts

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Client calls the operations on service accounts and their API keys.
type Client struct {
	conn *transport.Conn

	accounts *collection.Shared[Account]
	keys     *collection.Shared[APIKey]
	// owned are the collections of objects that service accounts own.
	owned []ownedCollection
}

// ownedCollection holds objects that belong to service accounts.
type ownedCollection interface {
	StartEmpty(account string)
	Forget(account string)
}

// New returns the calls on service accounts and their API keys.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn}
	c.accounts = collection.NewShared(conn.Clock, 1, c.list, (*Account).Identifier, func(a *Account) []string { return []string{a.Name} })
	c.keys = collection.NewShared(conn.Clock, 0, c.listKeys, (*APIKey).Identifier, func(k *APIKey) []string { return []string{k.Name} })
	c.Owns(c.keys)
	return c
}

// Owns adds a collection that is empty for a new account and gone with a deleted one.
func (c *Client) Owns(owned ownedCollection) { c.owned = append(c.owned, owned) }

// Account is a non-human principal of the organization. Every operation on it needs the key of a human with
// the Manager role or higher.
type Account struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Status is "active" for an account whose keys authenticate; its other values are open.
	Status string `json:"status"`
	// CreatedAt is zero where the service does not return it.
	CreatedAt transport.Millis `json:"createdAt"`
}

// CreateRequest is the body of createServiceAccount. An empty description is not sent.
type CreateRequest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// UpdateRequest is the body of updateServiceAccount. Nil means "leave as it is"; an empty description clears it.
type UpdateRequest struct {
	Description *string `json:"description,omitempty"`
	Status      *string `json:"status,omitempty"`
}

func (a *Account) Identifier() string { return a.ID }

func (a *Account) MissingField() string {
	if a.Name == "" {
		return "name"
	}
	return ""
}

// List returns all accounts of the organization, ordered by name; many calls in a short time share one listing.
func (c *Client) List(ctx context.Context) ([]Account, error) {
	all, err := c.accounts.All(ctx, collection.Organization)
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b Account) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// ListNamed returns the accounts of a name, from the same listing.
func (c *Client) ListNamed(ctx context.Context, name string) ([]Account, error) {
	return c.accounts.Find(ctx, collection.Organization, name)
}

// list always asks the service.
func (c *Client) list(ctx context.Context, _ string) ([]Account, error) {
	return transport.CallList[Account](ctx, c.conn, transport.Request{Op: transport.Operation{Name: "listServiceAccounts", Method: http.MethodGet, Route: "/api/v0/service-accounts"}}, "serviceAccounts")
}

// Get reads one account. Many reads in a short time share one listing. One that does not exist is a *GoneError.
func (c *Client) Get(ctx context.Context, id string) (*Account, error) {
	return c.accounts.Get(ctx, collection.Organization, id, func(ctx context.Context) (*Account, error) { return c.getUncached(ctx, id) })
}

func (c *Client) getUncached(ctx context.Context, id string) (*Account, error) {
	return transport.CallObject[Account](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "getServiceAccount", Method: http.MethodGet, Route: "/api/v0/service-accounts/{serviceAccountId}"},
		Path: []string{id},
		Noun: "serviceAccount",
	}, id)
}

// existing is what an error tells of an account that stands in the way.
func (a *Account) existing() create.ExistsError {
	return create.ExistsError{Object: "service account", Name: a.Name, ID: a.ID, ImportID: a.ID, CreatedAt: a.CreatedAt.Time()}
}

// Create makes an account and reconciles a lost answer; see creation. Whether names are unique is open,
// so an account of that name is an *ExistsError before anything is sent.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Account, error) {
	made, err := create.Named(ctx, c.conn, create.NamedObject[Account]{
		Object:     "service account",
		Name:       body.Name,
		Collection: c.accounts,
		Key:        collection.Organization,
		ListedAs:   body.Name,
		Send: func(ctx context.Context) (*Account, error) {
			return transport.CallObject[Account](ctx, c.conn, transport.Request{
				Op:   transport.Operation{Name: "createServiceAccount", Method: http.MethodPost, Route: "/api/v0/service-accounts"},
				Body: body,
				Noun: "serviceAccount",
			}, transport.NewObject)
		},
		NameOf:    func(a *Account) string { return a.Name },
		CreatedAt: func(a *Account) transport.Millis { return a.CreatedAt },
		IsWanted:  func(a *Account) bool { return a.Name == body.Name && a.Description == body.Description },
		Describe:  (*Account).existing,
	})
	if err != nil {
		c.accounts.Invalidate(collection.Organization)
		return nil, err
	}
	c.accounts.Put(collection.Organization, made)
	for _, owned := range c.owned {
		owned.StartEmpty(made.ID)
	}
	return made, nil
}

// Update changes what is set in body.
func (c *Client) Update(ctx context.Context, id string, body UpdateRequest) (*Account, error) {
	updated, err := transport.PatchObject(ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "updateServiceAccount", Method: http.MethodPatch, Route: "/api/v0/service-accounts/{serviceAccountId}"},
		Path: []string{id},
		Body: body,
		Noun: "serviceAccount",
	}, id, func(ctx context.Context) (*Account, error) { return c.getUncached(ctx, id) }, body.matches)
	if err != nil {
		c.accounts.Invalidate(collection.Organization)
		return nil, err
	}
	c.accounts.Put(collection.Organization, updated)
	return updated, nil
}

func (b UpdateRequest) matches(a *Account) bool {
	return (b.Description == nil || *b.Description == a.Description) && (b.Status == nil || *b.Status == a.Status)
}

// Delete deletes an account softly: its computers are torn down and its keys stop authenticating. For one
// that is gone already the error is a *GoneError.
func (c *Client) Delete(ctx context.Context, id string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Request{
		Op:   transport.Operation{Name: "deleteServiceAccount", Method: http.MethodDelete, Route: "/api/v0/service-accounts/{serviceAccountId}"},
		Path: []string{id},
	})
	if transport.IsNotFound(err) {
		err = c.accounts.ConfirmGone(ctx, collection.Organization, id, err)
	}
	for _, owned := range c.owned {
		owned.Forget(id)
	}
	c.accounts.AfterDelete(collection.Organization, id, err)
	return err
}

// GoneWithAccount turns a 404 that no listing of an account's objects proves into a *GoneError where the account is gone,
// which took them with it.
func (c *Client) GoneWithAccount(ctx context.Context, account string, err error) error {
	var unproven *collection.UnprovenGoneError
	if account == "" || !errors.As(err, &unproven) || !transport.IsNotFound(unproven.Listing) {
		return err
	}
	if gone := c.accounts.ConfirmGone(ctx, collection.Organization, account, unproven.Err); collection.IsGone(gone) {
		return gone
	}
	return err
}

// CheckAccess is CheckAccess for a service account.
func (c *Client) CheckAccess(ctx context.Context) error {
	return c.conn.CheckOnce("service accounts", func() error {
		_, err := c.accounts.Snapshot(ctx, collection.Organization, "", c.conn.LastResponseAt())
		return err
	})
}
