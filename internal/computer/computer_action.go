package computer

import (
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// computerActionModel is the configuration of an action that needs nothing but the computer.
type computerActionModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
}

func computerActionSchema(description string) schema.Schema {
	return schema.Schema{
		MarkdownDescription: description,
		Attributes:          map[string]schema.Attribute{"computer_id": computerIDAttribute()},
	}
}

func computerIDAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		Required:            true,
		MarkdownDescription: computerResults["id"].Text,
		Validators:          []validator.String{value.NotEmpty()},
	}
}

// atComputer shows at the argument that names the computer what the service refuses to do with it, or cannot find.
var atComputer = apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")}

// managedOnly is what a 400 means where an operation concerns active managed computers only. What is its subject, with the verb.
func managedOnly(what string) apierror.Advice {
	return apierror.Advice{http.StatusBadRequest: what + " for managed computers that are active, not for machines of one's own (`byom`) and not while a computer is being provisioned."}
}
