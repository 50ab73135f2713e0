package session

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*sessionsDataSource)(nil)

// NewSessionsDataSource returns the data source agentyard_sessions.
func NewSessionsDataSource() datasource.DataSource { return &sessionsDataSource{} }

type sessionsDataSource struct{ crud.DataSourceBase }

type sessionsModel struct {
	ComputerID types.String        `tfsdk:"computer_id"`
	MaxResults types.Int64         `tfsdk:"max_results"`
	Sessions   []sessionDataRecord `tfsdk:"sessions"`
}

// FromAPI takes over the listing.
func (m *sessionsModel) FromAPI(ctx context.Context, found *[]sessions.Session) (diags diag.Diagnostics) {
	m.Sessions, diags = crud.Each[sessionDataRecord](ctx, *found)
	return diags
}

func (d *sessionsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sessions"
}

func (d *sessionsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The sessions of the API key's owner, wherever they run. " + sessionText + " A new session is listed some seconds after it was made, and a change of its title, its status or its messages shows as late; " +
			"the data source `agentyard_session` shows it as it is.",
		Attributes: map[string]schema.Attribute{
			"computer_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only the sessions on this computer. Null means those on every computer, and those on none.",
				Validators:          []validator.String{value.NotBlank("give the ID of a computer, or omit it")},
			},
			"max_results": results.MaxResults("How many sessions are read at most, the first ones of the service's order, 1 or more. All sessions if omitted."),
			"sessions": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The sessions, in the service's order, which usually has the newest at the top; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: sessionResults.DataSource()},
			},
		},
	}
}

func (d *sessionsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "sessions", req, resp, func(m *sessionsModel) (*[]sessions.Session, error) {
		found, err := d.Client.Sessions.List(ctx, m.ComputerID.ValueString(), int(m.MaxResults.ValueInt64()))
		return &found, err
	}, ofComputer, ownersOnly)
}
