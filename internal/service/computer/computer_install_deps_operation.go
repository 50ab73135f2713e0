package computer

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// InstallDeps is agentyard_computer_install_deps.
var InstallDeps = crud.Operation{
	Name: "computer_install_deps",
	Description: "Reinstalls the dependencies of a managed computer's repositories. The computer must have been created with `auto_install_deps = true`." + ownersKey + "\n\n" +
		"**Duration.** The installation continues after the apply. While one is running, the service refuses another one. " +
		"Registered machines (`byom`) are not supported. To see the result in a later run, read the computer with the data source `agentyard_computer`.",
	Arguments: computerArgument,
	Results: results.Attributes{
		"install_session_id": results.Computed("ID of the session that installs the dependencies. Null if the service does not return it.", types.StringType),
	},
	Run:  crud.Run(installDeps),
	Verb: "install dependencies on", Object: "computer",
	Options: apierror.Options{atComputer, installAdvice},
}

func installDeps(ctx context.Context, c *client.Client, m *computerOperationModel, call *crud.Call) (crud.Results, error) {
	call.Report("Starting to install dependencies on computer %s", m.ComputerID.ValueString())
	found, err := c.Computers.InstallDeps(ctx, m.ComputerID.ValueString())
	if err != nil {
		return nil, err
	}
	call.Report("The installation on computer %q was started and continues in the background", found.Name)
	return crud.Results{"install_session_id": value.StringOrNull(installSession(found))}, nil
}

var installAdvice = apierror.Advice{
	http.StatusBadRequest: "The computer must be a managed computer that was created with auto_install_deps = true. Registered machines (byom) are not supported.",
	http.StatusConflict:   "An installation is already running on this computer. Wait until it ends, then run this again.",
}
