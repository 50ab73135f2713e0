package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
)

var limitOptions = apierror.Options{
	apierror.Fields{"email": path.Root("email"), "limit": path.Root("limit")},
	needsManager,
}

func credits(n int64) string { return fmt.Sprintf("%d credits", n) }

// minimumLimit rejects a new or changed limit that is too small. An existing smaller limit can be imported and kept.
type minimumLimit struct{}

func (minimumLimit) Description(context.Context) string {
	return fmt.Sprintf("must be at least %d when set or changed", organization.MinUsageLimit)
}

func (m minimumLimit) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

func (m minimumLimit) PlanModifyInt64(ctx context.Context, req planmodifier.Int64Request, resp *planmodifier.Int64Response) {
	if req.PlanValue.IsUnknown() || req.PlanValue.ValueInt64() >= organization.MinUsageLimit || req.PlanValue.Equal(req.StateValue) {
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Limit Too Small", fmt.Sprintf("%s %s, got: %d.", req.Path, m.Description(ctx), req.PlanValue.ValueInt64()))
}

// warnReplaced warns if creating a limit replaces an existing one. Present is nil if there is none.
func warnReplaced(what string, present *int64, planned types.Int64, diags *diag.Diagnostics) {
	if present == nil || planned.IsUnknown() || planned.ValueInt64() == *present {
		return
	}
	diags.AddAttributeWarning(path.Root("limit"), "Limit Will Be Replaced", fmt.Sprintf("%s of %s. The apply changes it to %s.", what, credits(*present), credits(planned.ValueInt64())))
}

// warnSecond warns if another resource in the state has already read this limit. Each plan runs in a new process.
func warnSecond(c *client.Client, id, limit string, resp *resource.ReadResponse) {
	if resp.State.Raw.IsNull() || resp.Diagnostics.HasError() || c.Organization.IsFirstLimitRead(id) {
		return
	}
	resp.Diagnostics.AddWarning("Limit Managed Twice", fmt.Sprintf("Two resources in the state manage %s and overwrite each other. "+
		"Run terraform state rm ADDRESS for one of them, and then remove it from the configuration.", limit))
}
