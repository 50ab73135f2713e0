package serviceaccount

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type apiKeysModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	APIKeys          types.List   `tfsdk:"api_keys"`
}

// APIKeysDataSource is the data source agentyard_api_keys.
var APIKeysDataSource = crud.DataSource{
	Name:        "api_keys",
	Description: "Lists all API keys of a service account, including expired and revoked keys. The values of the keys are not available." + crud.ManagersOnly + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"service_account_id": crud.RequiredText("ID of the service account."),
		"api_keys":           apiKeyResults.DataSourceRows("The API keys, newest first."),
	},
	Verb: "list", Object: "API keys",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *apiKeysModel) error {
		found, err := c.ServiceAccounts.ListKeys(ctx, m.ServiceAccountID.ValueString())
		if collection.IsGone(err) {
			return crud.NoSuch("service_account_id", "service account", m.ServiceAccountID.ValueString())
		}
		wire.SortNewestFirst(found)
		m.APIKeys = results.RowsOf(apiKeyResults, found)
		return err
	}),
}

// apiKeyResults are the fields of an API key in list responses, which never contain its value.
var apiKeyResults = results.Fields[*serviceaccounts.APIKey]{
	"id":          results.String("The API key's ID.", func(k *serviceaccounts.APIKey) string { return k.ID }),
	"name":        results.String("The API key's name.", func(k *serviceaccounts.APIKey) string { return k.Name }),
	"fingerprint": results.String("Identifies the key's value without revealing it.", func(k *serviceaccounts.APIKey) string { return k.Fingerprint }),
	"created_at":  results.Time("When the key was created (RFC 3339, UTC).", func(k *serviceaccounts.APIKey) time.Time { return k.CreatedAt.Time() }),
	"is_revoked":  results.Bool("Whether the key was revoked. Expired keys are not revoked, but do not work either.", func(k *serviceaccounts.APIKey) *bool { return &k.IsRevoked }),
	"expires_at":  results.Time("When the key expires (RFC 3339, UTC). Null if never.", func(k *serviceaccounts.APIKey) time.Time { return k.ExpiresAt.Time() }),
	"revoked_at":  results.Time("When the key was revoked (RFC 3339, UTC). Null if it is not revoked.", func(k *serviceaccounts.APIKey) time.Time { return k.RevokedAt.Time() }),
}
