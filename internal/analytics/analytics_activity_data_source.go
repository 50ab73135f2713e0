package analytics

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure      = (*activityDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*activityDataSource)(nil)
)

// NewActivityDataSource returns the data source agentyard_analytics_activity.
func NewActivityDataSource() datasource.DataSource { return &activityDataSource{} }

type activityDataSource struct{ daysDataSource }

type activityModel struct {
	daysModel
	GroupBy types.String       `tfsdk:"group_by"`
	Data    []activityRowModel `tfsdk:"data"`
}

type activityRowModel struct {
	Date                     types.String             `tfsdk:"date"`
	GroupKey                 types.String             `tfsdk:"group_key"`
	DailyActiveUsers         types.Float64            `tfsdk:"daily_active_users"`
	WeeklyActiveUsers        types.Float64            `tfsdk:"weekly_active_users"`
	MonthlyActiveUsers       types.Float64            `tfsdk:"monthly_active_users"`
	DailyActiveUsersByClient map[string]types.Float64 `tfsdk:"daily_active_users_by_client"`
	Sessions                 types.Float64            `tfsdk:"sessions"`
	Messages                 types.Float64            `tfsdk:"messages"`
	UserMessages             types.Float64            `tfsdk:"user_messages"`
}

// FromAPI takes over the rows.
func (m *activityModel) FromAPI(ctx context.Context, found *client.Analytics[client.ActivityRow]) (diags diag.Diagnostics) {
	m.OrgID = value.StringOrNull(found.OrgID)
	m.Data, diags = crud.Each[activityRowModel](ctx, found.Rows)
	return diags
}

// FromAPI takes over a row.
func (m *activityRowModel) FromAPI(_ context.Context, r *client.ActivityRow) diag.Diagnostics {
	m.Date, m.GroupKey = types.StringValue(r.Date), types.StringPointerValue(r.GroupKey)
	m.DailyActiveUsers = types.Float64PointerValue(r.DailyActiveUsers)
	m.WeeklyActiveUsers, m.MonthlyActiveUsers = types.Float64PointerValue(r.WeeklyActiveUsers), types.Float64PointerValue(r.MonthlyActiveUsers)
	if r.DailyActiveUsersByClient != nil {
		m.DailyActiveUsersByClient = make(map[string]types.Float64, len(r.DailyActiveUsersByClient))
		for name, users := range r.DailyActiveUsersByClient {
			m.DailyActiveUsersByClient[name] = types.Float64PointerValue(users)
		}
	}
	m.Sessions, m.Messages, m.UserMessages = types.Float64PointerValue(r.Sessions), types.Float64PointerValue(r.Messages), types.Float64PointerValue(r.UserMessages)
	return nil
}

var activityRowResults = results.Record{
	"date":                 dateOfRow,
	"group_key":            groupOfRow("The client, spelled as the keys of `daily_active_users_by_client`"),
	"daily_active_users":   number("Users who were active on the day, each counted once."),
	"weekly_active_users":  number("Users who were active on the day or in the six days before it."),
	"monthly_active_users": number("Users who were active on the day or in the 29 days before it."),
	"daily_active_users_by_client": {
		Text: "Users who were active on the day by client: `terminal-ui`, `web` (the web app) and `non-interactive-cli`. Who was active on several counts in each.",
		Type: types.MapType{ElemType: types.Float64Type},
	},
	"sessions":      number("Sessions."),
	"messages":      number("Messages of users and of the assistant."),
	"user_messages": number("Messages of users."),
}

func (d *activityDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_analytics_activity"
}

func (d *activityDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The active users, sessions and messages of the organization on each day." + managersOnly,
		Attributes:          attributes(activityRowResults, "The days, ordered by `date` and then `group_key`; "+quietDays),
	}
	resp.Schema.Attributes["group_by"] = groupBy("client", "client", "`daily_active_users`")
}

func (d *activityDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "analytics of activity", req, resp, func(m *activityModel) (*client.Analytics[client.ActivityRow], error) {
		if err := d.checkAvailable(m.daysModel); err != nil {
			return nil, err
		}
		return d.Client.ActivityAnalytics(ctx, m.days(), m.GroupBy.ValueString())
	}, organizationAccess, atArguments)
}
