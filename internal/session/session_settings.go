package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

type settingsModel struct {
	Model                           types.String `tfsdk:"model"`
	ReasoningEffort                 types.String `tfsdk:"reasoning_effort"`
	InteractionMode                 types.String `tfsdk:"interaction_mode"`
	AutonomyLevel                   types.String `tfsdk:"autonomy_level"`
	AutonomyMode                    types.String `tfsdk:"autonomy_mode"`
	SpecModeModel                   types.String `tfsdk:"spec_mode_model"`
	SpecModeReasoningEffort         types.String `tfsdk:"spec_mode_reasoning_effort"`
	ProviderLock                    types.String `tfsdk:"provider_lock"`
	ProviderLockTimestamp           types.String `tfsdk:"provider_lock_timestamp"`
	APIProviderLock                 types.String `tfsdk:"api_provider_lock"`
	ArchivedAt                      types.String `tfsdk:"archived_at"`
	SetupProfileID                  types.String `tfsdk:"setup_profile_id"`
	CompactionModel                 types.String `tfsdk:"compaction_model"`
	ToolExecutionMode               types.String `tfsdk:"tool_execution_mode"`
	CompactionThresholdCheckEnabled types.Bool   `tfsdk:"compaction_threshold_check_enabled"`
	AllowSubagentsInScripts         types.Bool   `tfsdk:"allow_subagents_in_scripts"`
	EnabledToolIDs                  types.Set    `tfsdk:"enabled_tool_ids"`
	DisabledToolIDs                 types.Set    `tfsdk:"disabled_tool_ids"`
	RestrictToolIDs                 types.Set    `tfsdk:"restrict_tool_ids"`
	Tags                            types.List   `tfsdk:"tags"`
	Worktree                        types.Object `tfsdk:"worktree"`
}

type tagModel struct {
	Name     types.String `tfsdk:"name"`
	Metadata types.Map    `tfsdk:"metadata"`
}

type worktreeModel struct {
	RepoRoot           types.String `tfsdk:"repo_root"`
	Branch             types.String `tfsdk:"branch"`
	Lifecycle          types.String `tfsdk:"lifecycle"`
	Path               types.String `tfsdk:"path"`
	ParentWorktreePath types.String `tfsdk:"parent_worktree_path"`
	RemovedAt          types.String `tfsdk:"removed_at"`
}

var (
	toolIDs     = types.SetType{ElemType: types.StringType}
	tagMetadata = types.MapType{ElemType: types.StringType}
)

// settingsResults describes the fields of a settingsModel.
var settingsResults = results.Plain{
	"model":                              {Text: "Model that the agent uses."},
	"reasoning_effort":                   {Text: "Reasoning effort of the model." + oneOf(sessions.ReasoningEfforts)},
	"interaction_mode":                   {Text: "How the agent works." + oneOf(sessions.InteractionModes) + " `agi` is the old name of `mission`."},
	"autonomy_level":                     {Text: "What the agent may do without asking." + oneOf(sessions.AutonomyLevels)},
	"autonomy_mode":                      {Text: "Deprecated: use `interaction_mode` and `autonomy_level` instead." + oneOf(sessions.AutonomyModes)},
	"spec_mode_model":                    {Text: "Model for the interaction mode `spec`."},
	"spec_mode_reasoning_effort":         {Text: "Reasoning effort for the interaction mode `spec`." + oneOf(sessions.ReasoningEfforts)},
	"provider_lock":                      {Text: "Kind of model provider that the session is locked to, such as `generic-chat-completion-api`."},
	"provider_lock_timestamp":            {Text: "When the session was locked to a kind of model provider."},
	"api_provider_lock":                  {Text: "API provider that the session is locked to."},
	"archived_at":                        {Text: "When the session was archived. Null if it is not archived."},
	"tags":                               {Text: "Tags of the session.", Of: tagResults, IsList: true},
	"worktree":                           {Text: "Git worktree that the agent works in.", Of: worktreeResults},
	"setup_profile_id":                   {Text: "ID of the session's setup profile."},
	"enabled_tool_ids":                   {Text: "IDs of tools that are enabled in addition to the default ones.", Type: toolIDs},
	"disabled_tool_ids":                  {Text: "IDs of tools that are disabled.", Type: toolIDs},
	"restrict_tool_ids":                  {Text: "IDs of the only tools that the agent may use.", Type: toolIDs},
	"tool_execution_mode":                {Text: "How the agent calls tools." + oneOf(sessions.ToolExecutionModes)},
	"allow_subagents_in_scripts":         {Text: "Whether scripts may start subagents.", Type: types.BoolType},
	"compaction_model":                   {Text: "Model that compacts a long session. Can be `current-model`, the ID of a known model, or `custom:` followed by a name."},
	"compaction_threshold_check_enabled": {Text: "Whether the session is compacted when it grows too long.", Type: types.BoolType},
}

