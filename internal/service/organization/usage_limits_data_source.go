package organization

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type usageLimitsModel struct {
	GlobalLimit     types.Int64 `tfsdk:"global_limit"`
	UserLimits      types.List  `tfsdk:"user_limits"`
	EffectiveLimits types.List  `tfsdk:"effective_limits"`
}

// UsageLimitsDataSource is the data source agentyard_usage_limits.
var UsageLimitsDataSource = crud.DataSource{
	Name: "usage_limits",
	Description: "Returns the global limit of the organization, and the limits of its members." + crud.ManagersAssumed("get-user-usage-limits") + "\n\n" +
		"**Requests.** `effective_limits` needs one request for each 100 members. In the same run, the data source `agentyard_members` uses the same requests.",
	Attributes: map[string]schema.Attribute{
		"global_limit": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "The global limit: the credits that each member without a limit of their own can use." + noPeriod + " Null if there is none.",
		},
		"effective_limits": effectiveLimit.DataSourceRows("The limit that applies to each member: their own or the global one, in the order of `agentyard_members`."),
		"user_limits":      userLimit.DataSourceRows("The members' own limits, ordered by email address."),
	},
	Verb: "read", Object: "usage limits", Options: limitOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *usageLimitsModel) error {
		found, err := c.Organization.UsageLimits(ctx)
		if err != nil {
			return err
		}
		members, err := c.Organization.Members(ctx, 0)
		if err != nil {
			return err
		}
		m.GlobalLimit, m.UserLimits = types.Int64PointerValue(found.Global), results.RowsOf(userLimit, found.Users)
		m.EffectiveLimits = results.RowsOf(effectiveLimit, effectiveLimits(found, members))
		return nil
	}),
}

var userLimit = results.Fields[*organization.UserUsageLimit]{
	"email": results.String("Email address of the member.", func(l *organization.UserUsageLimit) string { return l.Email }),
	"limit": results.Int64("The member's own limit, in credits."+noPeriod+" Null if the global limit applies.", func(l *organization.UserUsageLimit) *int64 { return l.Limit }),
}

// effectiveUsageLimit is the limit that applies to a member.
type effectiveUsageLimit struct {
	organization.UserUsageLimit
	isDefault bool
}

var effectiveLimit = results.Fields[*effectiveUsageLimit]{
	"email":      results.String("Email address of the member.", func(l *effectiveUsageLimit) string { return l.Email }),
	"limit":      results.Int64("Limit that applies to the member, in credits."+noPeriod+" Null if there is none.", func(l *effectiveUsageLimit) *int64 { return l.Limit }),
	"is_default": results.Bool("Whether the global limit applies, because the member has no limit of their own.", func(l *effectiveUsageLimit) *bool { return &l.isDefault }),
}

func effectiveLimits(all *organization.UsageLimits, members []organization.Member) []effectiveUsageLimit {
	limits := make([]effectiveUsageLimit, len(members))
	for i, m := range members {
		own := all.Of(m.Email)
		limits[i] = effectiveUsageLimit{organization.UserUsageLimit{Email: m.Email, Limit: cmp.Or(own, all.Global)}, own == nil}
	}
	return limits
}
