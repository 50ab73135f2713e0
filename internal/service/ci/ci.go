// Package ci contains the Terraform objects for CI automation: workflows in the repositories of the organization's code
// host.
package ci

import (
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// anyKey follows the description of every data source here.
const anyKey = crud.AnyKey + crud.AssumedFormat

// readOptions contains the advice for a read that the service refuses.
var readOptions = apierror.Options{apierror.Advice{
	http.StatusForbidden: "The organization's settings may forbid CI automation. Ask a manager or owner of the organization.",
	http.StatusNotFound:  "The service does not offer this operation at base_url. Check the path in base_url.",
}}

// integrationAttribute returns the result that says whether a code host is connected.
func integrationAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The organization's code-host integration. Null if unknown.",
		Attributes:          integration.DataSource(),
	}
}

var integration = results.Fields[*ci.Integration]{
	"connected": results.Bool("Whether a code host is connected.", func(i *ci.Integration) *bool { return i.Connected }),
}

const (
	repositoryText = "Full name of the repository, such as `acme/api`."
	fileText       = "Path of the workflow file in the repository."
	permissionText = "Permission of the API key's owner on the repository, such as `admin`, `write`, or `read`. Null if unknown."
)
