package computer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

var (
	_ resource.ResourceWithConfigure      = (*computerResource)(nil)
	_ resource.ResourceWithIdentity       = (*computerResource)(nil)
	_ resource.ResourceWithImportState    = (*computerResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*computerResource)(nil)
	_ resource.ResourceWithValidateConfig = (*computerResource)(nil)
)

const (
	defaultCreateTimeout = 30 * time.Minute
	defaultDeleteTimeout = 10 * time.Minute
)

// computerStates are the statuses of a computer that is being provisioned.
var computerStates = wait.States{
	Done:       []string{client.ComputerActive},
	InProgress: []string{client.ComputerProvisioning},
	Failed:     []string{client.ComputerError},
}

// computerFields says where an error about a field of the API is shown, and which fields no two objects share.
var computerFields = apierror.Options{apierror.Fields{
	"name": path.Root("name"), "hostId": path.Root("host_id"), "provider": path.Root("provider_type"), "remoteUser": path.Root("remote_user"),
	"repos": path.Root("repos"), "autoInstallDeps": path.Root("auto_install_deps"), "serviceAccountId": path.Root("service_account_id"), "source": path.Root("source"),
	"templateId": path.Root("source").AtName("template_id"), "sourceComputerId": path.Root("source").AtName("source_computer_id"),
	"softwareDraft": path.Root("source").AtName("software_draft"),
}, apierror.Unique{"name", "hostId"}}

// NewComputerResource returns the resource agentyard_computer.
func NewComputerResource() resource.Resource { return &computerResource{} }

type computerResource struct{ crud.Resource }

