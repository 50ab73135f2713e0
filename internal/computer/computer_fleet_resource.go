package computer

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ resource.ResourceWithConfigure   = (*fleetResource)(nil)
	_ resource.ResourceWithIdentity    = (*fleetResource)(nil)
	_ resource.ResourceWithImportState = (*fleetResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*fleetResource)(nil)
)

const (
	defaultFleetTimeout       = 60 * time.Minute
	defaultFleetDeleteTimeout = 30 * time.Minute
)

// withoutSlash keeps an account apart from a prefix in an import ID.
var withoutSlash = regexp.MustCompile(`^[^/\s]*$`)

// prefixPattern and its 58 characters, which leave room for the suffix within a name's 63, are an assumption of the contract.
var prefixPattern = regexp.MustCompile(`^[a-z](?:[a-z0-9-]*[a-z0-9])?$`)

// fleetFields says where an error about a field of the API is shown.
var fleetFields = apierror.Fields{
	"namePrefix": path.Root("name_prefix"), "quantity": path.Root("quantity"), "provider": path.Root("provider_type"),
	"repos": path.Root("repos"), "autoInstallDeps": path.Root("auto_install_deps"), "serviceAccountId": path.Root("service_account_id"),
}

// NewComputerFleetResource returns the resource agentyard_computer_fleet.
func NewComputerFleetResource() resource.Resource { return &fleetResource{} }

// fleetResource manages computers that share a prefix of their names. Membership goes by the IDs in the state and never
// by name: a computer that merely bears such a name cannot be proven to be the fleet's own, so it is neither counted nor
// deleted. As it would be one if an interrupted run had made it, nothing is created beside it: Create and Update stop
// and name it, Read warns. An import, where somebody says so, takes all of the name.
type fleetResource struct{ crud.Resource }

