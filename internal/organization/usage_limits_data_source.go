package organization

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
)

var _ datasource.DataSourceWithConfigure = (*usageLimitsDataSource)(nil)

// NewUsageLimitsDataSource returns the data source agentyard_usage_limits.
func NewUsageLimitsDataSource() datasource.DataSource { return &usageLimitsDataSource{} }

type usageLimitsDataSource struct{ crud.DataSourceBase }

type usageLimitsModel struct {
	GlobalLimit types.Int64       `tfsdk:"global_limit"`
	UserLimits  []userLimitRecord `tfsdk:"user_limits"`
}

type userLimitRecord struct {
	Email types.String `tfsdk:"email"`
	Limit types.Int64  `tfsdk:"limit"`
}

// FromAPI takes over one user's limit.
func (m *userLimitRecord) FromAPI(_ context.Context, l *client.UserUsageLimit) diag.Diagnostics {
	m.Email, m.Limit = types.StringValue(l.Email), types.Int64PointerValue(l.Limit)
	return nil
}

// FromAPI takes over all limits.
func (m *usageLimitsModel) FromAPI(ctx context.Context, found *client.UsageLimits) (diags diag.Diagnostics) {
	m.GlobalLimit = types.Int64PointerValue(found.Global)
	m.UserLimits, diags = crud.Each[userLimitRecord](ctx, found.Users)
	return diags
}

func (d *usageLimitsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_usage_limits"
}

func (d *usageLimitsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The credit limits of the organization: the global one, and those of single users." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"global_limit": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "The limit of every user without one of their own, in credits. Null if there is none.",
			},
			"user_limits": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The limits of single users, ordered by email address; empty if there are none.",
				NestedObject: schema.NestedAttributeObject{Attributes: results.Plain{
					"email": {Text: "Email address of the user, as the service spells it."},
					"limit": {Text: "The user's own limit, in credits. Null if they have none and the global limit applies.", Type: types.Int64Type},
				}.DataSource()},
			},
		},
	}
}

func (d *usageLimitsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "usage limits", req, resp, func(*usageLimitsModel) (*client.UsageLimits, error) {
		return d.Client.UsageLimits(ctx)
	}, limitOptions)
}
