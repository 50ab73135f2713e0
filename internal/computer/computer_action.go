package computer

import (
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
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
		MarkdownDescription: describe["id"],
		Validators:          []validator.String{value.NotEmpty()},
	}
}

func tell(resp *action.InvokeResponse, format string, args ...any) {
	resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
}

// computerFault translates the failure of something that is done with one computer. What the service refuses to do with
// it (400) or cannot find (404) is shown at the attribute that names it.
func computerFault(verb, object string, err error, advice apierror.Advice) diag.Diagnostics {
	status := client.StatusOf(err)
	var diags diag.Diagnostics
	for _, d := range apierror.For(verb, object, err, advice) {
		if (status == http.StatusBadRequest || status == http.StatusNotFound) && !client.IsForeign(err) {
			diags.AddAttributeError(path.Root("computer_id"), d.Summary(), d.Detail())
		} else {
			diags.AddError(d.Summary(), d.Detail())
		}
	}
	return diags
}

// managedOnly is what a 400 means where an operation concerns active managed computers only. What is its start, such as "Metrics are".
func managedOnly(what string) apierror.Advice {
	return apierror.Advice{http.StatusBadRequest: what + " for managed computers that are active, not for machines of one's own (`byom`) and not while a computer is being provisioned."}
}