type fleetModel struct {
	ID               types.String   `tfsdk:"id"`
	NamePrefix       types.String   `tfsdk:"name_prefix"`
	Quantity         types.Int64    `tfsdk:"quantity"`
	ProviderType     types.String   `tfsdk:"provider_type"`
	Repos            types.List     `tfsdk:"repos"`
	AutoInstallDeps  types.Bool     `tfsdk:"auto_install_deps"`
	ServiceAccountID types.String   `tfsdk:"service_account_id"`
	WaitForActive    types.Bool     `tfsdk:"wait_for_active"`
	ReplaceFailed    types.Bool     `tfsdk:"replace_failed"`
	Computers        types.List     `tfsdk:"computers"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

type fleetIdentity struct {
	NamePrefix       types.String `tfsdk:"name_prefix"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

// FromAPI takes over the fleet's computers, and with them the provider where the service chose it.
func (m *fleetModel) FromAPI(ctx context.Context, computers *[]client.Computer) diag.Diagnostics {
	records, diags := crud.Each[computerRecord](ctx, *computers)
	diags.Append(m.setRecords(ctx, records)...)
	return diags
}

// Identity is the prefix and, where it is not the key's own, the account.
func (m *fleetModel) Identity() any {
	return &fleetIdentity{NamePrefix: m.NamePrefix, ServiceAccountID: m.ServiceAccountID}
}

// OwnerOnly reports that only the owner's API keys see the computers.
func (m *fleetModel) OwnerOnly() bool { return m.ServiceAccountID.IsNull() }

// setRecords stores the computers in the fleet's order.
func (m *fleetModel) setRecords(ctx context.Context, records []computerRecord) diag.Diagnostics {
	inOrder(m.NamePrefix.ValueString(), records)
	list, diags := types.ListValueFrom(ctx, computerType, records)
	m.Computers = list
	if !value.IsSet(m.ProviderType) {
		m.ProviderType = types.StringNull()
		if len(records) > 0 {
			m.ProviderType = records[0].ProviderType
		}
	}
	return diags
}

// inOrder sorts computers by the numbers in their names. One that was renamed has none and comes last.
func inOrder(prefix string, records []computerRecord) {
	slices.SortStableFunc(records, func(a, b computerRecord) int {
		na, oka := client.FleetSuffix(prefix, a.Name.ValueString())
		nb, okb := client.FleetSuffix(prefix, b.Name.ValueString())
		switch {
		case oka && okb:
			return client.CompareSuffixes(na, nb)
		case oka:
			return -1
		case okb:
			return 1
		}
		return strings.Compare(a.Name.ValueString(), b.Name.ValueString())
	})
}

// records are the computers that the state holds.
func (m *fleetModel) records(ctx context.Context) ([]computerRecord, diag.Diagnostics) {
	var records []computerRecord
	if !value.IsSet(m.Computers) {
		return nil, nil
	}
	diags := m.Computers.ElementsAs(ctx, &records, false)
	return records, diags
}

func recordIDs(records []computerRecord) []string {
	ids := make([]string, len(records))
	for i := range records {
		ids[i] = records[i].ID.ValueString()
	}
	return ids
}

func computerIDs(computers []client.Computer) []string {
	ids := make([]string, len(computers))
	for i := range computers {
		ids[i] = computers[i].ID
	}
	return ids
}

func (m *fleetModel) createRequest(quantity int) client.BulkCreateRequest {
	return client.BulkCreateRequest{
		Quantity:         quantity,
		NamePrefix:       m.NamePrefix.ValueString(),
		Provider:         m.ProviderType.ValueString(),
		Repos:            value.Strings(m.Repos),
		AutoInstallDeps:  value.BoolPointer(m.AutoInstallDeps),
		ServiceAccountID: m.ServiceAccountID.ValueString(),
	}
}

// importID is the ID of a fleet: its prefix, behind its account where it has one.
func (m *fleetModel) importID() string {
	if account := m.ServiceAccountID.ValueString(); account != "" {
		return account + "/" + m.NamePrefix.ValueString()
	}
	return m.NamePrefix.ValueString()
}

func (r *fleetResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_fleet"
	// A fleet that was imported with its account's own key adopts the account, which is part of its identity.
	resp.ResourceBehavior = resource.ResourceBehavior{MutableIdentity: true}
}

func (r *fleetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Any number of identical managed computers, named `<name_prefix>-<number>` by the service with the lowest free numbers. " +
			"A change of `quantity` makes only what is missing, or deletes from the end of `computers`, in place. The plan names what is deleted, and says how many computers go with a fleet that is destroyed or replaced; " +
			"only where `-replace` or a taint replaces it, the CLIs show no such warning.\n\n" +
			"**Fewer computers than wanted.** If the service stops early while the fleet is created, the fleet is stored with what there is, a warning says how many are missing and why, and the next apply makes up the rest; " +
			"while it is updated the same is an error. A computer that is deleted elsewhere is planned again. To fail a run that ends short, and to stop what depends on the fleet, add a `postcondition` as in the example: unlike an error of the provider it does not mark the fleet for replacement.\n\n" +
			"**Computers that do not become active** are reported, with the step that failed: as a warning while the fleet is created, as an error while it is updated, and in every refresh. " +
			"One whose provisioning has failed is replaced by the next apply, whose plan names it; see `replace_failed`. One that may have been active before, or that was imported, is only reported: delete it at the service, and the next apply makes another.\n\n" +
			"**The names belong to the fleet.** The fleet consists of the computers that this resource has made or imported. Another computer named `<name_prefix>-<number>` is reported as a warning and never counted, changed or deleted; " +
			"nothing is created while there is one, since an interrupted run may have left it. Then delete it, or import the fleet, which takes every computer of these names.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "The import ID: `name_prefix`, or `service_account_id/name_prefix`.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"name_prefix": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "The start of the computers' names, to which the service adds a hyphen and a number: 1 to 58 lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen. A change replaces the fleet.",
				Validators: []validator.String{
					value.Length(1, 58),
					stringvalidator.RegexMatches(prefixPattern, "must be lower-case letters, digits and hyphens, start with a letter and not end in a hyphen"),
				},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"quantity": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "How many computers there are to be, 0 or more. Lowering it deletes from the end of `computers`: those renamed elsewhere first, then the highest numbers. Computers that `replace_failed` replaces go before all others.",
				Validators:          []validator.Int64{int64validator.AtLeast(0)},
			},
			"provider_type": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Identifier of the managed provider; `byom` is not possible. The data source `agentyard_computer_providers` lists what is available. If omitted, the service chooses. A change replaces the fleet.",
				Validators:          []validator.String{value.NotEmpty(), value.Except(client.ProviderBYOM, "register machines of one's own with the resource agentyard_computer")},
				PlanModifiers: []planmodifier.String{
					stringplanmodifier.UseNonNullStateForUnknown(),
					stringplanmodifier.RequiresReplaceIf(replaceProvider, "A change replaces the fleet.", "A change replaces the fleet."),
				},
			},
			"repos":             reposAttribute("fleet"),
			"auto_install_deps": autoInstallDepsAttribute("fleet"),
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the service account that owns the computers; the owner of the API key if omitted. Needs the key of a human with the Manager role or higher. A change replaces the fleet.",
				Validators:          []validator.String{value.NotEmpty(), stringvalidator.RegexMatches(withoutSlash, "must not contain a slash or white space")},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIf(replaceFleetOwner, "A change replaces the fleet.", "A change replaces the fleet.")},
			},
			"wait_for_active": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Whether an apply waits until the computers that it makes are active. Default `true`.",
			},
			"replace_failed": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Whether the next apply replaces computers whose provisioning has failed: those with the status `error` that this resource has made and that are known never to have been active. Default `true`.",
			},
			"computers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The computers, in the order of the numbers in their names; one that was renamed elsewhere comes last. A plan shows those that stay, and each new one as unknown.",
				NestedObject:        schema.NestedAttributeObject{Attributes: computerResults.Elements()},
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{
				Create: true, Update: true, Delete: true,
				CreateDescription: "How long creating may take, with the wait for `active`, such as `60m` (the default).",
				UpdateDescription: "How long changing the quantity may take, with the wait for `active`, such as `60m` (the default).",
				DeleteDescription: "How long deleting may take, such as `30m` (the default).",
			}),
		},
	}
}

