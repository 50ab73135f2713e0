package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*controlHistoryDataSource)(nil)

// NewEnterpriseControlHistoryDataSource returns the data source agentyard_enterprise_control_history.
func NewEnterpriseControlHistoryDataSource() datasource.DataSource {
	return &controlHistoryDataSource{}
}

type controlHistoryDataSource struct{ crud.DataSourceBase }

type controlHistoryModel struct {
	MaxResults types.Int64          `tfsdk:"max_results"`
	Changes    []controlChangeModel `tfsdk:"changes"`
}

type controlChangeModel struct {
	Revision  types.Int64          `tfsdk:"revision"`
	Settings  jsontypes.Normalized `tfsdk:"settings"`
	User      *controlUserModel    `tfsdk:"user"`
	UpdatedAt types.String         `tfsdk:"updated_at"`
}

type controlUserModel struct {
	ID    types.String `tfsdk:"id"`
	Email types.String `tfsdk:"email"`
	Name  types.String `tfsdk:"name"`
}

// FromAPI takes over the history.
func (m *controlHistoryModel) FromAPI(ctx context.Context, found *[]client.ControlChange) (diags diag.Diagnostics) {
	m.Changes, diags = crud.Each[controlChangeModel](ctx, *found)
	return diags
}

// FromAPI takes over a change. The cause of unreadable settings is not told: it may quote a secret.
func (m *controlChangeModel) FromAPI(_ context.Context, c *client.ControlChange) (diags diag.Diagnostics) {
	var err error
	m.Revision, m.UpdatedAt = types.Int64PointerValue(c.Revision), value.Time(c.UpdatedAt.Time)
	if m.Settings, err = value.JSON(c.Settings); err != nil {
		diags.AddError("Cannot read enterprise control history", fmt.Sprintf("The settings of revision %s are no JSON. Check that base_url is the service's address.", m.Revision))
	}
	if c.User != nil {
		m.User = &controlUserModel{ID: value.StringOrNull(c.User.ID), Email: value.StringOrNull(c.User.Email), Name: value.StringOrNull(c.User.Name)}
	}
	return diags
}

// controlChangeResults are the fields of a change, without the settings: they are sensitive.
var controlChangeResults = results.Plain{
	"revision": {Text: "The number of the change. A later change has a greater one.", Type: types.Int64Type},
	"user": {Text: "Who made the change.", Of: results.Plain{
		"id":    {Text: "The user's ID, as the identity provider knows it."},
		"email": {Text: "The user's email address. Null if the service does not know it."},
		"name":  {Text: "The user's name. Null if the service does not know it."},
	}},
	"updated_at": {Text: "When the change was made, in RFC 3339 (UTC)."},
}

func (d *controlHistoryDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_enterprise_control_history"
}

func (d *controlHistoryDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := controlChangeResults.DataSource()
	attributes["settings"] = schema.StringAttribute{
		Computed: true, Sensitive: true,
		CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "All settings as they were after the change, as JSON with sorted keys. Decode it with `jsondecode`. Settings may come, go or change their names with the service's version, " +
			"and may hold secrets, such as the keys of custom models, which the state then holds too.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The changes of the organization's enterprise control settings, each with who made it and what the settings were then." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"max_results": results.MaxResults("How many changes are read at most, the latest ones, 1 or more. All changes if omitted."),
			"changes": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The changes, the latest first; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: attributes},
			},
		},
	}
}

func (d *controlHistoryDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "enterprise control history", req, resp, func(m *controlHistoryModel) (*[]client.ControlChange, error) {
		found, err := d.Client.EnterpriseControlHistory(ctx, int(m.MaxResults.ValueInt64()))
		return &found, err
	}, needsManager)
}
