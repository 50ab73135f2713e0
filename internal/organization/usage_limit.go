package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

// limitOptions are what errors need to know of a limit.
var limitOptions = apierror.Options{
	apierror.Fields{"email": path.Root("email"), "limit": path.Root("limit")},
	needsManager,
}

// credits writes an amount for people.
func credits(n int64) string { return fmt.Sprintf("%d credits", n) }

// amount is credits, or what stands for an amount that is not known yet.
func amount(n *int64, unknown string) string {
	if n == nil {
		return unknown
	}
	return credits(*n)
}

// known is a limit in a plan; nil while it is unknown.
func known(limit types.Int64) *int64 {
	if limit.IsUnknown() {
		return nil
	}
	return limit.ValueInt64Pointer()
}

// heldElsewhere is the key of the planned private state which says that a removal leaves the limit to another resource.
const heldElsewhere = "held_elsewhere"

// forgetOnly has the removal that is planned send nothing.
func forgetOnly(ctx context.Context, private adopt.Private) diag.Diagnostics {
	return private.SetKey(ctx, heldElsewhere, []byte("true"))
}

// forgetsOnly reports that a removal was planned to send nothing.
func forgetsOnly(ctx context.Context, private adopt.Private) bool {
	value, _ := private.GetKey(ctx, heldElsewhere)
	return string(value) == "true"
}