var tagResults = results.Plain{
	"name":     {Text: "The tag's name."},
	"metadata": {Text: "Metadata of the tag.", Type: tagMetadata},
}

var worktreeResults = results.Plain{
	"repo_root":            {Text: "Path of the repository on the computer."},
	"branch":               {Text: "Branch that is checked out."},
	"lifecycle":            {Text: "How long the worktree is kept." + oneOf(sessions.WorktreeLifecycles)},
	"path":                 {Text: "Path of the worktree."},
	"parent_worktree_path": {Text: "Path of the worktree that this one was created from."},
	"removed_at":           {Text: "When the worktree was removed."},
}

var (
	settingsType = settingsResults.ObjectType()
	tagType      = tagResults.ObjectType()
	worktreeType = worktreeResults.ObjectType()
)

var enums = map[string][]string{
	"reasoning_effort": sessions.ReasoningEfforts, "spec_mode_reasoning_effort": sessions.ReasoningEfforts, "interaction_mode": sessions.InteractionModes,
	"autonomy_level": sessions.AutonomyLevels, "autonomy_mode": sessions.AutonomyModes, "tool_execution_mode": sessions.ToolExecutionModes,
}

func oneOf(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = "`" + v + "`"
	}
	last := len(quoted) - 1
	if last == 1 {
		return " One of " + quoted[0] + " or " + quoted[1] + "."
	}
	return " One of " + strings.Join(quoted[:last], ", ") + ", or " + quoted[last] + "."
}

func settingsAttribute() schema.Attribute {
	attributes := settingsResults.Elements()
	for name, attribute := range attributes {
		switch a := attribute.(type) {
		case schema.StringAttribute:
			a.Optional, a.Validators, a.PlanModifiers = true, []validator.String{value.NotEmpty()}, []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.BoolAttribute:
			a.Optional, a.PlanModifiers = true, []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()}
			attributes[name] = a
		case schema.SetAttribute:
			a.Optional, a.PlanModifiers = true, []planmodifier.Set{setplanmodifier.UseStateForUnknown()}
			a.Validators = []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(value.NotEmpty())}
			attributes[name] = a
		}
	}
	for _, name := range []string{"interaction_mode", "autonomy_level"} {
		attributes[name] = derivedAttribute(settingsResults[name].Text, "autonomy_mode")
	}
	attributes["autonomy_mode"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["autonomy_mode"].Text,
		DeprecationMessage:  "Use interaction_mode and autonomy_level instead: \"normal\" is \"auto\" with \"off\", \"auto-low\" is \"auto\" with \"low\", \"auto-medium\" is \"auto\" with \"medium\", \"auto-high\" is \"auto\" with \"high\", \"spec\" is \"spec\".",
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["compaction_model"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["compaction_model"].Text,
		Validators:          []validator.String{value.NotEmpty(), value.Except("custom:", "append a name, such as custom:my-model")},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["tool_execution_mode"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["tool_execution_mode"].Text + forcesNew,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.CreateOnlyString()},
	}
	attributes["allow_subagents_in_scripts"] = schema.BoolAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["allow_subagents_in_scripts"].Text + forcesNew,
		PlanModifiers:       []planmodifier.Bool{boolplanmodifier.UseStateForUnknown(), modifier.CreateOnlyBool()},
	}
	attributes["tags"] = schema.ListNestedAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["tags"].Text + " An empty list removes all tags.",
		PlanModifiers:       []planmodifier.List{listplanmodifier.UseStateForUnknown()},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"name":     schema.StringAttribute{Required: true, MarkdownDescription: tagResults["name"].Text, Validators: []validator.String{value.NotEmpty()}},
			"metadata": schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: tagResults["metadata"].Text, Validators: []validator.Map{mapvalidator.NoNullValues()}},
		}},
	}
	attributes["worktree"] = worktreeAttribute()
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Settings of the session. If a setting is omitted, the service chooses it. If it is removed, the current value is kept.",
		Attributes:          attributes,
		PlanModifiers:       []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
	}
}

