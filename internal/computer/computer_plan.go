package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// replaceIfKnown describes the rule of all create-only arguments. After an import nothing is known of them; the
// configured value is then adopted, where plain RequiresReplace would destroy what was imported.
const replaceIfKnown = "A change replaces the computer, unless the value was unknown to the state, as after an import."

func replaceStringIfKnown(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

func replaceListIfKnown(_ context.Context, req planmodifier.ListRequest, resp *listplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

func replaceBoolIfKnown(_ context.Context, req planmodifier.BoolRequest, resp *boolplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// replaceOriginIfKnown also lets a software draft be adopted alone: an import knows the source but not the draft.
func replaceOriginIfKnown(ctx context.Context, req planmodifier.ObjectRequest, resp *objectplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
	if !value.IsSet(req.StateValue) || !value.IsSet(req.PlanValue) {
		return
	}
	var before, after originModel
	resp.Diagnostics.Append(req.StateValue.As(ctx, &before, basetypes.ObjectAsOptions{})...)
	resp.Diagnostics.Append(req.PlanValue.As(ctx, &after, basetypes.ObjectAsOptions{})...)
	if before.SoftwareDraft.IsNull() {
		after.SoftwareDraft = before.SoftwareDraft
	}
	resp.RequiresReplace = !before.Kind.Equal(after.Kind) || !before.TemplateID.Equal(after.TemplateID) || !before.IsListed.Equal(after.IsListed) ||
		!before.SoftwareDraft.Equal(after.SoftwareDraft) || !before.SourceComputerID.Equal(after.SourceComputerID)
}

// stableResult never changes after creation.
func stableResult(name string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: describe[name], PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

// lateResult may be null at first and does not change once it is there.
func lateResult(name string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: describe[name], PlanModifiers: []planmodifier.String{stringplanmodifier.UseNonNullStateForUnknown()}}
}

// movingResult changes by itself.
func movingResult(name string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: describe[name]}
}
