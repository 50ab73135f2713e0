package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// maxCostDays is how many days a query about one's own cost may ask about.
const maxCostDays = 90

var (
	_ datasource.DataSourceWithConfigure      = (*myCostDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*myCostDataSource)(nil)
)

// NewMyCostDataSource returns the data source agentyard_analytics_my_cost.
func NewMyCostDataSource() datasource.DataSource { return &myCostDataSource{} }

type myCostDataSource struct{ daysDataSource }

type myCostModel struct {
	daysModel
	QueryKey types.String         `tfsdk:"query_key"`
	Data     []costDayModel       `tfsdk:"data"`
	DataJSON jsontypes.Normalized `tfsdk:"data_json"`
}

type costDayModel struct {
	Date types.String  `tfsdk:"date"`
	FSC  types.Float64 `tfsdk:"fsc"`
}

// FromAPI takes over the rows.
func (m *myCostModel) FromAPI(ctx context.Context, found *client.MyCost) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[costDayModel](ctx, found.Days)
	rows, err := json.Marshal(found.Rows)
	if err == nil {
		m.DataJSON, err = value.JSON(rows)
	}
	if err != nil {
		diags.AddAttributeError(path.Root("data_json"), "Cannot Store Rows", err.Error())
	}
	return diags
}

// FromAPI takes over the credits of a day.
func (m *costDayModel) FromAPI(_ context.Context, d *client.CostDay) diag.Diagnostics {
	m.Date, m.FSC = types.StringValue(d.Date), types.Float64PointerValue(d.FSC)
	return nil
}

var costDayResults = results.Record{
	"date": dateOfRow,
	"fsc":  number("Credits of the day."),
}

func (d *myCostDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_my_cost"
}

func (d *myCostDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: fmt.Sprintf("What the owner of the API key used, on at most %d days.", maxCostDays) + membersOnly,
		Attributes:          attributes(costDayResults, "The days of `headline_daily`, ordered by `date`; empty for any other `query_key`, and if there is no row."),
	}
	resp.Schema.Attributes["query_key"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "What is asked: `" + strings.Join(client.CostQueryKeys(), "`, `") + "`.",
		Validators:          []validator.String{stringvalidator.OneOf(client.CostQueryKeys()...)},
	}
	resp.Schema.Attributes["data_json"] = schema.StringAttribute{
		Computed: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "All rows as JSON: a list whose items have other fields for each `query_key`. Those of `headline_daily` are ordered by `date`, others as the service orders them.",
	}
}

// ValidateConfig refuses a range of too many days too.
func (d *myCostDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	d.daysDataSource.ValidateConfig(ctx, req, resp)
	start, end, ok := rangeIn(ctx, req, &resp.Diagnostics)
	if !ok {
		return
	}
	if count := int(end.Sub(start)/(24*time.Hour)) + 1; count > maxCostDays {
		last := start.AddDate(0, 0, maxCostDays-1).Format(time.DateOnly)
		resp.Diagnostics.AddAttributeError(path.Root("end_date"), "Too Many Days",
			fmt.Sprintf("start_date and end_date may be %d days apart at most, both included, got: %d days. From %s on, end_date must not be later than %s.", maxCostDays, count, start.Format(time.DateOnly), last))
	}
}

func (d *myCostDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of own cost", req, resp, func(m *myCostModel) (*client.MyCost, error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.MyCost(ctx, m.QueryKey.ValueString(), m.days())
	}, ownAccess, atArguments)
}
