package organization

import (
	"context"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// UserUsageLimitList is the list resource agentyard_user_usage_limit.
var UserUsageLimitList = crud.ListResource{
	Name:        "user_usage_limit",
	Description: "Lists the members who have a limit of their own, ordered by email address." + crud.ManagersAssumed("get-user-usage-limits"),
	Results: crud.ListAtOnce[userUsageLimitModel]("user usage limits", func(ctx context.Context, c *client.Client, _ *struct{}, _ int) ([]organization.UserUsageLimit, error) {
		limits, err := c.Organization.UsageLimits(ctx)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(limits.Users), func(u organization.UserUsageLimit) bool { return u.Limit == nil }), nil
	}, func(u *organization.UserUsageLimit) string { return u.Email }, limitOptions),
}