func worktreeAttribute() schema.Attribute {
	attributes := map[string]schema.Attribute{
		"repo_root": schema.StringAttribute{Required: true, MarkdownDescription: worktreeResults["repo_root"].Text, Validators: []validator.String{value.NotBlank("set the path of the repository")}},
		// A changed worktree is created again, so it is no longer removed.
		"removed_at": derivedAttribute(worktreeResults["removed_at"].Text, "repo_root", "branch", "lifecycle", "path", "parent_worktree_path"),
	}
	for _, name := range []string{"branch", "lifecycle", "path", "parent_worktree_path"} {
		attributes[name] = derivedAttribute(worktreeResults[name].Text, "repo_root", "branch")
	}
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["worktree"].Text,
		Attributes:          attributes,
		PlanModifiers:       []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
	}
}

// derivedAttribute is for a setting that the service derives from others.
func derivedAttribute(text string, from ...string) schema.Attribute {
	return schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: text,
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{keepUnlessChanged{from}},
	}
}

// keepUnlessChanged keeps the prior value, even if it is null.
type keepUnlessChanged struct{ from []string }

func (k keepUnlessChanged) Description(context.Context) string {
	return "Keeps its value unless one of these changes: " + strings.Join(k.from, ", ") + "."
}

func (k keepUnlessChanged) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k keepUnlessChanged) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.State.Raw.IsNull() || !req.PlanValue.IsUnknown() || req.ConfigValue.IsUnknown() {
		return
	}
	for _, name := range k.from {
		var configured, prior types.String
		at := req.Path.ParentPath().AtName(name)
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, at, &configured)...)
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, at, &prior)...)
		if !configured.IsNull() && !configured.Equal(prior) {
			return
		}
	}
	resp.PlanValue = req.StateValue
}

