package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
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

// FromAPI stores a record.
func (m *accountModel) FromAPI(ctx context.Context, a *serviceaccounts.Account) diag.Diagnostics {
	return accountResults.Into(ctx, a, m)
}

// Identity is the account's ID.
func (m *accountModel) Identity() any { return &crud.ID{ID: m.ID} }

// accountResults are the fields of a service account.
var accountResults = results.Record[serviceaccounts.Account]{
	"id":          results.String("The service account's ID.", func(a *serviceaccounts.Account) string { return a.ID }),
	"name":        results.String("The service account's name, 1 to 128 characters.", func(a *serviceaccounts.Account) string { return a.Name }),
	"description": results.String("What the service account is for.", func(a *serviceaccounts.Account) string { return a.Description }),
	"status":      results.String("The service account's status, such as `active`. Keys of an inactive account do not work.", func(a *serviceaccounts.Account) string { return a.Status }),
}
