package computer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

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
	Computers        types.List     `tfsdk:"computers"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

type fleetIdentity struct {
	NamePrefix       types.String `tfsdk:"name_prefix"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

// FromAPI takes over the fleet's computers, and with them the provider where the service chose it.
func (m *fleetModel) FromAPI(ctx context.Context, computers []client.Computer) diag.Diagnostics {
	var diags diag.Diagnostics
	records := make([]computerRecord, len(computers))
	for i := range computers {
		diags.Append(records[i].FromAPI(ctx, &computers[i])...)
	}
	diags.Append(m.setRecords(ctx, records)...)
	return diags
}

// Identity is the prefix and, where it is not the key's own, the account.
func (m *fleetModel) Identity() any {
	return &fleetIdentity{NamePrefix: m.NamePrefix, ServiceAccountID: m.ServiceAccountID}
}

// setRecords orders the computers by the numbers in their names. One that was renamed has none and comes last.
func (m *fleetModel) setRecords(ctx context.Context, records []computerRecord) diag.Diagnostics {
	prefix := m.NamePrefix.ValueString()
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
	list, diags := types.ListValueFrom(ctx, fleetComputerType, records)
	m.Computers = list
	if !value.IsSet(m.ProviderType) {
		m.ProviderType = types.StringNull()
		if len(records) > 0 {
			m.ProviderType = records[0].ProviderType
		}
	}
	return diags
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
	// A fleet without computers can be given an account in place, which is part of its identity.
	resp.ResourceBehavior = resource.ResourceBehavior{MutableIdentity: true}
}

func (r *fleetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = fleetSchema(ctx)
}

func (r *fleetResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name_prefix":        identityschema.StringAttribute{RequiredForImport: true, Description: "The start of the computers' names."},
		"service_account_id": identityschema.StringAttribute{OptionalForImport: true, Description: "ID of the service account that owns the computers; the owner of the API key if omitted."},
	}}
}

// ModifyPlan plans a change wherever the computers are not as many as they should be, says which ones a smaller
// quantity deletes, and keeps the ID in step with what it consists of.
func (r *fleetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, state fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	id := types.StringUnknown()
	if !plan.NamePrefix.IsUnknown() && !plan.ServiceAccountID.IsUnknown() {
		id = types.StringValue(plan.importID())
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), id)...)
	if req.State.Raw.IsNull() || plan.Quantity.IsUnknown() {
		return
	}
	records, diags := state.records(ctx)
	resp.Diagnostics.Append(diags...)
	surplus := len(records) - int(plan.Quantity.ValueInt64())
	if surplus != 0 {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("computers"), types.ListUnknown(fleetComputerType))...)
	}
	if surplus > 0 {
		resp.Diagnostics.AddAttributeWarning(path.Root("quantity"), "Computers Are Deleted",
			fmt.Sprintf("Lowering the quantity to %d deletes %d of the fleet's computers: %s.", plan.Quantity.ValueInt64(), surplus, namesOf(records[len(records)-surplus:])))
	}
}

// maxNamed bounds how many computers a text names.
const maxNamed = 20

