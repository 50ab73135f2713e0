package computer

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*fleetResource)(nil)

const (
	defaultFleetTimeout       = 60 * time.Minute
	defaultFleetDeleteTimeout = 30 * time.Minute
)

// withoutSlash excludes the separator of an import ID.
var withoutSlash = regexp.MustCompile(`^[^/\s]*$`)

// NewComputerFleetResource returns the resource agentyard_computer_fleet.
func NewComputerFleetResource() resource.Resource {
	// A fleet that was imported with its account's own key adopts the account, which changes the identity.
	return &fleetResource{crud.Resource{Name: "computer_fleet", MutableIdentity: true}}
}

// fleetResource manages computers that share a name prefix. The IDs in the state decide which computers belong to the fleet.
// A computer that only has such a name is never counted or deleted, and nothing is created while one exists: an interrupted
// run may have created it.
type fleetResource struct{ crud.Resource }

type fleetModel struct {
	ID                 types.String   `tfsdk:"id"`
	NamePrefix         types.String   `tfsdk:"name_prefix"`
	Quantity           types.Int64    `tfsdk:"quantity"`
	ProviderType       types.String   `tfsdk:"provider_type"`
	Repos              types.List     `tfsdk:"repos"`
	AutoInstallDeps    types.Bool     `tfsdk:"auto_install_deps"`
	ServiceAccountID   types.String   `tfsdk:"service_account_id"`
	WaitForActive      types.Bool     `tfsdk:"wait_for_active"`
	ReplaceFailed      types.Bool     `tfsdk:"replace_failed"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	Computers          types.Map      `tfsdk:"computers"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`
}

type fleetIdentity struct {
	NamePrefix       types.String `tfsdk:"name_prefix"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

func (m *fleetModel) Identity() any {
	return &fleetIdentity{NamePrefix: m.NamePrefix, ServiceAccountID: m.ServiceAccountID}
}

// OwnerOnly reports whether only the owner's API keys can see the computers.
func (m *fleetModel) OwnerOnly() bool { return m.ServiceAccountID.IsNull() }

func (m *fleetModel) createRequest(quantity int) computers.BulkCreateRequest {
	return computers.BulkCreateRequest{
		Quantity:         quantity,
		NamePrefix:       m.NamePrefix.ValueString(),
		Provider:         m.ProviderType.ValueString(),
		Repos:            value.Strings(m.Repos),
		AutoInstallDeps:  value.BoolPointer(m.AutoInstallDeps),
		ServiceAccountID: m.ServiceAccountID.ValueString(),
	}
}

func (m *fleetModel) importID() string {
	return strings.TrimPrefix(m.ServiceAccountID.ValueString()+"/"+m.NamePrefix.ValueString(), "/")
}

func (r *fleetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a fleet of identical managed computers, named `<name_prefix>-<number>`. Changing `quantity` creates or deletes computers in place." + ownersKey + "\n\n" +
			"~> Deleting computers of the fleet pauses their automations, shuts them down, and archives their sessions.\n\n" +
			"**Missing computers.** A computer that no longer exists, or that the service did not create, has `status = \"missing\"`. The next apply creates it. " +
			"If the service creates too few computers, the creation of the fleet warns, and an update fails. To fail in both cases, add a `postcondition` as in the example.\n\n" +
			"**Failed computers.** If a new computer does not become active, the creation of the fleet warns, and an update fails. " +
			"The creation only warns, because after an error the next apply would replace the whole fleet. The next apply waits for computers that are still provisioning. It replaces only computers that were never active and " + failedBeforeUseText + "; see `replace_failed`.\n\n" +
			"**Renamed computers.** If a computer is renamed elsewhere, its key in `computers` does not change.\n\n" +
			"**Numbers.** The service uses the lowest free numbers, which should begin with 1" + crud.Assumed("bulk-create-computers") + "\n\n" +
			"**Other computers with the same prefix.** The fleet includes only computers that it created or imported. " +
			"While another computer is named `<name_prefix>-<number>`, the fleet creates no computers, and an error names that computer. Importing the fleet includes all computers with such a name.\n\n" +
			"-> Without `service_account_id`, only a member's own API keys can see their fleet. See [Sharing computers](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/sharing-computers)." + crud.Concepts,
		Attributes: map[string]schema.Attribute{
			"id": crud.IDAttribute("The import ID: `name_prefix`, or `service_account_id/name_prefix` if the fleet has a service account."),
			"name_prefix": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Prefix of the computers' names. Must be 1–61 characters. The service should accept " + prefixRule + crud.Assumed("bulk-create-computers-name-prefix") + " Changing this forces a new fleet.",
				Validators:          []validator.String{value.Length(1, 61)},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"quantity": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "Number of computers. Must be at least 0. Lowering it deletes failed computers first (see `replace_failed`), then those with the highest numbers.",
				Validators:          []validator.Int64{value.AtLeast(0)},
			},
			"provider_type": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "ID of the managed provider. Must not be `byom`. The plan checks that the organization can use it; see the data source `agentyard_computer_providers`. If omitted, the service should choose. Changing this forces a new fleet.",
				Validators:          []validator.String{value.NotEmpty(), value.Except(computers.ProviderBYOM, "Use agentyard_computer to register a machine.")},
				PlanModifiers: []planmodifier.String{
					stringplanmodifier.UseNonNullStateForUnknown(),
					stringplanmodifier.RequiresReplaceIf(replaceIfSet, "Changing this forces a new fleet.", "Changing this forces a new fleet."),
				},
			},
			"repos":             reposAttribute("fleet"),
			"auto_install_deps": autoInstallDepsAttribute("fleet"),
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the service account that owns the computers. Defaults to the API key's owner. Changing this forces a new fleet.",
				Validators:          []validator.String{value.NotEmpty(), value.Where("must not contain slashes or whitespace", withoutSlash.MatchString)},
				PlanModifiers:       []planmodifier.String{modifier.CreateOnlyString()},
			},
			"wait_for_active": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Whether to wait until new computers are active. If an apply ends before that, the next one waits. Defaults to `true`.",
			},
			"replace_failed":      replaceFailedAttribute("`deletion_protection` does not prevent it."),
			"deletion_protection": crud.DeletionProtection("fleet"),
			"computers": schema.MapNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The computers, by the name that the fleet gave them. Has exactly `quantity` keys, which are known in every plan.",
				NestedObject:        schema.NestedAttributeObject{Attributes: fleetComputerResults.Elements()},
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": value.Timeouts(map[string]string{
				"create": "Maximum time to create the fleet, including the wait for `active`. Defaults to `60m`.",
				"update": "Maximum time to update the fleet, including the wait for `active`. Defaults to `60m`.",
				"delete": "Maximum time to delete the fleet. Defaults to `30m`.",
			}),
		},
	}
}

