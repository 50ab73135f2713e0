package computer

import (
	"context"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ crud.ManagedResource                = (*computerResource)(nil)
	_ resource.ResourceWithValidateConfig = (*computerResource)(nil)
)

const (
	defaultCreateTimeout = 30 * time.Minute
	defaultDeleteTimeout = 10 * time.Minute
)

// NewComputerResource returns the resource agentyard_computer.
func NewComputerResource() resource.Resource {
	return &computerResource{crud.ByID{Resource: crud.Resource{Name: "computer"}, Example: "1b4e28ba-2fa1-41d2-883f-0016d3cca427"}}
}

type computerResource struct{ crud.ByID }

type computerModel struct {
	computerRecord
	Repos              types.List     `tfsdk:"repos"`
	AutoInstallDeps    types.Bool     `tfsdk:"auto_install_deps"`
	ServiceAccountID   types.String   `tfsdk:"service_account_id"`
	Source             types.Object   `tfsdk:"source"`
	WaitForActive      types.Bool     `tfsdk:"wait_for_active"`
	ReplaceFailed      types.Bool     `tfsdk:"replace_failed"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`
}

// FromImport sets the arguments that the record reveals.
func (m *computerModel) FromImport(_ context.Context, c *computers.Computer) diag.Diagnostics {
	if account := c.ServiceAccount(); account != "" && !c.IsCallers {
		m.ServiceAccountID = types.StringValue(account)
	}
	source, diags := originFromAPI(c)
	m.Source = source
	return diags
}

func (m *computerModel) Identity() any { return &crud.ID{ID: m.ID} }

// OwnerOnly reports whether only the owner's API keys can see the computer.
func (m *computerModel) OwnerOnly() bool { return m.ServiceAccountID.IsNull() }

func (m *computerModel) createRequest(ctx context.Context) (computers.CreateRequest, diag.Diagnostics) {
	source, diags := originToAPI(ctx, m.Source)
	return computers.CreateRequest{
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

// updateRequest is empty if only attributes of the provider differ.
func (m *computerModel) updateRequest(state *computerModel) computers.UpdateRequest {
	return computers.UpdateRequest{
		Name:       value.Changed(m.Name, state.Name),
		HostID:     value.Changed(m.HostID, state.HostID),
		RemoteUser: value.Changed(m.RemoteUser, state.RemoteUser),
	}
}

func (r *computerResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := computerResults.Resource()
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: computerResults["name"].Text + " The service should accept 1–63 characters, and a name only once among the owner's computers" + crud.Assumed("computer-name"),
		Validators:          []validator.String{value.Length(1, 63)},
		PlanModifiers:       []planmodifier.String{modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored.")},
	}
	attributes["provider_type"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["provider_type"].Text + " The plan checks that the organization can use it; see the data source `agentyard_computer_providers`. If omitted, the service should choose a managed one" + crud.Assumed("create-computer") + " Changing this forces a new computer.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplace()},
	}
	attributes["host_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["host_id"].Text + " Setting it for the first time updates the computer in place. Changing it later forces a new computer. Removing it keeps the current value.",
		Validators:          []validator.String{value.UUID()},
		PlanModifiers: []planmodifier.String{
			stringplanmodifier.UseStateForUnknown(),
			modifier.KeepCase(),
			stringplanmodifier.RequiresReplaceIf(replaceIfSet, "Changing this later forces a new computer.", "Changing this later forces a new computer."),
		},
	}
	attributes["remote_user"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: computerResults["remote_user"].Text + " The service should accept 1–63 characters" + crud.Assumed("remote-user") + " If omitted, the service should choose, but may refuse the computer" + crud.Assumed("create-computer-remote-user") + " Removing it keeps the current value.",
		Validators:          []validator.String{value.Length(1, 63)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored.")},
	}
	attributes["repos"] = reposAttribute("computer")
	attributes["auto_install_deps"] = autoInstallDepsAttribute("computer")
	attributes["service_account_id"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "ID of the service account that owns the computer. Defaults to the API key's owner. Changing this forces a new computer.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIf(replaceIfOtherOwner, "Changing this forces a new computer.", "Changing this forces a new computer.")},
	}
	attributes["source"] = originAttribute()
	attributes["wait_for_active"] = schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether to wait until a new computer is active, and fail if it fails to provision. If an apply ends before that, the next one waits. Defaults to `true`.",
	}
	attributes["replace_failed"] = replaceFailedAttribute("Has no effect while `deletion_protection` is `true`.")
	attributes["deletion_protection"] = crud.DeletionProtection("computer")
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a computer for coding agents: a managed computer, which the service provisions, or a registered machine (`byom`)." + ownersKey + "\n\n" +
			"~> Destroying a computer pauses its automations. A managed computer is also shut down, and its sessions are archived. Of a registered machine, only the registration is deleted.\n\n" +
			"-> Without `service_account_id`, only a member's own API keys can see their computer. See [Sharing computers](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/sharing-computers)." + crud.Concepts,
		Attributes: attributes,
		Blocks: map[string]schema.Block{
			"timeouts": value.Timeouts(map[string]string{
				"create": "Maximum time to create the computer, including the wait for `active`. Defaults to `30m`.",
				"delete": "Maximum time to delete the computer. Defaults to `10m`.",
			}),
		},
	}
}

const adopted = " The service does not return this, so the configured value is adopted after an import."

const equalURLs = "The order, repetitions, and a trailing `.git` or slash are ignored."

func reposAttribute(object string) schema.ListAttribute {
	return schema.ListAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "URLs of the repositories to clone. The service should accept at most 20 URLs of at most 2048 characters" + crud.Assumed("repos") + " " + equalURLs + " Changing this forces a new " + object + "." + adopted,
		Validators: []validator.List{
			listvalidator.SizeAtMost(20),
			listvalidator.ValueStringsAre(value.URI(), value.Length(0, 2048)),
		},
		PlanModifiers: []planmodifier.List{modifier.KeepEqualList(wire.SameURL, equalURLs), modifier.CreateOnlyList()},
	}
}