func (r *fleetResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name_prefix":        identityschema.StringAttribute{RequiredForImport: true, Description: "The start of the computers' names."},
		"service_account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "ID of the service account that owns the computers; the owner of the API key if omitted."},
	}}
}

// maxNamed bounds how many computers a message names, and maxDeleted how many a plan does that deletes them.
const (
	maxNamed   = 20
	maxDeleted = 100
)

func namesOf(records []computerRecord) []string {
	names := make([]string, len(records))
	for i := range records {
		names[i] = records[i].Name.ValueString()
	}
	return names
}

func (r *fleetResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := m.Timeouts.Create(ctx, defaultFleetTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock().Now().Add(timeout)
	createCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	quantity := int(m.Quantity.ValueInt64())
	made, err := r.Client.CreateFleet(createCtx, m.createRequest(quantity), nil)
	if err != nil && len(made) == 0 {
		resp.Diagnostics.Append(fleetError("create", err, &m, false)...)
		return
	}
	// Stored at once: whatever happens from here on, the computers are known. From here on nothing is an error, because
	// an error would taint the fleet, and the next apply would replace all of it.
	m.ID = types.StringValue(m.importID())
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, &made)...)
	resp.Diagnostics.Append(crud.Seen(ctx, r.Client, &m, resp.Private)...)
	known := newComputers{}
	known.add(made)
	resp.Diagnostics.Append(known.store(ctx, resp.Private, computerIDs(made))...)
	if err != nil {
		summary, detail := shortfall(quantity, len(made), err, &m)
		resp.Diagnostics.AddWarning(summary, detail)
	}
	if !m.WaitForActive.ValueBool() || resp.Diagnostics.HasError() {
		return
	}
	last, inactive := r.waitForActive(ctx, made, &m, deadline.Sub(r.Client.Clock().Now()))
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, &last)...)
	known.add(last)
	resp.Diagnostics.Append(known.store(ctx, resp.Private, computerIDs(last))...)
	if inactive != nil {
		resp.Diagnostics.AddWarning(inactive.summary, inactive.detail+keptInactive(&m))
	}
}

