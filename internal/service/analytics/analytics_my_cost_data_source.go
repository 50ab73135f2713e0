package analytics

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type myCostModel struct {
	daysModel
	QueryKey types.String         `tfsdk:"query_key"`
	DataJSON jsontypes.Normalized `tfsdk:"data_json"`
}

// MyCostDataSource is the data source agentyard_analytics_my_cost.
var MyCostDataSource = crud.DataSource{
	Name:        "analytics_my_cost",
	Description: "Returns the personal usage of the API key's owner, such as the credits of each day, for up to 90 days." + membersOnly + crud.AssumedFormat,
	Attributes: attributes(costDay.DataSourceRows("The days of `headline_daily`, ordered by `date`. Empty for any other `query_key`."), map[string]schema.Attribute{
		"query_key": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "The query. One of `" + strings.Join(analytics.CostQueryKeys(), "`, `") + "`.",
			Validators:          []validator.String{value.OneOf(analytics.CostQueryKeys()...)},
		},
		"data_json": schema.StringAttribute{
			Computed: true, CustomType: jsontypes.NormalizedType{},
			MarkdownDescription: "All rows as a JSON list. Each `query_key` has its own fields. Rows of `headline_daily` are ordered by `date`, others are in the service's order.",
		},
	}),
	Validators: []datasource.ConfigValidator{oneStart},
	Verb:       "read", Object: "analytics of own cost", Options: apierror.Options{ownAccess, atDays},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *myCostModel) error {
		return fetch(ctx, c, &m.daysModel, costDay, func(days analytics.Days) (*analytics.Report[analytics.CostDay], error) {
			found, err := c.Analytics.MyCost(ctx, m.QueryKey.ValueString(), days)
			if err != nil {
				return nil, err
			}
			rows, err := json.Marshal(found.Rows)
			if err != nil {
				return nil, err
			}
			m.DataJSON, err = value.JSON(rows)
			return &analytics.Report[analytics.CostDay]{OrgID: found.OrgID, Days: found.Range, Rows: found.Days}, err
		})
	}),
}

var costDay = results.Fields[*analytics.CostDay]{
	"date": dateOfRow(func(d *analytics.CostDay) string { return d.Date }),
	"fsc":  results.Float64("Credits that the member used on the day. `fsc` is the service's name for them.", func(d *analytics.CostDay) *float64 { return d.FSC }),
}
