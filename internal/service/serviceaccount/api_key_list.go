package serviceaccount

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

type apiKeyListConfig struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeRevoked   types.Bool   `tfsdk:"include_revoked"`
}

// APIKeyList is the list resource agentyard_api_key.
var APIKeyList = crud.ListResource{
	Name: "api_key",
	Description: "Lists the API keys of one or all service accounts, newest first within each account." + crud.ManagersOnly + "\n\n" +
		"**Values.** The list does not include the keys' values: an imported key has a null `key` until it is rotated. " +
		"Expired keys are included, and a plan warns about them after the import. To replace one, set a later `expires_at` or use `expires_in`." + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"service_account_id": crud.OptionalText("Return only the keys of this service account. If omitted, returns the keys of all accounts."),
		"include_revoked": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to include revoked keys. Defaults to `false`. After the import of a revoked key, the next apply replaces it.",
		},
	},
	Results: listKeys,
}

func listKeys(ctx context.Context, c *client.Client, req list.ListRequest, stream *list.ListResultsStream) {
	var config apiKeyListConfig
	if diags := req.Config.Get(ctx, &config); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	// A key does not contain its account's name.
	names := map[string]string{}
	displayName := func(k *serviceaccounts.APIKey) string { return names[k.AccountID] + "/" + k.Name }
	crud.List[apiKeyModel](ctx, "API keys", req, stream, config.keys(ctx, c, names), displayName)
}

// accounts returns the configured account, or all accounts.
func (config *apiKeyListConfig) accounts(ctx context.Context, c *client.Client) ([]serviceaccounts.Account, error) {
	id := config.ServiceAccountID.ValueString()
	if id == "" {
		return c.ServiceAccounts.List(ctx)
	}
	account, err := c.ServiceAccounts.Get(ctx, id)
	if collection.IsGone(err) {
		err = crud.NoSuch("service_account_id", "service account", id)
	}
	if err != nil {
		return nil, err
	}
	return []serviceaccounts.Account{*account}, nil
}

// keys is lazy: Terraform may need the keys of the first accounts only.
func (config *apiKeyListConfig) keys(ctx context.Context, c *client.Client, names map[string]string) iter.Seq2[serviceaccounts.APIKey, error] {
	return func(yield func(serviceaccounts.APIKey, error) bool) {
		accounts, err := config.accounts(ctx, c)
		if err != nil {
			yield(serviceaccounts.APIKey{}, err)
			return
		}
		for _, account := range accounts {
			keys, err := config.keysOf(ctx, c, account.ID)
			if err != nil {
				yield(serviceaccounts.APIKey{}, err)
				return
			}
			names[account.ID] = account.Name
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
		}
	}
}

// keysOf returns the keys of an account to list, newest first.
func (config *apiKeyListConfig) keysOf(ctx context.Context, c *client.Client, account string) ([]serviceaccounts.APIKey, error) {
	keys, err := c.ServiceAccounts.ListKeys(ctx, account)
	if config.ServiceAccountID.IsNull() && collection.IsGone(err) {
		return nil, nil // The account was deleted in the meantime.
	}
	if err != nil {
		return nil, err
	}
	wire.SortNewestFirst(keys)
	now := c.Conn.ServiceNow(ctx)
	var listed []serviceaccounts.APIKey
	for i, key := range keys {
		isDead := key.IsRevoked || isReplaced(&key, keys[:i], now)
		if !isDead || config.IncludeRevoked.ValueBool() {
			listed = append(listed, key)
		}
	}
	return listed, nil
}

// isReplaced reports whether a key may be in its grace period after a rotation, which the service does not show: one of the newer keys has
// its name, and is not older than the longest grace period.
func isReplaced(key *serviceaccounts.APIKey, newer []serviceaccounts.APIKey, now time.Time) bool {
	return slices.ContainsFunc(newer, func(k serviceaccounts.APIKey) bool {
		return k.Name == key.Name && k.IsLive(now) && now.Sub(k.CreatedAt.Time()) < maxGraceMinutes*time.Minute
	})
}
