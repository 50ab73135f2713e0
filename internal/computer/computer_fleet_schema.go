package computer

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

const replaceFleetIfKnown = "A change replaces the fleet, unless the value was unknown to the state, as after an import."

// withoutSlash keeps an account apart from a prefix in an import ID.
var withoutSlash = regexp.MustCompile(`^[^/\s]*$`)

// prefixPattern and its 58 characters, which leave room for the suffix within a name's 63, are an assumption of the contract.
var prefixPattern = regexp.MustCompile(`^[a-z](?:[a-z0-9-]*[a-z0-9])?$`)

func fleetSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Any number of identical managed computers, named `<name_prefix>-<number>` by the service with the lowest free numbers. " +
			"A change of `quantity` makes only what is missing, or deletes from the end of `computers`, in place.\n\n" +
			"**Fewer computers than wanted.** If the service stops early while the fleet is created, the fleet is stored with what there is, a warning says how many are missing and why, and the next apply makes up the rest; " +
			"while it is updated the same is an error. A computer that is deleted elsewhere is planned again. To fail a run that ends short, and to stop what depends on the fleet, add a `postcondition` as in the example: unlike an error of the provider it does not mark the fleet for replacement.\n\n" +
			"**Computers that do not become active** stay in the fleet and are reported, with the step that failed: as a warning while the fleet is created, as an error while it is updated. Delete such a computer at the service, and the next apply makes another.\n\n" +
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
				MarkdownDescription: "How many computers there are to be, 0 or more. Lowering it deletes from the end of `computers`: those renamed elsewhere first, then the highest numbers.",
				Validators:          []validator.Int64{int64validator.AtLeast(0)},
			},
			"provider_type": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Identifier of the managed provider; `byom` is not possible. The data source `agentyard_computer_providers` lists what is available. If omitted, the service chooses. A change replaces the fleet.",
				Validators:          []validator.String{value.NotEmpty(), value.Except(client.ProviderBYOM, "register machines of one's own with the resource agentyard_computer")},
				PlanModifiers: []planmodifier.String{
					stringplanmodifier.UseNonNullStateForUnknown(),
					stringplanmodifier.RequiresReplaceIf(replaceStringIfKnown, "A change replaces the fleet.", "A change replaces the fleet."),
				},
			},
			"repos": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "URLs of repositories to clone, at most 20 of at most 2048 characters each. A change replaces the fleet. The service does not return them, so they are adopted from the configuration after an import.",
				Validators: []validator.List{
					listvalidator.SizeAtMost(20),
					listvalidator.ValueStringsAre(value.URI(), value.Length(0, 2048)),
				},
				PlanModifiers: []planmodifier.List{listplanmodifier.RequiresReplaceIf(replaceListIfKnown, replaceFleetIfKnown, replaceFleetIfKnown)},
			},
			"auto_install_deps": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether the dependencies of the repositories are installed during provisioning. A change replaces the fleet. The service does not return it, so it is adopted from the configuration after an import.",
				PlanModifiers:       []planmodifier.Bool{boolplanmodifier.RequiresReplaceIf(replaceBoolIfKnown, replaceFleetIfKnown, replaceFleetIfKnown)},
			},
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the service account that owns the computers; the owner of the API key if omitted. Needs the key of a human with the Manager role or higher. A change replaces the fleet, unless it has no computers yet.",
				Validators:          []validator.String{value.NotEmpty(), stringvalidator.RegexMatches(withoutSlash, "must not contain a slash or white space")},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIf(replaceFleetOwner, replaceFleetIfKnown, replaceFleetIfKnown)},
			},
			"wait_for_active": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Whether an apply waits until the computers that it makes are active. Default `true`.",
			},
			"computers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The computers, in the order of the numbers in their names; one that was renamed elsewhere comes last. Unknown while a change of the fleet is planned.",
				NestedObject:        fleetComputer,
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

// replaceFleetOwner replaces also where the state knows no account but the computers' owner is another. Adopting the
// account then would leave computers in the fleet that it does not own.
func replaceFleetOwner(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var state fleetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	records, diags := state.records(ctx)
	resp.Diagnostics.Append(diags...)
	resp.RequiresReplace = !req.StateValue.IsNull()
	for _, record := range records {
		if !record.OwnerID.IsNull() && !record.OwnerID.Equal(req.PlanValue) {
			resp.RequiresReplace = true
		}
	}
}

// fleetComputer is one computer of a fleet.
var fleetComputer = fleetComputerObject()

// fleetComputerType is its type.
var fleetComputerType = fleetComputer.Type()

func fleetComputerObject() schema.NestedAttributeObject {
	text := func(prefix string, names ...string) map[string]schema.Attribute {
		attributes := make(map[string]schema.Attribute, len(names))
		for _, name := range names {
			attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: describe[prefix+name]}
		}
		return attributes
	}
	attributes := text("", "id", "host_id", "name", "hostname", "provider_type", "status", "created_at", "install_session_id",
		"relay_client_url", "relay_agent_url", "remote_user", "owner_principal_kind", "owner_id")
	attributes["is_listed"] = schema.BoolAttribute{Computed: true, MarkdownDescription: describe["is_listed"]}
	attributes["provisioning_steps"] = schema.ListNestedAttribute{
		Computed: true, MarkdownDescription: describe["provisioning_steps"],
		NestedObject: schema.NestedAttributeObject{Attributes: text("step.", "id", "name", "status", "error", "started_at", "completed_at")},
	}
	attributes["cloned_repo_directories"] = schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: describe["cloned_repo_directories"]}
	attributes["computer_source"] = schema.SingleNestedAttribute{
		Computed: true, MarkdownDescription: describe["computer_source"],
		Attributes: text("source.", "kind", "template_id", "computer_id"),
	}
	return schema.NestedAttributeObject{Attributes: attributes}
}
