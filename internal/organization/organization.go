// Package organization contains the Terraform objects for members, usage limits, and enterprise controls.
package organization

import (
	"net/http"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

// managersOnly ends every description in this package.
const managersOnly = " Requires the API key of a human with the Manager role or higher."

var needsManager = apierror.Advice{
	http.StatusForbidden: "This requires the API key of a human with the Manager role or higher.",
}

// theOrganization is the ID, identity, and import ID of a singleton.
const theOrganization = "organization"
