package organization

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
)

type usageLimitsModel struct {
	GlobalLimit types.Int64  `tfsdk:"global_limit"`
	UserLimits  results.Rows `tfsdk:"user_limits"`
}

// NewUsageLimitsDataSource returns the data source agentyard_usage_limits.
func NewUsageLimitsDataSource() datasource.DataSource {
	return &crud.DataSource{
		Name:        "usage_limits",
		Description: "Returns the credit limits of the organization and of its users." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"global_limit": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "Limit for each user who has no other limit, in credits." + noPeriod + " Null if there is none.",
			},
			"user_limits": userLimit.DataSourceRows("The limits of users, ordered by email address."),
		},
		Verb: "read", Object: "usage limits", Options: limitOptions,
		Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *usageLimitsModel) error {
			found, err := c.Organization.UsageLimits(ctx)
			if err != nil {
				return err
			}
			m.GlobalLimit, m.UserLimits = types.Int64PointerValue(found.Global), results.RowsOf(userLimit, found.Users)
			return nil
		}),
	}
}

var userLimit = results.Fields[*organization.UserUsageLimit]{
	"email": results.String("Email address of the user.", func(l *organization.UserUsageLimit) string { return l.Email }),
	"limit": results.Int64("Limit of the user, in credits."+noPeriod+" Null if the global limit applies.", func(l *organization.UserUsageLimit) *int64 { return l.Limit }),
}
