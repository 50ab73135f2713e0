package session

import (
	"context"
	"maps"
	"slices"
	"strings"

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
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// settingsResults describes the settings.
var settingsResults = results.Fields[*sessions.Settings]{
	"model":                              results.StringPointer("ID of the model that the agent uses.", func(s *sessions.Settings) *string { return s.Model }),
	"reasoning_effort":                   results.StringPointer("Reasoning effort of the model."+oneOf(sessions.ReasoningEfforts), func(s *sessions.Settings) *string { return s.ReasoningEffort }),
	"interaction_mode":                   results.StringPointer("How the agent works."+oneOf(sessions.InteractionModes)+" `agi` is the old name of `mission`"+crud.Assumed("interaction-mode"), func(s *sessions.Settings) *string { return s.InteractionMode }),
	"autonomy_level":                     results.StringPointer("What the agent may do without asking."+oneOf(sessions.AutonomyLevels), func(s *sessions.Settings) *string { return s.AutonomyLevel }),
	"autonomy_mode":                      results.StringPointer("The older form of `interaction_mode` and `autonomy_level`, such as `auto-low`.", func(s *sessions.Settings) *string { return s.AutonomyMode }),
	"spec_mode_model":                    results.StringPointer("ID of the model for the interaction mode `spec`.", func(s *sessions.Settings) *string { return s.SpecModeModel }),
	"spec_mode_reasoning_effort":         results.StringPointer("Reasoning effort for the interaction mode `spec`."+oneOf(sessions.ReasoningEfforts), func(s *sessions.Settings) *string { return s.SpecModeReasoningEffort }),
	"provider_lock":                      results.StringPointer("Kind of model provider that the session must use, such as `generic-chat-completion-api`.", func(s *sessions.Settings) *string { return s.ProviderLock }),
	"provider_lock_timestamp":            results.StringPointer("When `provider_lock` was set (RFC 3339).", func(s *sessions.Settings) *string { return s.ProviderLockTimestamp }),
	"api_provider_lock":                  results.StringPointer("API provider that the session must use.", func(s *sessions.Settings) *string { return s.APIProviderLock }),
	"archived_at":                        results.StringPointer("When the session was archived (RFC 3339). Null if it is not archived.", func(s *sessions.Settings) *string { return s.ArchivedAt }),
	"tags":                               results.List("Tags of the session.", tagResults, func(s *sessions.Settings) []sessions.Tag { return s.Tags }),
	"worktree":                           results.Object("Git worktree. The agent should work in it"+crud.Assumed("session-worktree"), worktreeResults, func(s *sessions.Settings) *sessions.Worktree { return s.Worktree }),
	"setup_profile_id":                   results.StringPointer("ID of the session's setup profile.", func(s *sessions.Settings) *string { return s.SetupProfileID }),
	"enabled_tool_ids":                   results.StringSet("IDs of tools that are enabled.", func(s *sessions.Settings) []string { return s.EnabledToolIDs }),
	"disabled_tool_ids":                  results.StringSet("IDs of tools that are disabled.", func(s *sessions.Settings) []string { return s.DisabledToolIDs }),
	"restrict_tool_ids":                  results.StringSet("IDs of the tools that the agent is restricted to.", func(s *sessions.Settings) []string { return s.RestrictToolIDs }),
	"tool_execution_mode":                results.StringPointer("How the agent calls tools."+oneOf(sessions.ToolExecutionModes), func(s *sessions.Settings) *string { return s.ToolExecutionMode }),
	"allow_subagents_in_scripts":         results.Bool("Whether scripts may start subagents.", func(s *sessions.Settings) *bool { return s.AllowSubagentsInScripts }),
	"compaction_model":                   results.StringPointer("Model that compacts a long session. Can be `current-model`, the ID of a known model, or `custom:` followed by a name"+crud.Assumed("compaction-model"), func(s *sessions.Settings) *string { return s.CompactionModel }),
	"compaction_threshold_check_enabled": results.Bool("Whether the session is compacted when it grows too long.", func(s *sessions.Settings) *bool { return s.CompactionThresholdCheckEnabled }),
}

var tagResults = results.Fields[*sessions.Tag]{
	"name":     results.StringPointer("The tag's name.", func(t *sessions.Tag) *string { return &t.Name }),
	"metadata": results.StringMap("Metadata of the tag.", func(t *sessions.Tag) map[string]string { return t.Metadata }),
}

var worktreeResults = results.Fields[*sessions.Worktree]{
	"repo_root":            results.StringPointer("Path of the repository on the computer.", func(w *sessions.Worktree) *string { return &w.RepoRoot }),
	"branch":               results.StringPointer("Branch that is checked out.", func(w *sessions.Worktree) *string { return w.Branch }),
	"lifecycle":            results.StringPointer("How long the worktree is kept."+oneOf(sessions.WorktreeLifecycles), func(w *sessions.Worktree) *string { return w.Lifecycle }),
	"path":                 results.StringPointer("Path of the worktree.", func(w *sessions.Worktree) *string { return w.Path }),
	"parent_worktree_path": results.StringPointer("Path of the worktree that this one was created from.", func(w *sessions.Worktree) *string { return w.ParentWorktreePath }),
	"removed_at":           results.StringPointer("When the worktree was removed (RFC 3339).", func(w *sessions.Worktree) *string { return w.RemovedAt }),
}

var enums = map[string][]string{
	"reasoning_effort": sessions.ReasoningEfforts, "spec_mode_reasoning_effort": sessions.ReasoningEfforts, "interaction_mode": sessions.InteractionModes,
	"autonomy_level": sessions.AutonomyLevels, "tool_execution_mode": sessions.ToolExecutionModes,
	"lifecycle": sessions.WorktreeLifecycles,
}

// validateEnums lets a configuration use only the values that the documents name. The service may return others.
func validateEnums(attributes map[string]schema.Attribute) {
	for name, values := range enums {
		if a, ok := attributes[name].(schema.StringAttribute); ok {
			a.Validators = []validator.String{value.OneOf(values...)}
			attributes[name] = a
		}
	}
}

func oneOf(values []string) string {
	return " One of " + strings.ReplaceAll(phrase.Either(values), `"`, "`") + "."
}

// namesOnly follows the description of all settings.
var namesOnly = " The API documents do not explain them, so the descriptions follow their names" + crud.Assumed("session-settings")

// These follow the descriptions of times that the service accepts in an update.
const (
	seldomSet = " You rarely need to set this: the API documents say nothing about its effect. The value is sent as given."
	toArchive = " To mark the session as archived, set the current time. The API documents say nothing else about its effect."
)

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
			a.Validators = []validator.Set{setvalidator.ValueStringsAre(value.NotEmpty())}
			attributes[name] = a
		}
	}
	for name, more := range map[string]string{"provider_lock_timestamp": seldomSet, "archived_at": toArchive} {
		at := attributes[name].(schema.StringAttribute)
		at.MarkdownDescription += more
		at.Validators = []validator.String{value.RFC3339()}
		attributes[name] = at
	}
	attributes["autonomy_mode"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: settingsResults["autonomy_mode"].Text,
		PlanModifiers:       []planmodifier.String{keepUnlessChanged{[]string{"interaction_mode", "autonomy_level"}}},
	}
	attributes["compaction_model"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["compaction_model"].Text,
		Validators:          []validator.String{value.NotEmpty(), value.Except("custom:", "Append a name, such as custom:my-model.")},
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
		MarkdownDescription: settingsResults["tags"].Text + " An empty list should remove all tags" + crud.Assumed("update-session"),
		PlanModifiers:       []planmodifier.List{listplanmodifier.UseStateForUnknown()},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"name":     schema.StringAttribute{Required: true, MarkdownDescription: tagResults["name"].Text, Validators: []validator.String{value.NotEmpty()}},
			"metadata": schema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: tagResults["metadata"].Text},
		}},
	}
	attributes["worktree"] = worktreeAttribute()
	validateEnums(attributes)
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Settings of the session." + namesOnly + " Terraform ignores misspelled names here, so compare the plan with what you wrote. If a setting is omitted, the service should choose it" + crud.Assumed("create-session") + " If it is removed, the service should keep the current value" + crud.Assumed("update-session") + " If the service returns a value that the provider does not accept in a configuration, omit that setting.",
		Attributes:          attributes,
		PlanModifiers:       []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
	}
}