func (r *fleetResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name_prefix":        identityschema.StringAttribute{RequiredForImport: true, Description: "Prefix of the computers' names."},
		"service_account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "ID of the service account that owns the computers. Defaults to the API key's owner."},
	}}
}

func (r *fleetResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	createCtx, stop, deadline, diags := crud.WithTimeout(ctx, r.Client, m.Timeouts.Create, defaultFleetTimeout)
	defer stop()
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	quantity := int(m.Quantity.ValueInt64())
	createCtx, warnOfFound := crud.WithFound(createCtx)
	made, err := r.Client.Computers.CreateFleet(createCtx, m.createRequest(quantity), nil)
	resp.Diagnostics.Append(warnOfFound()...)
	if err != nil && len(made) == 0 {
		resp.Diagnostics.Append(apierror.For("create", "computer fleet", err, m.options(""))...)
		return
	}
	m.ID = types.StringValue(m.importID())
	m.setProviderType(made)
	members, diags := m.newMembers(ctx, nil, quantity, made)
	resp.Diagnostics.Append(diags...)
	save := func() {
		missing := newNames(m.NamePrefix.ValueString(), members, quantity-len(members))
		resp.Diagnostics.Append(m.store(ctx, members, missing, &resp.State, resp.Identity, resp.Private)...)
	}
	save()
	resp.Diagnostics.Append(crud.RecordReader(ctx, r.Client, resp.Private)...)
	// From here on, failures are warnings: an error would taint the fleet, and the next apply would replace all computers.
	if err != nil {
		resp.Diagnostics.AddWarning(m.shortfall(quantity, len(made), err))
	}
	if !resp.Diagnostics.HasError() {
		notActive, diags := r.waitForMembers(ctx, members, &m, deadline) // Not createCtx: the wait looks once more at the deadline.
		resp.Diagnostics.Append(diags...)
		for _, d := range notActive {
			resp.Diagnostics.AddWarning(d.Summary(), d.Detail())
		}
		save()
	}
}

