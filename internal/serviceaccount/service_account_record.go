package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// managersOnly ends the description of everything here: the service accepts no other caller.
const managersOnly = " Needs the API key of a human with the Manager role or higher."

// accountModel is a service account: the resource, and the results of every data source that shows one.
type accountModel struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
	Status      types.String `tfsdk:"status"`
}

// accountFields says where an error about a field of the API is shown, and which fields no two objects share.
var accountFields = apierror.Options{apierror.Fields{"name": path.Root("name"), "description": path.Root("description"), "status": path.Root("status")}, apierror.Unique{"name"}}

// FromAPI takes over a record.
func (m *accountModel) FromAPI(_ context.Context, a *client.ServiceAccount) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(a.ID), types.StringValue(a.Name)
	m.Description = value.StringOrNull(a.Description)
	m.Status = value.StringOrNull(a.Status)
	return nil
}

// Identity is the account's ID.
func (m *accountModel) Identity() any { return &crud.ID{ID: m.ID} }

// accountResults are the fields of a service account, wherever they are shown.
var accountResults = results.Plain{
	"id":          {Text: "The service account's ID."},
	"name":        {Text: "The service account's name, 1 to 128 characters."},
	"description": {Text: "What the service account is for."},
	"status":      {Text: "The service account's status: `active`, or another one that the service knows. Keys of an account that is not active stop authenticating."},
}
