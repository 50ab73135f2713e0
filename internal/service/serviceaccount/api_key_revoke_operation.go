package serviceaccount

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

type apiKeyRevokeModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	KeyID            types.String `tfsdk:"key_id"`
}

// APIKeyRevoke is agentyard_api_key_revoke.
var APIKeyRevoke = crud.Operation{
	Name: "api_key_revoke",
	Description: "Revokes an API key of a service account immediately. Succeeds if the key is already revoked." + crud.ManagersOnly + "\n\n" +
		"**Keys in a state.** Terraform does not have to manage the key. If an `agentyard_api_key` resource manages it, the next apply replaces the key.",
	Arguments: map[string]schema.Attribute{
		"service_account_id": crud.RequiredText("ID of the service account that owns the key."),
		"key_id":             crud.RequiredText("ID of the key. The key must exist."),
	},
	Run:  crud.Run(revokeKey),
	Verb: "revoke", Object: "API key",
	Options: apierror.Options{apierror.Advice{
		http.StatusNotFound: "The service account has no such API key, or the provider's API key cannot see it. Check service_account_id and key_id.",
	}},
}

func revokeKey(ctx context.Context, c *client.Client, m *apiKeyRevokeModel, call *crud.Call) (crud.Results, error) {
	account, key := m.ServiceAccountID.ValueString(), m.KeyID.ValueString()
	err := c.ServiceAccounts.RevokeKey(ctx, account, key)
	if err == nil {
		call.Report("Revoked API key %s of service account %s", key, account)
	}
	return nil, err
}
