package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type computerDataModel struct {
	computerRecord
	ProvisioningSteps types.List   `tfsdk:"provisioning_steps"`
	ServiceAccountID  types.String `tfsdk:"service_account_id"`
}

// ComputerDataSource is the data source agentyard_computer.
var ComputerDataSource = crud.DataSource{
	Name:        "computer",
	Description: "Returns a computer by ID or name." + readersKey,
	Attributes: computerData.ByIDOrName(map[string]schema.Attribute{
		"service_account_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "ID of the service account that owns the computer with this `name`. Defaults to the owner of the API key.",
			Validators:          []validator.String{value.NotEmpty(), stringvalidator.AlsoRequires(path.MatchRoot("name"))},
		},
	}),
	Validators: crud.IDOrName(),
	Verb:       "read", Object: "computer",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *computerDataModel) error {
		found, err := findComputer(ctx, c, m)
		if err != nil {
			return err
		}
		m.ProvisioningSteps = results.ListOf(stepResults, found.ProvisioningSteps)
		return crud.Failure(m.FromAPI(ctx, found))
	}),
}

// findComputer looks up the computer with the model's ID or name.
func findComputer(ctx context.Context, c *client.Client, m *computerDataModel) (found *computers.Computer, err error) {
	at, given, remedy := "name", m.Name.ValueString(), "Check the name. To find a service account's computer, set service_account_id."
	if value.IsSet(m.ID) {
		at, given, remedy = "id", m.ID.ValueString(), "Check the ID. "+apierror.NameHint("computer", m.ID.ValueString())
		found, err = c.Computers.GetWithSteps(ctx, m.ID.ValueString())
	} else {
		found, err = c.Computers.GetByName(ctx, m.Name.ValueString(), m.ServiceAccountID.ValueString())
	}
	if transport.IsNotFound(err) {
		err = &crud.ObjectError{At: path.Root(at), Summary: "Computer not found", Detail: fmt.Sprintf("Computer %q was not found, or the provider's API key cannot see it. %s", given,
			phrase.Join(remedy, apierror.NameHint("service account", m.ServiceAccountID.ValueString())))}
	}
	return found, err
}