// settingsToAPI returns nil for null and unknown.
func settingsToAPI(ctx context.Context, settings types.Object) (*sessions.Settings, diag.Diagnostics) {
	if !value.IsSet(settings) {
		return nil, nil
	}
	var m settingsModel
	diags := settings.As(ctx, &m, basetypes.ObjectAsOptions{})
	s := &sessions.Settings{
		Model:                           value.StringPointer(m.Model),
		ReasoningEffort:                 value.StringPointer(m.ReasoningEffort),
		InteractionMode:                 value.StringPointer(m.InteractionMode),
		AutonomyLevel:                   value.StringPointer(m.AutonomyLevel),
		AutonomyMode:                    value.StringPointer(m.AutonomyMode),
		SpecModeModel:                   value.StringPointer(m.SpecModeModel),
		SpecModeReasoningEffort:         value.StringPointer(m.SpecModeReasoningEffort),
		ProviderLock:                    value.StringPointer(m.ProviderLock),
		ProviderLockTimestamp:           value.StringPointer(m.ProviderLockTimestamp),
		APIProviderLock:                 value.StringPointer(m.APIProviderLock),
		ArchivedAt:                      value.StringPointer(m.ArchivedAt),
		SetupProfileID:                  value.StringPointer(m.SetupProfileID),
		EnabledToolIDs:                  toolsToAPI(ctx, m.EnabledToolIDs, &diags),
		DisabledToolIDs:                 toolsToAPI(ctx, m.DisabledToolIDs, &diags),
		RestrictToolIDs:                 toolsToAPI(ctx, m.RestrictToolIDs, &diags),
		CompactionModel:                 value.StringPointer(m.CompactionModel),
		CompactionThresholdCheckEnabled: value.BoolPointer(m.CompactionThresholdCheckEnabled),
		ToolExecutionMode:               value.StringPointer(m.ToolExecutionMode),
		AllowSubagentsInScripts:         value.BoolPointer(m.AllowSubagentsInScripts),
	}
	if value.IsSet(m.Tags) {
		var tags []tagModel
		diags.Append(m.Tags.ElementsAs(ctx, &tags, false)...)
		s.Tags = []sessions.Tag{}
		for _, tag := range tags {
			var metadata transport.Metadata
			if value.IsSet(tag.Metadata) {
				diags.Append(tag.Metadata.ElementsAs(ctx, &metadata, false)...)
			}
			s.Tags = append(s.Tags, sessions.Tag{Name: tag.Name.ValueString(), Metadata: metadata})
		}
	}
	if value.IsSet(m.Worktree) {
		var w worktreeModel
		diags.Append(m.Worktree.As(ctx, &w, basetypes.ObjectAsOptions{})...)
		s.Worktree = &sessions.Worktree{
			RepoRoot:           w.RepoRoot.ValueString(),
			Branch:             value.StringPointer(w.Branch),
			Lifecycle:          value.StringPointer(w.Lifecycle),
			Path:               value.StringPointer(w.Path),
			ParentWorktreePath: value.StringPointer(w.ParentWorktreePath),
			RemovedAt:          value.StringPointer(w.RemovedAt),
		}
	}
	return s, diags
}

func toolsToAPI(ctx context.Context, tools types.Set, diags *diag.Diagnostics) []string {
	if !value.IsSet(tools) {
		return nil
	}
	ids := []string{}
	diags.Append(tools.ElementsAs(ctx, &ids, false)...)
	return ids
}

func settingsFromAPI(ctx context.Context, s *sessions.Settings) (types.Object, diag.Diagnostics) {
	if s == nil {
		return types.ObjectNull(settingsType.AttrTypes), nil
	}
	var diags, d diag.Diagnostics
	m := settingsModel{
		Model:                           types.StringPointerValue(s.Model),
		ReasoningEffort:                 types.StringPointerValue(s.ReasoningEffort),
		InteractionMode:                 types.StringPointerValue(s.InteractionMode),
		AutonomyLevel:                   types.StringPointerValue(s.AutonomyLevel),
		AutonomyMode:                    types.StringPointerValue(s.AutonomyMode),
		SpecModeModel:                   types.StringPointerValue(s.SpecModeModel),
		SpecModeReasoningEffort:         types.StringPointerValue(s.SpecModeReasoningEffort),
		ProviderLock:                    types.StringPointerValue(s.ProviderLock),
		ProviderLockTimestamp:           types.StringPointerValue(s.ProviderLockTimestamp),
		APIProviderLock:                 types.StringPointerValue(s.APIProviderLock),
		ArchivedAt:                      types.StringPointerValue(s.ArchivedAt),
		SetupProfileID:                  types.StringPointerValue(s.SetupProfileID),
		CompactionModel:                 types.StringPointerValue(s.CompactionModel),
		ToolExecutionMode:               types.StringPointerValue(s.ToolExecutionMode),
		CompactionThresholdCheckEnabled: types.BoolPointerValue(s.CompactionThresholdCheckEnabled),
		AllowSubagentsInScripts:         types.BoolPointerValue(s.AllowSubagentsInScripts),
		EnabledToolIDs:                  toolsFromAPI(ctx, s.EnabledToolIDs, &diags),
		DisabledToolIDs:                 toolsFromAPI(ctx, s.DisabledToolIDs, &diags),
		RestrictToolIDs:                 toolsFromAPI(ctx, s.RestrictToolIDs, &diags),
		Tags:                            types.ListNull(tagType),
		Worktree:                        types.ObjectNull(worktreeType.AttrTypes),
	}
	if s.Tags != nil {
		tags := make([]tagModel, len(s.Tags))
		for i, tag := range s.Tags {
			tags[i] = tagModel{Name: types.StringValue(tag.Name), Metadata: types.MapNull(types.StringType)}
			if tag.Metadata != nil {
				tags[i].Metadata, d = types.MapValueFrom(ctx, types.StringType, tag.Metadata)
				diags.Append(d...)
			}
		}
		m.Tags, d = types.ListValueFrom(ctx, tagType, tags)
		diags.Append(d...)
	}
	if w := s.Worktree; w != nil {
		m.Worktree, d = types.ObjectValueFrom(ctx, worktreeType.AttrTypes, worktreeModel{
			RepoRoot:           types.StringValue(w.RepoRoot),
			Branch:             types.StringPointerValue(w.Branch),
			Lifecycle:          types.StringPointerValue(w.Lifecycle),
			Path:               types.StringPointerValue(w.Path),
			ParentWorktreePath: types.StringPointerValue(w.ParentWorktreePath),
			RemovedAt:          types.StringPointerValue(w.RemovedAt),
		})
		diags.Append(d...)
	}
	settings, d := types.ObjectValueFrom(ctx, settingsType.AttrTypes, m)
	diags.Append(d...)
	return settings, diags
}

