package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
)

// serviceAccountsClient calls the operations on service accounts and their API keys.
type serviceAccountsClient struct {
	*conn

	accounts *shared[ServiceAccount]
	apiKeys  *shared[APIKey]
	// owned are the collections of objects that service accounts own.
	owned []ownedCollection
}

// ownedCollection holds objects that belong to service accounts.
type ownedCollection interface {
	begin(account string)
	forget(account string)
}

func newServiceAccounts(conn *conn) *serviceAccountsClient {
	c := &serviceAccountsClient{conn: conn}
	c.accounts = newShared(conn.Clock, 1, c.listServiceAccounts, (*ServiceAccount).identifier, func(a *ServiceAccount) []string { return []string{a.Name} })
	c.apiKeys = newShared(conn.Clock, 0, c.listAPIKeys, (*APIKey).identifier, func(k *APIKey) []string { return []string{k.Name} })
	c.Owns(c.apiKeys)
	return c
}

// Owns adds a collection that is empty for a new account and gone with a deleted one.
func (c *serviceAccountsClient) Owns(owned ownedCollection) { c.owned = append(c.owned, owned) }

// ServiceAccount is a non-human principal of the organization. Every operation on it needs the key of a human with
// the Manager role or higher.
type ServiceAccount struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Status is "active" for an account whose keys authenticate; its other values are open.
	Status string `json:"status"`
	// CreatedAt is zero where the service does not return it.
	CreatedAt Millis `json:"createdAt"`
}

// CreateServiceAccountRequest is the body of createServiceAccount. An empty description is not sent.
type CreateServiceAccountRequest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// UpdateServiceAccountRequest is the body of updateServiceAccount. Nil means "leave as it is"; an empty description clears it.
type UpdateServiceAccountRequest struct {
	Description *string `json:"description,omitempty"`
	Status      *string `json:"status,omitempty"`
}

func (a *ServiceAccount) identifier() string { return a.ID }

func (a *ServiceAccount) missing() string {
	if a.Name == "" {
		return "name"
	}
	return ""
}

// ServiceAccounts returns all accounts of the organization, ordered by name; many calls in a short time share one listing.
func (c *serviceAccountsClient) ServiceAccounts(ctx context.Context) ([]ServiceAccount, error) {
	all, err := c.accounts.all(ctx, organization)
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b ServiceAccount) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// ServiceAccountsNamed returns the accounts of a name, from the same listing.
func (c *serviceAccountsClient) ServiceAccountsNamed(ctx context.Context, name string) ([]ServiceAccount, error) {
	return c.accounts.find(ctx, organization, name)
}

// listServiceAccounts always asks the service.
func (c *serviceAccountsClient) listServiceAccounts(ctx context.Context, _ string) ([]ServiceAccount, error) {
	return callList[ServiceAccount](ctx, c.conn, request{op: operation{name: "listServiceAccounts", method: http.MethodGet, route: "/api/v0/service-accounts"}}, "serviceAccounts")
}

// ServiceAccount reads one account. Many reads in a short time share one listing. One that does not exist is a *GoneError.
func (c *serviceAccountsClient) ServiceAccount(ctx context.Context, id string) (*ServiceAccount, error) {
	return c.accounts.get(ctx, organization, id, func(ctx context.Context) (*ServiceAccount, error) { return c.serviceAccountAlone(ctx, id) })
}

func (c *serviceAccountsClient) serviceAccountAlone(ctx context.Context, id string) (*ServiceAccount, error) {
	return one[ServiceAccount](ctx, c.conn, request{
		op:   operation{name: "getServiceAccount", method: http.MethodGet, route: "/api/v0/service-accounts/{serviceAccountId}"},
		path: []string{id},
		noun: "serviceAccount",
	}, id)
}

// existing is what an error tells of an account that stands in the way.
func (a *ServiceAccount) existing() ExistsError {
	return ExistsError{Object: "service account", Name: a.Name, ID: a.ID, ImportID: a.ID, CreatedAt: a.CreatedAt.Time()}
}

