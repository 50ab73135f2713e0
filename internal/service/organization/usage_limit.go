package organization

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

var limitOptions = limitOptionsAt(path.Root("email"))

// limitOptionsAt put a refused address on its attribute.
func limitOptionsAt(email path.Path) apierror.Options {
	return apierror.Options{needsManager, apierror.Own(func(err error) (string, path.Path) {
		var refused *organization.RefusedError
		if !errors.As(err, &refused) {
			return "", path.Empty()
		}
		return "The limit of this member was not changed. Limits can be set for active members only. Correct the email address, or apply again after the member accepts the invitation.", email
	})}
}

// noPeriod follows the description of each limit.
const noPeriod = " The service's API documents do not say for which period."

func credits(n int64) string { return fmt.Sprintf("%d credits", n) }

// limitRange is the same in the text of both resources. A lower limit of the service can be read, but not configured.
const limitRange = " Must be at least 1000000. After an import of a lower limit, the next apply raises it."

func limitValidators() []validator.Int64 {
	return []validator.Int64{int64validator.AtLeast(organization.MinUsageLimit)}
}

// warnReplaced warns if creating a limit replaces an existing one. Present is nil if there is none.
func warnReplaced(what string, present *int64, planned types.Int64, diags *diag.Diagnostics) {
	if present == nil || planned.IsUnknown() || planned.ValueInt64() == *present {
		return
	}
	diags.AddAttributeWarning(path.Root("limit"), "Limit Will Be Replaced", fmt.Sprintf("%s of %s. The apply changes it to %s.", what, credits(*present), credits(planned.ValueInt64())))
}
