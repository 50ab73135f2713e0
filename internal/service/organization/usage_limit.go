package organization

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

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

// limitRange is the same in the text of both resources. A lower limit of the service can be read, but not configured.
const limitRange = " Must be at least 1000000. After an import of a lower limit, the next apply raises it."

func limitValidators() []validator.Int64 {
	return []validator.Int64{int64validator.AtLeast(organization.MinUsageLimit)}
}
