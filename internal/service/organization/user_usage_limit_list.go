package organization

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

var _ list.ListResourceWithConfigure = (*userUsageLimitList)(nil)

// NewUserUsageLimitList returns the list resource agentyard_user_usage_limit.
func NewUserUsageLimitList() list.ListResource {
	return &userUsageLimitList{userUsageLimitResource{crud.Resource{Name: "user_usage_limit"}}}
}

// userUsageLimitList has the type name of userUsageLimitResource, as a list resource must.
type userUsageLimitList struct{ userUsageLimitResource }

func (l *userUsageLimitList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the members who have a limit of their own, ordered by email address." + crud.ManagersAssumed("get-user-usage-limits"),
	}
}

func (l *userUsageLimitList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	own := crud.AtOnce(func() ([]organization.UserUsageLimit, error) {
		limits, err := l.Client.Organization.UsageLimits(ctx)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(limits.Users), func(u organization.UserUsageLimit) bool { return u.Limit == nil }), nil
	})
	crud.List[userUsageLimitModel](ctx, "user usage limits", req, stream, own, func(u *organization.UserUsageLimit) string { return u.Email }, limitOptions)
}