type computerModel struct {
	computerRecord
	Repos            types.List     `tfsdk:"repos"`
	AutoInstallDeps  types.Bool     `tfsdk:"auto_install_deps"`
	ServiceAccountID types.String   `tfsdk:"service_account_id"`
	Source           types.Object   `tfsdk:"source"`
	WaitForActive    types.Bool     `tfsdk:"wait_for_active"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

// FromImport sets what a creation asked for, as far as the record tells.
func (m *computerModel) FromImport(_ context.Context, c *client.Computer) diag.Diagnostics {
	if account := c.ServiceAccount(); account != "" && !c.IsCallers {
		m.ServiceAccountID = types.StringValue(account)
	}
	source, diags := originFromAPI(c)
	m.Source = source
	return diags
}

// Identity is the computer's ID.
func (m *computerModel) Identity() any { return &crud.ID{ID: m.ID} }

// OwnerOnly reports that only the owner's API keys see the computer.
func (m *computerModel) OwnerOnly() bool { return m.ServiceAccountID.IsNull() }

func (m *computerModel) createRequest(ctx context.Context) (client.CreateComputerRequest, diag.Diagnostics) {
	source, diags := originToAPI(ctx, m.Source)
	return client.CreateComputerRequest{
		Name:             m.Name.ValueString(),
		Provider:         m.ProviderType.ValueString(),
		HostID:           m.HostID.ValueString(),
		RemoteUser:       m.RemoteUser.ValueString(),
		Repos:            value.Strings(m.Repos),
		AutoInstallDeps:  value.BoolPointer(m.AutoInstallDeps),
		ServiceAccountID: m.ServiceAccountID.ValueString(),
		Source:           source,
	}, diags
}

// updateRequest holds what differs from the prior state; it is empty if only attributes of the provider differ.
func (m *computerModel) updateRequest(state *computerModel) client.UpdateComputerRequest {
	var body client.UpdateComputerRequest
	if !m.Name.Equal(state.Name) {
		body.Name = value.StringPointer(m.Name)
	}
	if !m.HostID.Equal(state.HostID) {
		body.HostID = value.StringPointer(m.HostID)
	}
	if !m.RemoteUser.Equal(state.RemoteUser) {
		body.RemoteUser = value.StringPointer(m.RemoteUser)
	}
	return body
}

func (r *computerResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer"
}

func (r *computerResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := computerResults.Resource()
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: computerResults["name"].Text + " Unique among the owner's computers.",
		Validators:          []validator.String{value.Length(1, 63)},
	}
	attributes["provider_type"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["provider_type"].Text + " The data source `agentyard_computer_providers` lists the available ones. If omitted, the service chooses. Changing this forces a new computer.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()},
	}
	attributes["host_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["host_id"].Text + " Assigning a first one updates the computer in place. Changing it forces a new computer. Removing it from the configuration keeps it.",
		Validators:          []validator.String{value.UUID()},
		PlanModifiers: []planmodifier.String{
			stringplanmodifier.UseStateForUnknown(),
			stringplanmodifier.RequiresReplaceIf(replaceHost, "Changing a host ID that is set replaces the computer.", "Changing a host ID that is set replaces the computer."),
		},
	}
	attributes["remote_user"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["remote_user"].Text + " If omitted, the service chooses.",
		Validators:          []validator.String{value.Length(1, 63)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["repos"] = reposAttribute("computer")
	attributes["auto_install_deps"] = autoInstallDepsAttribute("computer")
	attributes["service_account_id"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "ID of the service account that owns the computer. Defaults to the owner of the API key. Requires the API key of a human with the Manager role or higher. Changing this forces a new computer.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIf(replaceOwner, "Changing this forces a new computer.", "Changing this forces a new computer.")},
	}
	attributes["source"] = originAttribute()
	attributes["wait_for_active"] = schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether creating the computer waits until it is active and fails if provisioning fails. Defaults to `true`.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A computer on which coding agents work: a managed computer that the service provisions, or a machine of your own that you register (`byom`). " +
			"Destroying it shuts down a managed computer and archives its sessions. For a registered machine, it deletes only the registration.",
		Attributes: attributes,
		Blocks: map[string]schema.Block{
			"timeouts": value.Timeouts(timeouts.Block(ctx, timeouts.Opts{
				Create: true, Delete: true,
				CreateDescription: "Maximum time to create the computer, including the wait for `active`. Defaults to `30m`.",
				DeleteDescription: "Maximum time to delete the computer. Defaults to `10m`.",
			})),
		},
	}
}

// reposAttribute and autoInstallDepsAttribute are what computers and fleets are created with.
func reposAttribute(object string) schema.ListAttribute {
	return schema.ListAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "URLs of repositories to clone, at most 20. Each must be at most 2048 characters. Changing this forces a new " + object + ". The service does not return it, so the configured value is adopted after an import.",
		Validators: []validator.List{
			listvalidator.SizeAtMost(20),
			listvalidator.ValueStringsAre(value.URI(), value.Length(0, 2048)),
		},
		PlanModifiers: []planmodifier.List{adopt.List()},
	}
}

func autoInstallDepsAttribute(object string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional:            true,
		MarkdownDescription: "Whether provisioning installs the dependencies of the repositories. Changing this forces a new " + object + ". The service does not return it, so the configured value is adopted after an import.",
		PlanModifiers:       []planmodifier.Bool{adopt.Bool()},
	}
}

func (r *computerResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = crud.IDSchema(computerResults["id"].Text)
}

func (r *computerResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m computerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(validateOrigin(ctx, m.Source)...)
	if m.ProviderType.ValueString() != client.ProviderBYOM {
		return
	}
	for name, isSet := range map[string]bool{"repos": len(m.Repos.Elements()) > 0, "auto_install_deps": value.IsSet(m.AutoInstallDeps), "source": value.IsSet(m.Source)} {
		if isSet {
			resp.Diagnostics.AddAttributeError(path.Root(name), "Only for Managed Computers",
				fmt.Sprintf("The service sets up managed computers only: remove %s, or choose a managed provider instead of %q.", name, client.ProviderBYOM))
		}
	}
}

// ModifyPlan checks the access of a new computer.
func (r *computerResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !req.State.Raw.IsNull() {
		return
	}
	var m computerModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.ServiceAccountID.IsUnknown() {
		return
	}
	err := r.Client.CheckComputers(ctx, m.ServiceAccountID.ValueString())
	resp.Diagnostics.Append(apierror.For("plan", "computer", err, computerFields)...)
}

func (r *computerResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m computerModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := m.Timeouts.Create(ctx, defaultCreateTimeout)
	resp.Diagnostics.Append(diags...)
	body, diags := m.createRequest(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock.Now().Add(timeout)
	createCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	made, err := r.Client.CreateComputer(createCtx, body)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "computer", err, computerFields)...)
		return
	}
	// Stored at once: whatever happens from here on, the computer is known.
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, made)...)
	resp.Diagnostics.Append(crud.Seen(ctx, r.Client, &m, resp.Private)...)
	if !m.WaitForActive.ValueBool() || resp.Diagnostics.HasError() {
		return
	}
	last, err := r.waitForActive(ctx, made, m.ServiceAccountID.ValueString(), deadline.Sub(r.Client.Clock.Now()))
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, last)...)
	if err != nil {
		resp.Diagnostics.Append(r.notActive(ctx, made, last, err)...)
	}
}

func (r *computerResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, r.Client, "computer", req, resp, func(m *computerModel) (*client.Computer, error) {
		found, err := r.Client.Computer(ctx, m.ID.ValueString(), m.ServiceAccountID.ValueString())
		if err == nil && adopt.Unread(ctx, req.Private) {
			err = r.Client.OwnComputer(ctx, found)
		}
		return found, err
	})
}

func (r *computerResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, "computer", req, resp, func(plan, state *computerModel) (*client.Computer, error) {
		body := plan.updateRequest(state)
		if body == (client.UpdateComputerRequest{}) {
			return nil, nil // Only attributes of the provider differ.
		}
		return r.Client.UpdateComputer(ctx, state.ID.ValueString(), state.ServiceAccountID.ValueString(), body)
	}, computerFields)
}

func (r *computerResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, r.Client, "computer", req, resp, func(m *computerModel) error {
		timeout, diags := m.Timeouts.Delete(ctx, defaultDeleteTimeout)
		resp.Diagnostics.Append(diags...)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return r.Client.DeleteComputer(ctx, m.ID.ValueString(), m.ServiceAccountID.ValueString())
	})
}

func (r *computerResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	crud.ImportByID(ctx, "computer", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", req, resp)
}

// waitForActive returns the computer as last seen, also beside an error.
func (r *computerResource) waitForActive(ctx context.Context, made *client.Computer, account string, timeout time.Duration) (*client.Computer, error) {
	watch := r.Client.WatchComputer(made.ID, account)
	defer watch.Close()
	return wait.For(ctx, r.Client.Clock, timeout, wait.Object[client.Computer]{
		Start:  made,
		Next:   watch.Next,
		Status: func(c *client.Computer) string { return c.Status },
		States: computerStates,
	})
}

// notActive explains why a computer that exists is not ready. An interruption is a warning, because an error would
// taint the computer and have the next apply replace it.
func (r *computerResource) notActive(ctx context.Context, made, last *client.Computer, err error) diag.Diagnostics {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	switch {
	case errors.As(err, &failed):
		reason := "The service gives no reason."
		if detailed, err := r.Client.WithSteps(ctx, last); err == nil {
			if step := detailed.FailedStep(); step != nil {
				reason = fmt.Sprintf("Step %q failed: %s.", step.Name, strings.TrimSuffix(step.Error, "."))
			}
		}
		return diag.Diagnostics{diag.NewErrorDiagnostic("Computer Failed to Provision",
			fmt.Sprintf("Computer %q (%s) was created, but its status is %q. %s\n\nIt is kept in the state and marked for replacement: the next apply deletes it and creates a new one.", made.Name, made.ID, failed.Status, reason))}
	case errors.As(err, &late):
		return diag.Diagnostics{diag.NewErrorDiagnostic("Computer Is Not Active in Time",
			fmt.Sprintf("Computer %q (%s) was created, but %s. Provisioning goes on at the service. The computer is kept in the state and marked for replacement; to keep it, run `terraform untaint ADDRESS`. To allow more time, raise create in the timeouts block.", made.Name, made.ID, late))}
	case errors.Is(err, context.Canceled):
		return diag.Diagnostics{diag.NewWarningDiagnostic("Interrupted Before the Computer Was Active",
			fmt.Sprintf("Computer %q (%s) was created and is kept in the state. Provisioning goes on at the service; run plan to see its status.", made.Name, made.ID))}
	}
	diags := apierror.For("wait for", "computer", err)
	diags.AddWarning("Computer Was Created", fmt.Sprintf("Computer %q (%s) was created, and whether it became active is not known. It is kept in the state and marked for replacement; to keep it, run `terraform untaint ADDRESS`.", made.Name, made.ID))
	return diags
}
