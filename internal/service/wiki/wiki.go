// Package wiki contains the Terraform objects for repository wikis.
package wiki

import (
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// ofRun is the argument of data sources that read a part of a wiki run.
var ofRun = crud.RequiredNotBlank("ID of the wiki run.", "Set it to the ID of a wiki run.")

var atRun = apierror.AtStatus{http.StatusBadRequest: path.Root("wiki_run_id"), http.StatusForbidden: path.Root("wiki_run_id"), http.StatusNotFound: path.Root("wiki_run_id")}

const (
	switchedOff = "Wikis are disabled for the organization, or the API key's owner lacks access. " +
		"Ask a manager to enable wikiCloudSync in the enterprise controls, or use another API key."
	runNotFound = "The wiki run does not exist, or the provider's API key cannot see it. Check the ID. The data source agentyard_wiki_runs lists the runs that the key can see."
)

var ofRunAdvice = apierror.Options{atRun, apierror.Advice{http.StatusForbidden: switchedOff, http.StatusNotFound: runNotFound}}

// aboutRun names the wiki run in an error. Doing is the operation, such as "exporting".
func aboutRun(doing, id string, err error) error {
	return fmt.Errorf("%s the wiki run %s: %w", doing, id, err)
}