// Read refreshes the computers in the state. After an import, it finds every computer with the prefix.
func (r *fleetResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	prior, missing, diags := m.computersInState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	var found []computers.Computer
	var err error
	if privatestate.IsImportUnread(ctx, resp.Private) {
		found, err = r.Client.Computers.ListFleet(ctx, m.NamePrefix.ValueString(), m.ServiceAccountID.ValueString())
		if err == nil && len(found) == 0 {
			crud.HandleGone(ctx, &r.Resource, &m, resp)
			return
		}
	} else {
		found, err = r.Client.Computers.GetMany(ctx, m.ServiceAccountID.ValueString(), memberIDs(prior))
	}
	if err != nil {
		crud.HandleFailedRead(ctx, &r.Resource, &m, err, resp)
		return
	}
	members, diags := membersFromAPI(ctx, found, prior)
	resp.Diagnostics.Append(diags...)
	lost := without(prior, members)
	caution := ""
	if len(lost) > 0 && len(lost) == len(prior) {
		caution, diags = r.checkAllLost(ctx, "read", &m, resp.Private)
		if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
			return
		}
	}
	resp.Diagnostics.Append(m.missingFrom(len(prior)+len(missing), lost, caution)...)
	resp.Diagnostics.Append(m.failedComputers(found, members)...)
	m.setProviderType(found)
	resp.Diagnostics.Append(m.store(ctx, members, append(missing, memberNames(lost)...), &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(crud.RecordReader(ctx, r.Client, resp.Private)...)
	resp.Diagnostics.Append(privatestate.MarkImportRead(ctx, resp.Private)...)
}

// checkAllLost returns an error if all computers are missing that are only invisible to this API key, or else a caution if another key last
// read them.
func (r *fleetResource) checkAllLost(ctx context.Context, verb string, m *fleetModel, private privatestate.State) (caution string, diags diag.Diagnostics) {
	return crud.OtherOrganization(ctx, r.Client, private), crud.NotVisibleError(ctx, &r.Resource, verb, m.importID(), m, private)
}

// Update deletes what the plan shows, creates what is missing, and waits.
func (r *fleetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, state fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	present, _, diags := state.computersInState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	updateCtx, stop, deadline, diags := crud.WithTimeout(ctx, r.Client, m.Timeouts.Update, defaultFleetTimeout)
	defer stop()
	resp.Diagnostics.Append(diags...)
	change := m.changeFor(present)
	resp.Diagnostics.Append(r.stillFailed(updateCtx, &m, change.failed)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m.ID = types.StringValue(m.importID())

	// 1. Delete first: the service uses the lowest free numbers.
	kept, diags := r.remove(updateCtx, slices.Concat(change.failed, change.surplus), &m, req.Private)
	resp.Diagnostics.Append(diags...)
	stay := slices.Concat(change.stay, kept)

	// 2. Create what is missing.
	var added []fleetMember
	if !resp.Diagnostics.HasError() {
		added, diags = r.add(updateCtx, change.toCreate, stay, &m)
		resp.Diagnostics.Append(diags...)
	}
	if resp.Diagnostics.HasError() && len(added) == 0 && len(stay) == len(present) {
		return // Nothing changed.
	}

	// 3. Wait for the new computers, and for those that an earlier apply left. The wait changes members in place. Stay still has what the plan
	// showed.
	members := slices.Concat(stay, added)
	if len(added) > 0 || !resp.Diagnostics.HasError() {
		notActive, diags := r.waitForMembers(ctx, members, &m, deadline) // Not updateCtx: the wait looks once more at the deadline.
		resp.Diagnostics.Append(diags...)
		resp.Diagnostics.Append(notActive...)
	}
	for i := range stay {
		members[i].keepKnown(stay[i].provisionedResults)
	}

	// 4. Store.
	missing := newNames(m.NamePrefix.ValueString(), members, int(m.Quantity.ValueInt64())-len(members))
	resp.Diagnostics.Append(m.store(ctx, members, missing, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(privatestate.ForgetImport(ctx, resp.Private)...)
}

func (r *fleetResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	members, _, diags := m.computersInState(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	ctx, stop, _, diags := crud.WithTimeout(ctx, r.Client, m.Timeouts.Delete, defaultFleetDeleteTimeout)
	defer stop()
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	kept, diags := r.remove(ctx, members, &m, req.Private)
	resp.Diagnostics.Append(diags...)
	if len(kept) > 0 {
		resp.Diagnostics.Append(m.store(ctx, kept, nil, &resp.State, resp.Identity, resp.Private)...)
	}
}

func (r *fleetResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var m fleetModel
	var identity fleetIdentity
	if crud.IdentityOf(ctx, req, &identity, &resp.Diagnostics) {
		m.NamePrefix, m.ServiceAccountID = identity.NamePrefix, identity.ServiceAccountID
	} else {
		account, prefix, found := strings.Cut(req.ID, "/")
		if !found {
			account, prefix = "", req.ID
		}
		if prefix == "" || found && account == "" || account == "." || account == ".." || !withoutSlash.MatchString(prefix) {
			resp.Diagnostics.AddError("Invalid import ID", fmt.Sprintf("The import ID of a computer fleet is name_prefix, such as build, or service_account_id/name_prefix, such as ACCOUNT_ID/build, not %q.", req.ID))
			return
		}
		m.NamePrefix, m.ServiceAccountID = types.StringValue(prefix), value.StringOrNull(account)
	}
	for name, v := range map[string]any{"id": m.importID(), "name_prefix": m.NamePrefix, "service_account_id": m.ServiceAccountID} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), v)...)
	}
	resp.Diagnostics.Append(privatestate.MarkImported(ctx, resp.Private)...)
}

// add creates computers. It returns those that were created, also with an error.
func (r *fleetResource) add(ctx context.Context, count int, stay []fleetMember, m *fleetModel) (added []fleetMember, diags diag.Diagnostics) {
	ctx, warnOfFound := crud.WithFound(ctx)
	made, err := r.Client.Computers.CreateFleet(ctx, m.createRequest(count), memberIDs(stay))
	diags.Append(warnOfFound()...)
	switch {
	case err != nil && len(made) == 0:
		diags.Append(apierror.For("scale up", "computer fleet", err, m.options(fromState))...)
	case err != nil:
		diags.AddError(m.shortfall(len(stay)+count, len(stay)+len(made), err))
	}
	m.setProviderType(made)
	added, problems := m.newMembers(ctx, stay, count, made)
	return added, append(diags, problems...)
}

// remove deletes computers. It returns those that it could not delete, with the first error.
func (r *fleetResource) remove(ctx context.Context, members []fleetMember, m *fleetModel, private privatestate.State) ([]fleetMember, diag.Diagnostics) {
	errs := r.Client.Computers.DeleteMany(ctx, memberIDs(members), m.ServiceAccountID.ValueString())
	isAnyFound := slices.ContainsFunc(errs, func(err error) bool { return !collection.IsGone(err) })
	if len(errs) > 0 && !isAnyFound { // The caution is for a refresh: nothing remains to warn of.
		if _, hidden := r.checkAllLost(ctx, "delete", m, private); hidden.HasError() {
			return members, hidden
		}
	}
	var kept []fleetMember
	var diags diag.Diagnostics
	var first error
	for i, err := range errs {
		if err != nil && !collection.IsGone(err) {
			kept, first = append(kept, members[i]), cmp.Or(first, err)
		}
	}
	for _, d := range apierror.For("delete", "computers of the fleet", first) {
		diags.AddError(d.Summary(), fmt.Sprintf("Not deleted: %s. %s\n\nThese computers are kept in the state. The next apply tries again.", phrase.Names(memberNames(kept), phrase.MaxNamed), d.Detail()))
	}
	return kept, diags
}
