// Package ci holds the Terraform objects of CI automation: workflows in the repositories of the organization's code host.
package ci

import (
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
)

// everyMember ends the description of every data source here.
const everyMember = " Any member or service account of the organization can read this."

// readAccess says what to do where the service refuses to show something.
var readAccess = apierror.Advice{
	http.StatusForbidden: "The organization's settings may forbid CI automation. Ask a manager or owner of the organization.",
	http.StatusNotFound:  "The service does not offer this operation at base_url. Check the path in base_url.",
}

// integrationModel tells whether a code host is connected.
type integrationModel struct {
	Connected types.Bool `tfsdk:"connected"`
}

var integrationResults = results.Plain{
	"integration": {Text: "The organization's code-host integration. Null if the service does not return it.", Of: results.Plain{
		"connected": {Text: "Whether a code host is connected.", Type: types.BoolType},
	}},
}

// integrationOf is nil, which is null, where the service tells nothing.
func integrationOf(i *client.CIIntegration) *integrationModel {
	if i == nil {
		return nil
	}
	return &integrationModel{Connected: types.BoolPointerValue(i.Connected)}
}

// listOf is a result that is a list of records.
func listOf(record results.Plain, description string) schema.Attribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description,
		NestedObject:        schema.NestedAttributeObject{Attributes: record.DataSource()},
	}
}

const (
	ofRepository = "Full name of the repository, such as `acme/api`."
	ofFile       = "Path of the workflow file in the repository."
	ofPermission = "Permission of the API key's owner on the repository, such as `admin`, `write`, or `read`."
)
