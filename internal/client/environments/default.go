package environments

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Default returns the ID of the organization's default environment, or empty, from the listing that List and Get share. An empty account
// is the API key's owner.
func (c *Client) Default(ctx context.Context, account string) (string, error) {
	all, err := c.ledger.All(ctx, account)
	switch {
	case err != nil:
		return "", err
	case len(all) > 0:
		return all[0].organizationDefault, nil
	}
	_, id, err := c.listWithDefault(ctx, account) // A default may exist beside an empty listing, which cannot keep it.
	return id, err
}

// DefaultUncached is Default with its own listing.
func (c *Client) DefaultUncached(ctx context.Context) (string, error) {
	_, id, err := c.listWithDefault(ctx, collection.Organization)
	return id, err
}

// SetDefault makes an environment the organization's default.
func (c *Client) SetDefault(ctx context.Context, id string) error {
	defer c.ledger.InvalidateAll()
	r := transport.Put("setDefaultEnvironment", "/api/v0/environments/default").With(map[string]string{"environmentId": id})
	response, err := c.conn.Exchange(ctx, r, transport.EmptyOrJSON)
	var said struct {
		ID wire.Nullable[string] `json:"defaultEnvironmentId"`
	}
	if err == nil && json.Unmarshal(response.Body, &said) == nil && said.ID.Denies(&id) && !strings.EqualFold(wire.Shown(said.ID.Value), wire.Shown(&id)) {
		return r.Denied("defaultEnvironmentId", wire.Shown(said.ID.Value), wire.Shown(&id))
	}
	return err
}

// ProvisionDefault creates a default environment if the organization has none, and returns its ID. It reads the ID even if the run
// is stopping.
func (c *Client) ProvisionDefault(ctx context.Context) (string, error) {
	r := transport.Post("provisionDefaultEnvironment", "/api/v0/environments/default").Repeatable()
	err := c.conn.CallIgnoringBody(ctx, r)
	c.ledger.InvalidateAll()
	if err != nil && !transport.IsAmbiguous(err) {
		return "", err
	}
	ctx, cancel := transport.PastCancel(ctx)
	defer cancel()
	id, readErr := c.DefaultUncached(ctx)
	switch {
	case id != "":
		return id, nil
	case err == nil && readErr == nil:
		return "", r.Unexpected("the service lists no default environment afterward. Apply again: it does not create a second one")
	}
	return "", cmp.Or(err, readErr)
}

// SourceOptions are the sources for environments, by provider.
type SourceOptions struct {
	Providers            []SourceProviderOptions `json:"providers"`
	UnavailableProviders []SourceProvider        `json:"unavailableProviders"`
}

// SourceProviderOptions are the sources of one provider.
type SourceProviderOptions struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Sources []SourceOption `json:"sources"`
}

// SourceOption is a source from which an environment can be built. What it supports is never nil.
type SourceOption struct {
	ID                   string `json:"id"`
	Name                 string `json:"name"`
	SupportsRepositories *bool  `json:"supportsRepositories"`
	SupportsSetupScripts *bool  `json:"supportsSetupScripts"`
}

// missingField returns the first field without which the options would say something wrong; empty if they are complete.
func (o *SourceOptions) missingField() string {
	if o.Providers == nil {
		return "providers" // As an empty list, it would make every source look unknown.
	}
	for _, p := range o.Providers {
		for _, s := range p.Sources {
			missing := cmp.Or(wire.MissingIf(s.ID == "", "id"), wire.MissingIf(s.SupportsRepositories == nil, "supportsRepositories"),
				wire.MissingIf(s.SupportsSetupScripts == nil, "supportsSetupScripts"))
			if missing != "" {
				return "providers.sources." + missing
			}
		}
	}
	return ""
}

// SourceOptions returns the sources for environments. All calls in a process share one response.
func (c *Client) SourceOptions(ctx context.Context) (*SourceOptions, error) {
	return c.sources.Get(ctx, collection.Organization, c.readSourceOptions)
}

func (c *Client) readSourceOptions(ctx context.Context) (*SourceOptions, error) {
	r := transport.Get("getEnvironmentSourceOptions", "/api/v0/environments/source-options")
	found, err := transport.Call[SourceOptions](ctx, c.conn, r)
	if err != nil {
		return nil, err
	}
	if missing := found.missingField(); missing != "" {
		return nil, r.Unexpected("the field " + missing + " is missing")
	}
	wire.Sort(found.Providers, func(a, b *SourceProviderOptions) int { return cmp.Compare(a.ID, b.ID) })
	wire.Sort(found.UnavailableProviders, func(a, b *SourceProvider) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range found.Providers {
		wire.Sort(p.Sources, func(a, b *SourceOption) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	}
	return found, nil
}
