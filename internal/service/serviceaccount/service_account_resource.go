// Package serviceaccount contains the Terraform objects for service accounts and their API keys.
package serviceaccount

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*accountResource)(nil)

// NewServiceAccountResource returns the resource agentyard_service_account.
func NewServiceAccountResource() resource.Resource {
	return &accountResource{crud.ByID{Resource: crud.Resource{Name: "service_account"}, Example: "sa_01hzy3v7k2m4n6p8q0r2s4t6v8"}}
}

type accountResource struct{ crud.ByID }

type accountModel struct {
	accountRecord
	DeletionProtection types.Bool `tfsdk:"deletion_protection"`
}

func (m *accountModel) createRequest() serviceaccounts.CreateRequest {
	return serviceaccounts.CreateRequest{Name: m.Name.ValueString(), Description: m.Description.ValueString()}
}

// updateRequest clears a description that was removed from the configuration. It is empty if only attributes of the provider differ.
func (m *accountModel) updateRequest(state *accountModel) serviceaccounts.UpdateRequest {
	body := serviceaccounts.UpdateRequest{Status: value.Changed(m.Status, state.Status)}
	if !m.Description.Equal(state.Description) {
		text := m.Description.ValueString()
		body.Description = &text
	}
	return body
}

func (r *accountResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a service account: an identity for automation, which owns API keys and computers and is not a member." + crud.ManagersOnly + "\n\n" +
			"~> Destroying a service account also deletes all its computers, even those with `deletion_protection`, and the service should stop accepting its API keys" + crud.Assumed("deleted-account-keys") + " The service also tries to delete the Git credentials that it stores for the account. The plan warns about the computers, except with `-replace` or for a tainted account.\n\n" +
			"**Keys.** To give each team an account and a rotating key, see [Teams and keys](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/teams-and-keys)." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"id": accountResults.Resource()["id"],
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: accountResults["name"].Text + " Must not be empty. Changing this forces a new service account.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored."), stringplanmodifier.RequiresReplace()},
			},
			"description": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: accountResults["description"].Text + " Must not be empty. Removing this should clear the description" + crud.Assumed("update-service-account-description"),
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored.")},
			},
			"status": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: accountResults["status"].Text + " If omitted, the service chooses. Removing this keeps the current status.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"deletion_protection": crud.DeletionProtection("service account"),
		},
	}
}

// ModifyPlan fails early if the service rejects the API key, and warns about computers that a destroy also deletes. A
// replacement destroys the account too.
func (r *accountResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "service account", r.Client.ServiceAccounts.CheckAccess(ctx))...)
		return
	}
	var state accountModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var name types.String
	if !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("name"), &name)...)
	}
	if !name.Equal(state.Name) { // The plan destroys or replaces the account.
		resp.Diagnostics.Append(r.destroyed(ctx, state)...)
	}
}

// destroyed warns about the computers of an account.
func (r *accountResource) destroyed(ctx context.Context, state accountModel) diag.Diagnostics {
	owned, err := r.Client.Computers.ListOwned(ctx, state.ID.ValueString())
	if err == nil && len(owned) == 0 {
		return nil
	}
	names := make([]string, len(owned))
	for i := range owned {
		names[i] = owned[i].Name
	}
	slices.Sort(names)
	count, owns := phrase.Count(len(owned), "computer"), "owns these computers: "+phrase.Names(names, 10)
	if err != nil {
		count, owns = "its computers", fmt.Sprintf("may own computers, which the provider could not list (%s)", strings.TrimSuffix(err.Error(), "."))
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("Service account %q with %s", state.Name.ValueString(), count), fmt.Sprintf("Service account %q (%s) %s. "+
		"A destroy of the account also deletes those that the plan does not destroy. Their deletion_protection does not prevent this.", state.Name.ValueString(), state.ID.ValueString(), owns))}
}

// Create sets the status in a second request, because the create request does not support it. The state has the planned status before:
// an error would taint the account, and the next apply would replace it. The next refresh reads the actual status.
func (r *accountResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var wanted types.String
	_, made := crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *accountModel) (*serviceaccounts.Account, error) {
		wanted = m.Status
		return r.Client.ServiceAccounts.Create(ctx, m.createRequest())
	})
	if made == nil || !value.IsSet(wanted) || wanted.ValueString() == made.Status {
		return
	}
	_, err := r.Client.ServiceAccounts.Update(ctx, made.ID, serviceaccounts.UpdateRequest{Status: value.StringPointer(wanted)})
	for _, d := range apierror.For("set the status of", "service account", err) {
		resp.Diagnostics.AddAttributeWarning(path.Root("status"), "Service account created without its status",
			fmt.Sprintf("Service account %q (%s) was created, but its status may not be %q. The next plan shows the actual status. %s", made.Name, made.ID, wanted.ValueString(), d.Detail()))
	}
}

func (r *accountResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *accountModel) (*serviceaccounts.Account, error) {
		return r.Client.ServiceAccounts.Get(ctx, m.ID.ValueString())
	})
}

func (r *accountResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, state *accountModel) (*serviceaccounts.Account, error) {
		body := plan.updateRequest(state)
		if body == (serviceaccounts.UpdateRequest{}) {
			return nil, nil
		}
		return r.Client.ServiceAccounts.Update(ctx, state.ID.ValueString(), body)
	})
}

func (r *accountResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *accountModel) error {
		return r.Client.ServiceAccounts.Delete(ctx, m.ID.ValueString())
	})
}