// CreateServiceAccount makes an account and reconciles a lost answer; see creation. Whether names are unique is open,
// so an account of that name is an *ExistsError before anything is sent.
func (c *serviceAccountsClient) CreateServiceAccount(ctx context.Context, body CreateServiceAccountRequest) (*ServiceAccount, error) {
	made, err := create(ctx, c.conn, creation[ServiceAccount]{
		object:     "service account",
		name:       body.Name,
		collection: c.accounts,
		key:        organization,
		listedAs:   body.Name,
		send: func(ctx context.Context) (*ServiceAccount, error) {
			return one[ServiceAccount](ctx, c.conn, request{
				op:   operation{name: "createServiceAccount", method: http.MethodPost, route: "/api/v0/service-accounts"},
				body: body,
				noun: "serviceAccount",
			}, newObject)
		},
		nameOf:    func(a *ServiceAccount) string { return a.Name },
		createdAt: func(a *ServiceAccount) Millis { return a.CreatedAt },
		isWanted:  func(a *ServiceAccount) bool { return a.Name == body.Name && a.Description == body.Description },
		existing:  (*ServiceAccount).existing,
	})
	if err != nil {
		c.accounts.discard(organization)
		return nil, err
	}
	c.accounts.wrote(organization, made)
	for _, owned := range c.owned {
		owned.begin(made.ID)
	}
	return made, nil
}

// UpdateServiceAccount changes what is set in body.
func (c *serviceAccountsClient) UpdateServiceAccount(ctx context.Context, id string, body UpdateServiceAccountRequest) (*ServiceAccount, error) {
	updated, err := changed(ctx, c.conn, request{
		op:   operation{name: "updateServiceAccount", method: http.MethodPatch, route: "/api/v0/service-accounts/{serviceAccountId}"},
		path: []string{id},
		body: body,
		noun: "serviceAccount",
	}, id, func(ctx context.Context) (*ServiceAccount, error) { return c.serviceAccountAlone(ctx, id) }, body.matches)
	if err != nil {
		c.accounts.discard(organization)
		return nil, err
	}
	c.accounts.wrote(organization, updated)
	return updated, nil
}

func (b UpdateServiceAccountRequest) matches(a *ServiceAccount) bool {
	return (b.Description == nil || *b.Description == a.Description) && (b.Status == nil || *b.Status == a.Status)
}

// DeleteServiceAccount deletes an account softly: its computers are torn down and its keys stop authenticating. For one
// that is gone already the error is a *GoneError.
func (c *serviceAccountsClient) DeleteServiceAccount(ctx context.Context, id string) error {
	err := c.callNoAnswer(ctx, request{
		op:   operation{name: "deleteServiceAccount", method: http.MethodDelete, route: "/api/v0/service-accounts/{serviceAccountId}"},
		path: []string{id},
	})
	if IsNotFound(err) {
		err = c.accounts.confirmGone(ctx, organization, id, err)
	}
	for _, owned := range c.owned {
		owned.forget(id)
	}
	c.accounts.ended(organization, id, err)
	return err
}

// goneWithAccount turns a 404 that no listing of an account's objects proves into a *GoneError where the account is gone,
// which took them with it.
func (c *serviceAccountsClient) goneWithAccount(ctx context.Context, account string, err error) error {
	var unproven *UnprovenGoneError
	if account == "" || !errors.As(err, &unproven) || !IsNotFound(unproven.Listing) {
		return err
	}
	if gone := c.accounts.confirmGone(ctx, organization, account, unproven.Err); IsGone(gone) {
		return gone
	}
	return err
}

// CheckServiceAccounts is CheckComputers for a service account.
func (c *serviceAccountsClient) CheckServiceAccounts(ctx context.Context) error {
	return c.checkOnce("service accounts", func() error { _, err := c.accounts.known(ctx, organization, "", c.lastHeard()); return err })
}