func namesOf(records []computerRecord) string {
	names := make([]string, len(records))
	for i := range records {
		names[i] = records[i].Name.ValueString()
	}
	return phrase.Names(names, maxNamed)
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
	resp.Diagnostics.Append(m.FromAPI(ctx, made)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	if err != nil {
		summary, detail := shortfall(quantity, len(made), err, &m)
		resp.Diagnostics.AddWarning(summary, detail)
	}
	if !m.WaitForActive.ValueBool() || resp.Diagnostics.HasError() {
		return
	}
	last, inactive := r.waitForActive(ctx, made, &m, deadline.Sub(r.Client.Clock().Now()))
	resp.Diagnostics.Append(m.FromAPI(ctx, last)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	if inactive != nil {
		resp.Diagnostics.AddWarning(inactive.summary, inactive.detail+keptInactive)
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
	imported := m.Computers.IsNull()
	fleet, err := r.Client.Fleet(ctx, m.NamePrefix.ValueString(), m.ServiceAccountID.ValueString(), recordIDs(prior))
	if err != nil {
		crud.Unreadable(ctx, "computer fleet", m.Identity(), err, resp)
		return
	}
	members := fleet.Members
	if imported {
		members = fleet.Others
	}
	if imported && len(members) == 0 {
		crud.Gone(ctx, "computer fleet", m.Identity(), resp)
		return
	}
	if !imported && len(fleet.Others) > 0 {
		others := &client.OthersError{Prefix: m.NamePrefix.ValueString(), Found: fleet.Others}
		resp.Diagnostics.Append(outsideOfFleet(others, &m))
	}
	m.Quantity = types.Int64Value(int64(len(members)))
	resp.Diagnostics.Append(m.FromAPI(ctx, members)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
}

func (r *fleetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, state fleetModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	present, diags := state.records(ctx)
	resp.Diagnostics.Append(diags...)
	timeout, diags := m.Timeouts.Update(ctx, defaultFleetTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock().Now().Add(timeout)
	updateCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	save := func(records []computerRecord) {
		if resp.Diagnostics.HasError() {
			// The state says what is there, so that the next plan shows what is missing.
			m.Quantity = types.Int64Value(int64(len(records)))
		}
		resp.Diagnostics.Append(m.setRecords(ctx, records)...)
		resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	}
	m.ID = types.StringValue(m.importID())

	quantity := int(m.Quantity.ValueInt64())
	if quantity <= len(present) {
		kept, diags := r.remove(updateCtx, present[quantity:])
		resp.Diagnostics.Append(diags...)
		save(append(present[:quantity:quantity], kept...))
		return
	}
	made, err := r.Client.CreateFleet(updateCtx, m.createRequest(quantity-len(present)), recordIDs(present))
	if err != nil && len(made) == 0 {
		resp.Diagnostics.Append(fleetError("scale up", err, &m, true)...)
		return
	}
	if err != nil {
		summary, detail := shortfall(quantity, len(present)+len(made), err, &m)
		resp.Diagnostics.AddError(summary, detail)
	}
	last := made
	var inactive *problem
	if m.WaitForActive.ValueBool() {
		last, inactive = r.waitForActive(ctx, made, &m, deadline.Sub(r.Client.Clock().Now()))
	}
	switch {
	case inactive != nil && inactive.interrupted:
		resp.Diagnostics.AddWarning(inactive.summary, inactive.detail+keptInactive)
	case inactive != nil:
		resp.Diagnostics.AddError(inactive.summary, inactive.detail+keptInactive)
	}
	var added fleetModel
	resp.Diagnostics.Append(added.FromAPI(ctx, last)...)
	records, diags := added.records(ctx)
	resp.Diagnostics.Append(diags...)
	save(append(present, records...))
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
	kept, diags := r.remove(ctx, records)
	resp.Diagnostics.Append(diags...)
	if len(kept) == 0 {
		return
	}
	m.Quantity = types.Int64Value(int64(len(kept)))
	resp.Diagnostics.Append(m.setRecords(ctx, kept)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// ImportState leaves the computers null, which tells Read to take all that there are.
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
	for name, v := range map[string]any{"id": m.importID(), "name_prefix": m.NamePrefix, "service_account_id": m.ServiceAccountID, "wait_for_active": true} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), v)...)
	}
}

// remove deletes computers and returns those that it could not delete, with an error for every different reason.
func (r *fleetResource) remove(ctx context.Context, records []computerRecord) ([]computerRecord, diag.Diagnostics) {
	var kept []computerRecord
	var reasons []string
	failed := map[string][]computerRecord{}
	first := map[string]error{}
	for i, err := range r.Client.DeleteComputers(ctx, recordIDs(records)) {
		if err == nil {
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
			diags.AddError(d.Summary(), fmt.Sprintf("Not deleted: %s. %s\n\nWhat is not deleted is kept in the state; the next apply tries again.", namesOf(failed[reason]), d.Detail()))
		}
	}
	return kept, diags
}
