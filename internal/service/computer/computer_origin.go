package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// originModel is the argument "source".
type originModel struct {
	Kind             types.String `tfsdk:"kind"`
	TemplateID       types.String `tfsdk:"template_id"`
	IsListed         types.Bool   `tfsdk:"is_listed"`
	SoftwareDraft    types.Object `tfsdk:"software_draft"`
	SourceComputerID types.String `tfsdk:"source_computer_id"`
}

type draftModel struct {
	WorkstreamID      types.String `tfsdk:"workstream_id"`
	CreationSessionID types.String `tfsdk:"creation_session_id"`
	FirstTurnID       types.String `tfsdk:"first_turn_id"`
}

const (
	kindTemplate          = "template"
	kindExecutionTemplate = "execution-template"
	kindComputer          = "computer"
)

var (
	originType = originAttribute().GetType().(types.ObjectType)
	draftType  = originType.AttrTypes["software_draft"].(types.ObjectType)
)

func originAttribute() schema.SingleNestedAttribute {
	draftID := func(text string) schema.Attribute {
		return schema.StringAttribute{Required: true, MarkdownDescription: text, Validators: []validator.String{value.UUID()}, PlanModifiers: []planmodifier.String{modifier.KeepCase()}}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Source to create the computer from. Changing this forces a new computer.",
		PlanModifiers:       []planmodifier.Object{objectplanmodifier.RequiresReplaceIf(replaceIfOtherOrigin, "Changing this forces a new computer.", "Changing this forces a new computer.")},
		Attributes: map[string]schema.Attribute{
			"kind": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Kind of the source. One of `template`, `execution-template`, or `computer`.",
				Validators:          []validator.String{value.OneOf(kindTemplate, kindExecutionTemplate, kindComputer)},
			},
			"template_id": crud.OptionalText("ID of the template. Required for `template` and `execution-template`."),
			"is_listed": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: computerResults["is_listed"].Text + " Required for `template` and `execution-template`.",
			},
			"software_draft": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Receipt of a saved software draft, for `template` and `execution-template`. The service creates one computer per receipt. If it already exists, the error contains the import command.",
				Attributes: map[string]schema.Attribute{
					"workstream_id":       draftID("ID of the workstream, as a UUID."),
					"creation_session_id": draftID("ID of the session that created the draft, as a UUID."),
					"first_turn_id":       draftID("ID of that session's first turn, as a UUID."),
				},
			},
			"source_computer_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the computer to copy. Required for `computer`.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{modifier.KeepCase()},
			},
		},
	}
}

func validateOrigin(ctx context.Context, source types.Object) diag.Diagnostics {
	if !value.IsSet(source) {
		return nil
	}
	var origin originModel
	diags := source.As(ctx, &origin, basetypes.ObjectAsOptions{})
	if diags.HasError() || !value.IsSet(origin.Kind) {
		return diags
	}
	kind, at := origin.Kind.ValueString(), path.Root("source")
	isTemplate := kind == kindTemplate || kind == kindExecutionTemplate
	check := func(name string, v attr.Value, allowed, required bool) {
		switch {
		case v.IsNull() && required:
			diags.AddAttributeError(at.AtName(name), "Missing source attribute", fmt.Sprintf("A source of kind %q requires %s.", kind, name))
		case !v.IsNull() && !allowed:
			diags.AddAttributeError(at.AtName(name), "Invalid source attribute", fmt.Sprintf("A source of kind %q cannot have %s. Remove it, or choose another kind.", kind, name))
		}
	}
	check("template_id", origin.TemplateID, isTemplate, isTemplate)
	check("is_listed", origin.IsListed, isTemplate, isTemplate)
	check("software_draft", origin.SoftwareDraft, isTemplate, false)
	check("source_computer_id", origin.SourceComputerID, kind == kindComputer, kind == kindComputer)
	return diags
}

func originToAPI(ctx context.Context, source types.Object) (*computers.CreateSource, diag.Diagnostics) {
	if !value.IsSet(source) {
		return nil, nil
	}
	var origin originModel
	diags := source.As(ctx, &origin, basetypes.ObjectAsOptions{})
	body := &computers.CreateSource{
		Kind:             origin.Kind.ValueString(),
		TemplateID:       origin.TemplateID.ValueString(),
		IsListed:         value.BoolPointer(origin.IsListed),
		SourceComputerID: origin.SourceComputerID.ValueString(),
	}
	if value.IsSet(origin.SoftwareDraft) {
		var draft draftModel
		diags.Append(origin.SoftwareDraft.As(ctx, &draft, basetypes.ObjectAsOptions{})...)
		body.SoftwareDraft = &computers.SoftwareDraft{
			WorkstreamID:      draft.WorkstreamID.ValueString(),
			CreationSessionID: draft.CreationSessionID.ValueString(),
			FirstTurnID:       draft.FirstTurnID.ValueString(),
		}
	}
	return body, diags
}

// originFromAPI sets the argument after an import. The service does not return the draft.
func originFromAPI(c *computers.Computer) (types.Object, diag.Diagnostics) {
	if c.Source == nil {
		return types.ObjectNull(originType.AttrTypes), nil
	}
	attributes := map[string]attr.Value{
		"kind":               types.StringValue(c.Source.Kind),
		"template_id":        value.StringOrNull(c.Source.TemplateID),
		"is_listed":          types.BoolNull(),
		"software_draft":     types.ObjectNull(draftType.AttrTypes),
		"source_computer_id": value.StringOrNull(c.Source.ComputerID),
	}
	if c.Source.Kind != kindComputer {
		// The service omits the field for a listed computer.
		attributes["is_listed"] = types.BoolValue(c.IsListed == nil || *c.IsListed)
	}
	return types.ObjectValue(originType.AttrTypes, attributes)
}
