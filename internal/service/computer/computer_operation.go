package computer

import (
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type computerOperationModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
}

// Who can read computers is documented; that the same may change them is an assumption.
const (
	ownersOrManagers = crud.Requires + "the owner's API key, or the " + crud.ManagerRole + " if the owner is a service account"
	readersKey       = ownersOrManagers + "."
)

var ownersKey = ownersOrManagers + crud.Assumed("account-computers")

// computerArgument contains the only argument of an operation on a computer.
var computerArgument = map[string]schema.Attribute{"computer_id": crud.RequiredText(computerResults["id"].Text)}

// atComputer puts errors about the computer on computer_id.
var atComputer = apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")}

// activeManagedOnly explains a 400 of an operation that the service offers only for active managed computers.
var activeManagedOnly = apierror.Advice{
	http.StatusBadRequest: "The computer must be a managed computer and active. Registered machines (byom) are not supported.",
}

var fileNameText = "Name of the file in the workspace. The service should accept 1–255 characters, without slashes, backslashes, or `..`" + crud.Assumed("file-name-parameter")

func fileNameValidators() []validator.String {
	return []validator.String{value.Length(1, 255), value.Where("must be a file name without slashes, backslashes, or \"..\", and not blank or \".\"", func(name string) bool {
		return !strings.ContainsAny(name, `/\`) && !strings.Contains(name, "..") && strings.TrimSpace(name) != "" && name != "."
	})}
}
