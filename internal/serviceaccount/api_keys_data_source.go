package serviceaccount

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*apiKeysDataSource)(nil)

// NewAPIKeysDataSource returns the data source agentyard_api_keys.
func NewAPIKeysDataSource() datasource.DataSource { return &apiKeysDataSource{} }

type apiKeysDataSource struct{ crud.DataSourceBase }

type apiKeysModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	APIKeys          []apiKeyItem `tfsdk:"api_keys"`
}

// apiKeyItem is a key as listings show it. They never show its value: the service does that once, to who minted the key.
type apiKeyItem struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	Fingerprint types.String `tfsdk:"fingerprint"`
	CreatedAt   types.String `tfsdk:"created_at"`
	IsRevoked   types.Bool   `tfsdk:"is_revoked"`
	ExpiresAt   types.String `tfsdk:"expires_at"`
	RevokedAt   types.String `tfsdk:"revoked_at"`
}

var apiKeyResults = results.Plain{
	"id":          {Text: "The API key's ID."},
	"name":        {Text: "The API key's name."},
	"fingerprint": {Text: "Identifies the key's value without showing it."},
	"created_at":  {Text: "When the key was minted (RFC 3339, UTC)."},
	"is_revoked":  {Text: "Whether the key was revoked. A key that has expired is dead too, without being revoked.", Type: types.BoolType},
	"expires_at":  {Text: "When the key stops authenticating (RFC 3339, UTC); null if never."},
	"revoked_at":  {Text: "When the key was revoked (RFC 3339, UTC); null if it is not."},
}

// FromAPI takes over the listing, newest first.
func (m *apiKeysModel) FromAPI(ctx context.Context, keys *[]client.APIKey) (diags diag.Diagnostics) {
	sortNewestFirst(*keys)
	m.APIKeys, diags = crud.Each[apiKeyItem](ctx, *keys)
	return diags
}

// FromAPI takes over a record.
func (m *apiKeyItem) FromAPI(_ context.Context, k *client.APIKey) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(k.ID), types.StringValue(k.Name)
	m.Fingerprint = value.StringOrNull(k.Fingerprint)
	m.CreatedAt = value.Time(k.CreatedAt.Time())
	m.IsRevoked = types.BoolValue(k.IsRevoked)
	m.ExpiresAt = value.Time(k.ExpiresAt.Time())
	m.RevokedAt = value.Time(k.RevokedAt.Time())
	return nil
}

func (d *apiKeysDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_api_keys"
}

func (d *apiKeysDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "All API keys of a service account, live and dead ones. The value of a key is never among the results: the service shows it once, when the key is minted or rotated." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"api_keys": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The API keys, newest first; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: apiKeyResults.DataSource()},
			},
		},
	}
}

func (d *apiKeysDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "API keys", req, resp, func(m *apiKeysModel) (*[]client.APIKey, error) {
		found, err := d.Client.APIKeys(ctx, m.ServiceAccountID.ValueString())
		if client.IsGone(err) {
			err = noSuchAccount("service_account_id", m.ServiceAccountID.ValueString())
		}
		return &found, err
	})
}

// sortNewestFirst orders keys, for the API leaves their order open, and a changing order would show up as a change.
func sortNewestFirst(keys []client.APIKey) {
	slices.SortFunc(keys, func(a, b client.APIKey) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}