// toolsFromAPI removes duplicates: the service may return a tool twice.
func toolsFromAPI(ctx context.Context, ids []string, diags *diag.Diagnostics) types.Set {
	if ids == nil {
		return types.SetNull(types.StringType)
	}
	unique := append([]string{}, ids...)
	slices.Sort(unique)
	tools, d := types.SetValueFrom(ctx, types.StringType, slices.Compact(unique))
	diags.Append(d...)
	return tools
}

// asPlanned fills only the unknown parts of a plan: Terraform rejects a result that differs from an approved plan. The next
// refresh shows the actual values.
func asPlanned(ctx context.Context, planned, made attr.Value) attr.Value {
	plannedObject, isObject := planned.(types.Object)
	madeObject, ok := made.(types.Object)
	switch {
	case planned.IsUnknown():
		return made
	case planned.IsNull() || !isObject || !ok || !value.IsSet(madeObject):
		return planned
	}
	attributes := madeObject.Attributes()
	for name, plannedValue := range plannedObject.Attributes() {
		attributes[name] = asPlanned(ctx, plannedValue, attributes[name])
	}
	return types.ObjectValueMust(madeObject.AttributeTypes(ctx), attributes)
}

// checkEnums accepts an unknown value that the service returned: configuration generated by an import may contain it.
func checkEnums(at path.Path, planned, prior types.Object, allowed map[string][]string) diag.Diagnostics {
	var diags diag.Diagnostics
	for name, values := range allowed {
		given, ok := planned.Attributes()[name].(types.String)
		if ok && value.IsSet(given) && !slices.Contains(values, given.ValueString()) && !given.Equal(prior.Attributes()[name]) {
			diags.AddAttributeError(at.AtName(name), "Invalid Setting", fmt.Sprintf("%s must be one of %s, got: %q.", name, strings.Join(values, ", "), given.ValueString()))
		}
	}
	return diags
}

func checkSettings(planned, prior types.Object) diag.Diagnostics {
	at := path.Root("session_settings")
	diags := checkEnums(at, planned, prior, enums)
	if worktree, ok := planned.Attributes()["worktree"].(types.Object); ok {
		priorWorktree, _ := prior.Attributes()["worktree"].(types.Object)
		diags.Append(checkEnums(at.AtName("worktree"), worktree, priorWorktree, map[string][]string{"lifecycle": sessions.WorktreeLifecycles})...)
	}
	return diags
}
