package serviceaccount

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ list.ListResourceWithConfigure = (*apiKeyList)(nil)

// NewAPIKeyList returns the list resource agentyard_api_key.
func NewAPIKeyList() list.ListResource { return &apiKeyList{} }

type apiKeyList struct{ crud.Resource }

type apiKeyListConfig struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	IncludeRevoked   types.Bool   `tfsdk:"include_revoked"`
}

func (l *apiKeyList) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_key"
}

func (l *apiKeyList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the API keys of one service account or of all, account by account, newest first. The value of a key is never listed: an imported key has a null `key` until it is rotated. " +
			"A key that has expired is listed too. Generated configuration keeps its past `expires_at`, and a plan then only warns; set a later one, or `expires_in`, to have a new key minted." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only the keys of this service account. Null means those of every account.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"include_revoked": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether revoked keys are listed. Null means `false`. Once one is imported, the next plan mints a new key.",
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
			if transport.IsGone(err) {
				err = noSuchAccount("service_account_id", id)
			}
			if err != nil {
				return nil, err
			}
			return []serviceaccounts.Account{*account}, nil
		})
	}
	// The service does not repeat the account in a key, so its name is remembered from the listing of accounts.
	names := map[string]string{}
	displayName := func(k *serviceaccounts.APIKey) string { return names[k.AccountID] + "/" + k.Name }
	crud.List[apiKeyModel](ctx, "API keys", req, stream, l.keys(ctx, accounts, names, config.IncludeRevoked.ValueBool()), displayName)
}

// keys asks for the keys of an account only when those of the accounts before it are used up.
func (l *apiKeyList) keys(ctx context.Context, accounts iter.Seq2[serviceaccounts.Account, error], names map[string]string, includeRevoked bool) iter.Seq2[serviceaccounts.APIKey, error] {
	return func(yield func(serviceaccounts.APIKey, error) bool) {
		for account, err := range accounts {
			var keys []serviceaccounts.APIKey
			if err == nil {
				keys, err = l.Client.ServiceAccounts.ListKeys(ctx, account.ID)
				if transport.IsGone(err) {
					continue // The account vanished meanwhile, and its keys with it.
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
