package serviceaccount

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure  = (*apiKeyRevokeAction)(nil)
	_ action.ActionWithModifyPlan = (*apiKeyRevokeAction)(nil)
)

// NewAPIKeyRevokeAction returns the action agentyard_api_key_revoke.
func NewAPIKeyRevokeAction() action.Action {
	return &apiKeyRevokeAction{crud.Action{Name: "api_key_revoke"}}
}

type apiKeyRevokeAction struct{ crud.Action }

type apiKeyRevokeModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	KeyID            types.String `tfsdk:"key_id"`
}

func (a *apiKeyRevokeAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Revokes an API key of a service account immediately. Succeeds if the key is already revoked." + managersOnly + "\n\n" +
			"Terraform does not have to manage the key. If an `agentyard_api_key` resource manages it, the next apply replaces the key.",
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that owns the key.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"key_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the key. The action fails if the key does not exist.",
				Validators:          []validator.String{value.NotEmpty()},
			},
		},
	}
}

// ModifyPlan rejects null: the ID usually comes from a variable that is set only in an emergency.
func (a *apiKeyRevokeAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var m apiKeyRevokeModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	for name, id := range map[string]types.String{"service_account_id": m.ServiceAccountID, "key_id": m.KeyID} {
		if id.IsNull() {
			resp.Diagnostics.AddAttributeError(path.Root(name), "Missing ID", name+" is null. Nothing was revoked. If it comes from a variable, set it with -var NAME=ID.")
		}
	}
}

func (a *apiKeyRevokeAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "revoke", "API key", req, resp, func(m *apiKeyRevokeModel, tell crud.Tell) error {
		account, key := m.ServiceAccountID.ValueString(), m.KeyID.ValueString()
		err := a.Client.ServiceAccounts.RevokeKey(ctx, account, key)
		if err == nil {
			tell("Revoked API key %s of service account %s", key, account)
		}
		return err
	}, apierror.Advice{
		http.StatusNotFound: "The service account has no such API key, or the provider's API key cannot see it. Check service_account_id and key_id.",
	})
}
