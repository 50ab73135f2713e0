package serviceaccount

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ list.ListResourceWithConfigure = (*apiKeyList)(nil)

// NewAPIKeyList returns the list resource agentyard_api_key.
func NewAPIKeyList() list.ListResource { return &apiKeyList{crud.Resource{Name: "api_key"}} }

type apiKeyList struct{ crud.Resource }

type apiKeyListConfig struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeRevoked   types.Bool   `tfsdk:"include_revoked"`
}

func (l *apiKeyList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the API keys of one or all service accounts, newest first within each account." + managersOnly + "\n\n" +
			"The list does not include the keys' values: an imported key has a null `key` until it is rotated. " +
			"Expired keys are included, and a plan warns about them after the import. To replace one, set a later `expires_at` or use `expires_in`.",
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Return only the keys of this service account. If omitted, returns the keys of all accounts.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"include_revoked": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether to include revoked keys. Defaults to `false`. After the import of a revoked key, the next apply replaces it.",
			},
		},
	}
}

func (l *apiKeyList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var config apiKeyListConfig
	if diags := req.Config.Get(ctx, &config); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	accounts := crud.AtOnce(func() ([]serviceaccounts.Account, error) { return l.Client.ServiceAccounts.List(ctx) })
	if id := config.ServiceAccountID.ValueString(); id != "" {
		accounts = crud.AtOnce(func() ([]serviceaccounts.Account, error) {
			account, err := l.Client.ServiceAccounts.Get(ctx, id)
			if collection.IsGone(err) {
				err = noSuchAccount("service_account_id", id)
			}
			if err != nil {
				return nil, err
			}
			return []serviceaccounts.Account{*account}, nil
		})
	}
	// A key does not contain its account's name.
	names := map[string]string{}
	displayName := func(k *serviceaccounts.APIKey) string { return names[k.AccountID] + "/" + k.Name }
	crud.List[apiKeyModel](ctx, "API keys", req, stream, l.keys(ctx, accounts, names, config.IncludeRevoked.ValueBool()), displayName)
}

// keys is lazy: Terraform may need the keys of the first accounts only.
func (l *apiKeyList) keys(ctx context.Context, accounts iter.Seq2[serviceaccounts.Account, error], names map[string]string, includeRevoked bool) iter.Seq2[serviceaccounts.APIKey, error] {
	return func(yield func(serviceaccounts.APIKey, error) bool) {
		for account, err := range accounts {
			var keys []serviceaccounts.APIKey
			if err == nil {
				keys, err = l.Client.ServiceAccounts.ListKeys(ctx, account.ID)
				if collection.IsGone(err) {
					continue // The account was deleted in the meantime.
				}
			}
			if err != nil {
				yield(serviceaccounts.APIKey{}, err)
				return
			}
			names[account.ID] = account.Name
			sortNewestFirst(keys)
			for _, key := range keys {
				if key.IsRevoked && !includeRevoked {
					continue
				}
				if !yield(key, nil) {
					return
				}
			}
		}
	}
}
