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

var _ datasource.DataSourceWithConfigure = (*membersDataSource)(nil)

// NewMembersDataSource returns the data source agentyard_members.
func NewMembersDataSource() datasource.DataSource { return &membersDataSource{} }

type membersDataSource struct{ crud.DataSourceBase }

type membersModel struct {
	MaxResults types.Int64   `tfsdk:"max_results"`
	Members    []memberModel `tfsdk:"members"`
}

// FromAPI takes over the listing.
func (m *membersModel) FromAPI(ctx context.Context, found *[]client.Member) (diags diag.Diagnostics) {
	m.Members, diags = crud.Each[memberModel](ctx, *found)
	return diags
}

func (d *membersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_members"
}

func (d *membersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The members of the organization. An invitation that is pending is no member yet." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"max_results": results.MaxResults("How many members are read at most, the oldest ones, 1 or more. All members if omitted."),
			"members": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The members, those who joined first at the top; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: memberResults.DataSource()},
			},
		},
	}
}

func (d *membersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "members", req, resp, func(m *membersModel) (*[]client.Member, error) {
		found, err := d.Client.Members(ctx, int(m.MaxResults.ValueInt64()))
		return &found, err
	}, needsManager)
}
