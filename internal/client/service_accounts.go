package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
)

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

// accountListing reads a listing of accounts. Its envelope is not shown by the API, so a bare list is understood too.
type accountListing []ServiceAccount

// UnmarshalJSON refuses an object that holds something else: taken for an empty listing, it would hide every account.
func (l *accountListing) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*[]ServiceAccount)(l))
	}
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(data, &envelope); err != nil {
		return err
	}
	list, ok := envelope["serviceAccounts"]
	if !ok {
		if len(envelope) > 0 {
			return errors.New("it has no serviceAccounts")
		}
		return nil
	}
	return json.Unmarshal(list, (*[]ServiceAccount)(l))
}

// ServiceAccounts returns all accounts of the organization, ordered by name; many calls in a short time share one listing.
func (c *Client) ServiceAccounts(ctx context.Context) ([]ServiceAccount, error) {
	all, err := c.accounts.all(ctx, "")
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b ServiceAccount) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// listServiceAccounts always asks the service. The organization has one collection, so the key is not used.
func (c *Client) listServiceAccounts(ctx context.Context, _ string) ([]ServiceAccount, error) {
	listing, err := call[accountListing](ctx, c, request{op: operation{name: "listServiceAccounts", method: http.MethodGet, route: "/api/v0/service-accounts"}})
	if err != nil {
		return nil, err
	}
	return *listing, nil
}

// ServiceAccount reads one account. Many reads in a short time share one listing.
func (c *Client) ServiceAccount(ctx context.Context, id string) (*ServiceAccount, error) {
	return c.accounts.get(ctx, "", id, func(ctx context.Context) (*ServiceAccount, error) {
		return call[ServiceAccount](ctx, c, request{
			op:   operation{name: "getServiceAccount", method: http.MethodGet, route: "/api/v0/service-accounts/{serviceAccountId}"},
			path: []string{id},
			noun: "serviceAccount",
		})
	})
}

// CreateServiceAccount makes an account and reconciles a lost answer; see creation. Whether names are unique is open,
// so an account of that name is an *ExistsError before anything is sent.
func (c *Client) CreateServiceAccount(ctx context.Context, body CreateServiceAccountRequest) (*ServiceAccount, error) {
	defer c.accounts.discard()
	return create(ctx, c, creation[ServiceAccount]{
		object: "service account",
		name:   body.Name,
		find: func(ctx context.Context) ([]ServiceAccount, error) {
			all, err := c.listServiceAccounts(ctx, "")
			return slices.DeleteFunc(all, func(a ServiceAccount) bool { return a.Name != body.Name }), err
		},
		send: func(ctx context.Context) (*ServiceAccount, error) {
			return call[ServiceAccount](ctx, c, request{
				op:   operation{name: "createServiceAccount", method: http.MethodPost, route: "/api/v0/service-accounts"},
				body: body,
				noun: "serviceAccount",
			})
		},
		describe: func(found *ServiceAccount) ExistsError {
			return ExistsError{ID: found.ID, ImportID: found.ID, CreatedAt: found.CreatedAt.Time()}
		},
	})
}

// UpdateServiceAccount changes what is set in body.
func (c *Client) UpdateServiceAccount(ctx context.Context, id string, body UpdateServiceAccountRequest) (*ServiceAccount, error) {
	defer c.accounts.discard()
	return call[ServiceAccount](ctx, c, request{
		op:   operation{name: "updateServiceAccount", method: http.MethodPatch, route: "/api/v0/service-accounts/{serviceAccountId}"},
		path: []string{id},
		body: body,
		noun: "serviceAccount",
	})
}

// DeleteServiceAccount deletes an account softly: its computers are torn down and its keys stop authenticating.
func (c *Client) DeleteServiceAccount(ctx context.Context, id string) error {
	defer func() {
		c.accounts.discard()
		c.computers.discard()
		c.apiKeys.discard()
	}()
	return c.callNoAnswer(ctx, request{
		op:   operation{name: "deleteServiceAccount", method: http.MethodDelete, route: "/api/v0/service-accounts/{serviceAccountId}"},
		path: []string{id},
	})
}
