// Package organization holds the Terraform objects that concern the organization as a whole: its members, limits and controls.
package organization

import (
	"net/http"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
)

// managersOnly ends the description of everything here: the service accepts no other caller.
const managersOnly = " Needs the API key of a human with the Manager role or higher."

// needsManager says the same where the service refuses the caller.
var needsManager = apierror.Advice{
	http.StatusForbidden: "Only humans with the Manager role or higher may see and change what concerns the organization as a whole. Use the API key of such a person, not a user's or a service account's.",
}

// theOrganization is the ID, the identity and the import ID of what an organization has one of.
const theOrganization = "organization"
