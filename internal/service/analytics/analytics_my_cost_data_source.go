package analytics

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// maxCostDays is the maximum number of days in a cost query.
const maxCostDays = 90

type myCostModel struct {
	daysModel
	QueryKey types.String         `tfsdk:"query_key"`
	DataJSON jsontypes.Normalized `tfsdk:"data_json"`
}

// NewMyCostDataSource returns the data source agentyard_analytics_my_cost.
func NewMyCostDataSource() datasource.DataSource {
	attributes := attributes(costDay.DataSourceRows("The days of `headline_daily`, ordered by `date`. Empty for any other `query_key`."))
	attributes["query_key"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "The query. One of `" + strings.Join(analytics.CostQueryKeys(), "`, `") + "`.",
		Validators:          []validator.String{value.OneOf(analytics.CostQueryKeys()...)},
	}
	attributes["data_json"] = schema.StringAttribute{
		Computed: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "All rows as a JSON list. Each `query_key` has its own fields. Rows of `headline_daily` are ordered by `date`, others are in the service's order.",
	}
	return &crud.DataSource{
		Name:        "analytics_my_cost",
		Description: fmt.Sprintf("Returns the personal usage of the API key's owner, such as the credits of each day, for up to %d days.", maxCostDays) + membersOnly,
		Attributes:  attributes,
		Validators:  []datasource.ConfigValidator{oneStart, daysInOrder{}, fewDays{}},
		Verb:        "read", Object: "analytics of own cost", Options: apierror.Options{ownAccess, atArguments},
		Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *myCostModel) error {
			return fetch(ctx, c, &m.daysModel, costDay, func(days analytics.Days) (*analytics.Report[analytics.CostDay], error) {
				if err := checkFewDays(days); err != nil {
					return nil, err
				}
				found, err := c.Analytics.MyCost(ctx, m.QueryKey.ValueString(), days)
				if err != nil {
					return nil, err
				}
				rows, err := json.Marshal(found.Rows)
				if err != nil {
					return nil, err
				}
				m.DataJSON, err = value.JSON(rows)
				return &analytics.Report[analytics.CostDay]{OrgID: found.OrgID, Rows: found.Days}, err
			})
		}),
	}
}

var costDay = results.Fields[*analytics.CostDay]{
	"date": dateOfRow(func(d *analytics.CostDay) string { return d.Date }),
	"fsc":  results.Float64("Credits that the member used on the day. `fsc` is the service's name for them.", func(d *analytics.CostDay) *float64 { return d.FSC }),
}

// fewDays rejects a range of more than maxCostDays.
type fewDays struct{}

func (fewDays) Description(context.Context) string {
	return fmt.Sprintf("start_date and end_date include at most %d days", maxCostDays)
}

func (v fewDays) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (fewDays) ValidateDataSource(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var given types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("last_days"), &given)...)
	if given.ValueInt64() > maxCostDays {
		resp.Diagnostics.AddAttributeError(path.Root("last_days"), "Too Many Days", fmt.Sprintf("last_days must be at most %d, got: %d.", maxCostDays, given.ValueInt64()))
	}
	start, end, ok := rangeIn(ctx, req, &resp.Diagnostics)
	if !ok {
		return
	}
	if problem := checkFewDays(analytics.Days{Start: start.Format(time.DateOnly), End: end.Format(time.DateOnly)}); problem != nil {
		resp.Diagnostics.AddAttributeError(problem.At, problem.Summary, problem.Detail)
	}
}

// checkFewDays returns an error for a range of more than maxCostDays.
func checkFewDays(days analytics.Days) *crud.ObjectError {
	start, _ := time.Parse(time.DateOnly, days.Start) // Validators accepted both.
	end, _ := time.Parse(time.DateOnly, days.End)
	count := int(end.Sub(start)/(24*time.Hour)) + 1
	if count <= maxCostDays {
		return nil
	}
	last := start.AddDate(0, 0, maxCostDays-1).Format(time.DateOnly)
	return &crud.ObjectError{
		At: path.Root("end_date"), Summary: "Too Many Days",
		Detail: fmt.Sprintf("The range includes %d days, but the maximum is %d. With start_date %s, end_date must be %s or earlier.", count, maxCostDays, days.Start, last),
	}
}