// Read takes over what exists of the computers in the state. After an import the state holds none yet, and every
// computer of the fleet's names is taken. Otherwise a fleet is never gone: without computers it is one to fill up.
func (r *fleetResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	prior, diags := m.records(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	imported := adopt.Unread(ctx, resp.Private)
	fleet, err := r.Client.Fleet(ctx, m.NamePrefix.ValueString(), ownerOf(prior, m.ServiceAccountID), recordIDs(prior))
	if err != nil {
		crud.Unreadable(ctx, r.Client, "computer fleet", &m, err, resp)
		return
	}
	members := fleet.Members
	if imported {
		members = fleet.Others
	}
	if imported && len(members) == 0 {
		crud.Gone(ctx, r.Client, "computer fleet", &m, resp)
		return
	}
	if !imported && len(fleet.Others) > 0 {
		others := &client.OthersError{Prefix: m.NamePrefix.ValueString(), Found: fleet.Others}
		resp.Diagnostics.Append(outsideOfFleet(others, &m))
	}
	if !imported && len(members) == 0 && len(prior) > 0 {
		resp.Diagnostics.Append(crud.NotVisible(ctx, r.Client, "read", "computer fleet", m.importID(), &m, resp.Private)...)
		if resp.Diagnostics.HasError() {
			return
		}
	}
	if !imported && len(members) < len(prior) {
		resp.Diagnostics.Append(goneFromFleet(fleet, prior, &m))
	}
	known, diags := getNew(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	known.see(members)
	resp.Diagnostics.Append(known.store(ctx, resp.Private, computerIDs(members))...)
	resp.Diagnostics.Append(brokenInFleet(members, &m)...)
	m.Quantity = types.Int64Value(int64(len(members)))
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, &members)...)
	resp.Diagnostics.Append(crud.Seen(ctx, r.Client, &m, resp.Private)...)
	resp.Diagnostics.Append(adopt.Read(ctx, resp.Private)...)
}

// ownerOf says whose the fleet's computers are, as far as the state knows it.
func ownerOf(records []computerRecord, account types.String) client.ComputerOwner {
	if len(records) == 0 {
		return client.ComputerOwner{Account: account.ValueString()}
	}
	return records[0].owner(account)
}