func autoInstallDepsAttribute(object string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional:            true,
		MarkdownDescription: "Whether to install the dependencies of the repositories. Changing this forces a new " + object + "." + adopted,
		PlanModifiers:       []planmodifier.Bool{modifier.CreateOnlyBool()},
	}
}

// failedBeforeUseText is what users read of FailedBeforeUse: it names the step of the client's noProof.
const failedBeforeUseText = "failed before dependencies were installed"

func replaceFailedAttribute(protection string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether to replace a computer with the status `error`. Applies only to one that this resource created, that has never been active, and that " + failedBeforeUseText + ". " + protection + " Defaults to `true`.",
	}
}

func (r *computerResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m computerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(validateOrigin(ctx, m.Source)...)
}

func (r *computerResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var deadline time.Time
	m, made := crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *computerModel) (*computers.Computer, error) {
		body, diags := m.createRequest(ctx)
		createCtx, stop, until, problems := crud.WithTimeout(ctx, r.Client, m.Timeouts.Create, defaultCreateTimeout)
		defer stop()
		if err := crud.Failure(append(diags, problems...)); err != nil {
			return nil, err
		}
		deadline = until
		made, err := r.Client.Computers.Create(createCtx, body)
		return made, crud.Explained(err, m.createOptions(body))
	})
	if made == nil {
		return
	}
	last := made
	if m.WaitForActive.ValueBool() {
		var err error
		last, _, err = waitForActive(ctx, r.Client, made, m.ServiceAccountID.ValueString(), deadline.Sub(r.Client.Conn.Clock.Now()))
		resp.Diagnostics.Append(crud.StoreAsPlanned(ctx, &resp.State, resp.Identity, req.Plan.Raw, m, last)...)
		if err != nil {
			resp.Diagnostics.Append(m.newNotActive(last, err)...)
		}
	}
	resp.Diagnostics.Append(recordLives(ctx, resp.Private, map[string]life{made.ID: life{neverActive: true}.after(last)})...)
	if resp.Diagnostics.HasError() {
		// The computer is tainted, and a protected one could not be replaced.
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("deletion_protection"), false)...)
	}
}

func (r *computerResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *computerModel) (*computers.Computer, error) {
		found, err := r.Client.Computers.Get(ctx, m.ID.ValueString(), m.ServiceAccountID.ValueString())
		if err != nil {
			return nil, err
		}
		found = withSteps(ctx, r.Client, found, m.ServiceAccountID.ValueString())
		seen := lives(ctx, req.Private)[found.ID].after(found)
		resp.Diagnostics.Append(recordLives(ctx, resp.Private, map[string]life{found.ID: seen})...)
		resp.Diagnostics.Append(m.warnOfFailure(found, seen.failedBeforeUse)...)
		if privatestate.IsImportUnread(ctx, req.Private) {
			err = r.Client.Computers.CompleteOwner(ctx, found)
		}
		return found, err
	})
}

// ReadIsUnchanged implements crud.Shortcut: Read would store what the state has, and say nothing.
func (r *computerResource) ReadIsUnchanged(ctx context.Context, state *crud.RawObject) bool {
	found := r.Client.Computers.Peek(ctx, state.String("id"), state.String("service_account_id"))
	return found != nil && state.IsAtRest() && !found.HasFailed() && crud.HasValuesOf(ctx, state, computerResults, found)
}

// Update changes the computer, and then waits for one that an earlier apply left while it was set up, as the plan shows.
func (r *computerResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var known computers.Computer
	m := crud.Update(ctx, &r.Resource, req, resp, func(plan, state *computerModel) (*computers.Computer, error) {
		known = computers.Computer{ID: state.ID.ValueString(), Name: state.Name.ValueString(), Status: state.Status.ValueString()}
		body := plan.updateRequest(state)
		if body == (computers.UpdateRequest{}) {
			return nil, nil
		}
		updated, err := r.Client.Computers.Update(ctx, known.ID, state.ServiceAccountID.ValueString(), body)
		return updated, crud.Explained(err, updateOptions(body))
	})
	seen := lives(ctx, req.Private)[known.ID]
	if m == nil || !m.WaitForActive.ValueBool() || !seen.isUnfinished(known.Status) {
		return
	}
	timeout, diags := m.Timeouts.Create(ctx, defaultCreateTimeout) // The wait is the rest of the creation.
	resp.Diagnostics.Append(diags...)
	last, isSeen, err := waitForActive(ctx, r.Client, &known, m.ServiceAccountID.ValueString(), timeout)
	if isSeen {
		resp.Diagnostics.Append(crud.StoreAsPlanned(ctx, &resp.State, resp.Identity, req.Plan.Raw, m, last)...)
		resp.Diagnostics.Append(recordLives(ctx, resp.Private, map[string]life{known.ID: seen.after(last)})...)
	}
	if err != nil {
		resp.Diagnostics.Append(m.stillNotActive(last, err)...)
	}
}

func (r *computerResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *computerModel) error {
		ctx, stop, _, diags := crud.WithTimeout(ctx, r.Client, m.Timeouts.Delete, defaultDeleteTimeout)
		defer stop()
		resp.Diagnostics.Append(diags...)
		return r.Client.Computers.Delete(ctx, m.ID.ValueString(), m.ServiceAccountID.ValueString())
	})
}