// refuseNoSettings fails if all settings are null, as they are if their names are misspelled. Generated configuration may have such settings,
// so it concerns only new sessions.
func refuseNoSettings(ctx context.Context, config tfsdk.Config) diag.Diagnostics {
	var settings types.Object
	at := path.Root("session_settings")
	diags := config.GetAttribute(ctx, at, &settings)
	isSet := func(v attr.Value) bool { return !v.IsNull() }
	if value.IsSet(settings) && !slices.ContainsFunc(slices.Collect(maps.Values(settings.Attributes())), isSet) {
		diags.AddAttributeError(at, "No session settings", "session_settings has no value. Set one, or omit session_settings. Also check the spelling: Terraform ignores unknown names here.")
	}
	return diags
}

func worktreeAttribute() schema.Attribute {
	attributes := map[string]schema.Attribute{
		"repo_root": schema.StringAttribute{Required: true, MarkdownDescription: worktreeResults["repo_root"].Text, Validators: []validator.String{value.NotBlank("Set the path of the repository.")}},
		// A changed worktree is created again, so it is no longer removed.
		"removed_at": derivedAttribute(worktreeResults["removed_at"].Text+seldomSet, value.RFC3339(), "repo_root", "branch", "lifecycle", "path", "parent_worktree_path"),
	}
	for _, name := range []string{"branch", "lifecycle", "path", "parent_worktree_path"} {
		attributes[name] = derivedAttribute(worktreeResults[name].Text, value.NotEmpty(), "repo_root", "branch")
	}
	validateEnums(attributes)
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: settingsResults["worktree"].Text,
		Attributes:          attributes,
		PlanModifiers:       []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
	}
}

// derivedAttribute is for a setting that the service derives from others.
func derivedAttribute(text string, check validator.String, from ...string) schema.Attribute {
	return schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: text,
		Validators:          []validator.String{check},
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

// settingsToAPI returns nil for null and unknown. A request leaves out what is null or unknown.
func settingsToAPI(ctx context.Context, settings types.Object) (*sessions.Settings, diag.Diagnostics) {
	if !value.IsSet(settings) {
		return nil, nil
	}
	var s sessions.Settings
	diags := settings.As(ctx, &s, basetypes.ObjectAsOptions{UnhandledNullAsEmpty: true, UnhandledUnknownAsEmpty: true})
	return &s, diags
}
