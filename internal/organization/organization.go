// Package organization holds the Terraform objects that concern the organization as a whole: its members, limits and controls.
package organization

import (
	"net/http"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

// managersOnly ends the description of everything here: the service accepts no other caller.
const managersOnly = " Requires the API key of a human with the Manager role or higher."

// needsManager says the same where the service refuses the caller.
var needsManager = apierror.Advice{
	http.StatusForbidden: "This requires the API key of a human with the Manager role or higher.",
}

// theOrganization is the ID, the identity and the import ID of what an organization has one of.
const theOrganization = "organization"
