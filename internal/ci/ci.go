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
const everyMember = " Any member of the organization and any service account may read this."

// readAccess says what to do where the service refuses to show something.
var readAccess = apierror.Advice{
	http.StatusForbidden: "Any member of the organization and any service account may read this, unless the organization's settings forbid CI automation. Check whose API key it is, and ask a manager or owner of the organization.",
	http.StatusNotFound:  "The service does not offer this at base_url. Check the path in base_url.",
}

// integrationModel tells whether a code host is connected.
type integrationModel struct {
	Connected types.Bool `tfsdk:"connected"`
}

var integrationResults = results.Plain{
	"integration": {Text: "The organization's integration with its code host. Null if the service does not tell of it.", Of: results.Plain{
		"connected": {Text: "Whether the code host is connected. If it is not, no repository is.", Type: types.BoolType},
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
	ofFile       = "Path of the workflow's file in the repository."
	ofPermission = "What the caller may do in the repository, such as `admin`, `write` or `read`."
)