// Update deletes what the plan said, and then makes what is missing: the numbers of what was deleted are free again.
func (r *fleetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, state fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	present, diags := state.records(ctx)
	resp.Diagnostics.Append(diags...)
	known, diags := getNew(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	timeout, diags := m.Timeouts.Update(ctx, defaultFleetTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock().Now().Add(timeout)
	updateCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	planned := m.Computers
	save := func(records []computerRecord) {
		if resp.Diagnostics.HasError() {
			// The state says what is there, so that the next plan shows what is missing.
			m.Quantity = types.Int64Value(int64(len(records)))
		}
		resp.Diagnostics.Append(m.setRecords(ctx, records)...)
		if !resp.Diagnostics.HasError() {
			m.Computers = asPlanned(m.Computers, planned)
		}
		resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
		resp.Diagnostics.Append(known.store(ctx, resp.Private, recordIDs(records))...)
		// The state that was saved holds what was adopted, also where not all computers were made.
		resp.Diagnostics.Append(adopt.Done(ctx, resp.Private)...)
	}
	m.ID = types.StringValue(m.importID())

	change := m.change(present, known)
	if len(change.failed) > 0 {
		if resp.Diagnostics.Append(r.stillFailed(updateCtx, change, present, &m)...); resp.Diagnostics.HasError() {
			return
		}
	}
	undeleted, diags := r.remove(updateCtx, slices.Concat(change.failed, change.surplus), &m, req.Private)
	resp.Diagnostics.Append(diags...)
	stay := slices.Concat(change.stay, undeleted)
	if change.missing == 0 || resp.Diagnostics.HasError() {
		save(stay)
		return
	}
	made, err := r.Client.CreateFleet(updateCtx, m.createRequest(change.missing), recordIDs(stay))
	if err != nil && len(made) == 0 {
		resp.Diagnostics.Append(fleetError("scale up", err, &m, true)...)
		if len(stay) < len(present) {
			save(stay)
		}
		return
	}
	if err != nil {
		summary, detail := shortfall(len(stay)+change.missing, len(stay)+len(made), err, &m)
		resp.Diagnostics.AddError(summary, detail)
	}
	last := made
	var inactive *problem
	if m.WaitForActive.ValueBool() {
		last, inactive = r.waitForActive(ctx, made, &m, deadline.Sub(r.Client.Clock().Now()))
	}
	switch {
	case inactive != nil && inactive.interrupted:
		resp.Diagnostics.AddWarning(inactive.summary, inactive.detail+keptInactive(&m))
	case inactive != nil:
		resp.Diagnostics.AddError(inactive.summary, inactive.detail+keptInactive(&m))
	}
	added, diags := crud.Each[computerRecord](ctx, last)
	resp.Diagnostics.Append(diags...)
	known.add(last)
	save(slices.Concat(stay, added))
}

func (r *fleetResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	records, diags := m.records(ctx)
	resp.Diagnostics.Append(diags...)
	timeout, diags := m.Timeouts.Delete(ctx, defaultFleetDeleteTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	kept, diags := r.remove(ctx, records, &m, req.Private)
	resp.Diagnostics.Append(diags...)
	if len(kept) == 0 {
		return
	}
	m.Quantity = types.Int64Value(int64(len(kept)))
	resp.Diagnostics.Append(m.setRecords(ctx, kept)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// ImportState sets what names the fleet; the Read that follows takes all computers of the name.
func (r *fleetResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var m fleetModel
	if req.ID == "" {
		var identity fleetIdentity
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		m.NamePrefix, m.ServiceAccountID = identity.NamePrefix, identity.ServiceAccountID
	} else {
		account, prefix, found := strings.Cut(req.ID, "/")
		if !found {
			account, prefix = "", req.ID
		}
		if prefix == "" || found && account == "" || !withoutSlash.MatchString(prefix) {
			resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of a computer fleet is its name prefix, such as build, or for a service account's computers the account's ID and the prefix, such as ACCOUNT_ID/build, got: %q.", req.ID))
			return
		}
		m.NamePrefix, m.ServiceAccountID = types.StringValue(prefix), value.StringOrNull(account)
	}
	for name, v := range map[string]any{"id": m.importID(), "name_prefix": m.NamePrefix, "service_account_id": m.ServiceAccountID, "wait_for_active": true, "replace_failed": true} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), v)...)
	}
	resp.Diagnostics.Append(adopt.Imported(ctx, resp.Private)...)
}

// remove deletes computers and returns those that it could not delete, with an error for every different reason.
func (r *fleetResource) remove(ctx context.Context, records []computerRecord, m *fleetModel, private adopt.Private) ([]computerRecord, diag.Diagnostics) {
	var kept []computerRecord
	var reasons []string
	failed := map[string][]computerRecord{}
	first := map[string]error{}
	errs := r.Client.DeleteComputers(ctx, recordIDs(records), ownerOf(records, m.ServiceAccountID))
	if len(errs) > 0 && !slices.ContainsFunc(errs, func(err error) bool { return !client.IsGone(err) }) {
		if hidden := crud.NotVisible(ctx, r.Client, "delete", "computer fleet", m.importID(), m, private); hidden.HasError() {
			return records, hidden
		}
	}
	for i, err := range errs {
		if err == nil || client.IsGone(err) {
			continue
		}
		kept = append(kept, records[i])
		// A broken connection is one reason, though the text names another port each time.
		reason := ""
		if client.StatusOf(err) != 0 {
			reason = err.Error()
		}
		if first[reason] == nil {
			reasons, first[reason] = append(reasons, reason), err
		}
		failed[reason] = append(failed[reason], records[i])
	}
	var diags diag.Diagnostics
	for _, reason := range reasons {
		for _, d := range apierror.For("delete", "computers of the fleet", first[reason]) {
			diags.AddError(d.Summary(), fmt.Sprintf("Not deleted: %s. %s\n\nWhat is not deleted is kept in the state; the next apply tries again.", phrase.Names(namesOf(failed[reason]), maxNamed), d.Detail()))
		}
	}
	return kept, diags
}
