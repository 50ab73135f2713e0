package session

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*sessionResource)(nil)
	_ resource.ResourceWithIdentity       = (*sessionResource)(nil)
	_ resource.ResourceWithImportState    = (*sessionResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*sessionResource)(nil)
	_ resource.ResourceWithValidateConfig = (*sessionResource)(nil)
)

// sessionOptions say where errors are shown, and what to do about them.
var sessionOptions = apierror.Options{
	apierror.Fields{
		"computerId": path.Root("computer_id"), "cwd": path.Root("cwd"), "systemPrompt": path.Root("system_prompt"), "sessionSettings": path.Root("session_settings"),
		"autonomyMode": path.Root("session_settings").AtName("autonomy_mode"),
	},
	ownersOnly,
}

// ofCreation shows at the computer what the service refuses to make on it, unless it names something else.
var ofCreation = apierror.Options{
	apierror.AtStatus{http.StatusBadRequest: path.Root("computer_id"), http.StatusNotFound: path.Root("computer_id")},
	apierror.Advice{http.StatusBadRequest: "If the service found no such computer, correct computer_id. If the computer is not active, wait until it is, or restart " +
		"a managed one with the action agentyard_computer_restart. Otherwise, correct the value that the service names."},
}

// NewSessionResource returns the resource agentyard_session.
func NewSessionResource() resource.Resource { return &sessionResource{} }

type sessionResource struct{ crud.Resource }

type sessionModel struct {
	sessionRecord
	Cwd                types.String `tfsdk:"cwd"`
	SystemPrompt       types.String `tfsdk:"system_prompt"`
	SystemPromptAppend types.String `tfsdk:"system_prompt_append"`
}

// sessionIdentity is the identity.
type sessionIdentity struct {
	ID         types.String `tfsdk:"id"`
	ComputerID types.String `tfsdk:"computer_id"`
}

// answered is a session as an answer told it.
type answered struct {
	*sessions.Session
	// isOutcome says that it is what came of a change that was planned.
	isOutcome bool
}

// FromAPI takes over a record. What an answer leaves out, as many do with settings and credits, stays as it was.
func (m *sessionModel) FromAPI(ctx context.Context, a *answered) diag.Diagnostics {
	before := m.sessionRecord
	known, diags := settingsToAPI(ctx, before.SessionSettings)
	s := *a.Session
	s.Settings = s.Settings.Keeping(known)
	diags.Append(m.sessionRecord.FromAPI(ctx, &s)...)
	if value.IsSet(before.ComputerID) && (m.ComputerID.IsNull() || strings.EqualFold(before.ComputerID.ValueString(), m.ComputerID.ValueString())) {
		m.ComputerID = before.ComputerID
	}
	if m.ServiceCredits.IsNull() && value.IsSet(before.ServiceCredits) {
		m.ServiceCredits = before.ServiceCredits
	}
	if m.Cwd.IsUnknown() {
		m.Cwd = types.StringNull()
	}
	if settings, ok := asPlanned(ctx, before.SessionSettings, m.SessionSettings).(types.Object); ok && a.isOutcome {
		m.SessionSettings = settings
	}
	return diags
}

// Identity is the session's ID and that of its computer.
func (m *sessionModel) Identity() any { return &sessionIdentity{ID: m.ID, ComputerID: m.ComputerID} }

// OwnerOnly reports that only the owner's API keys see the session.
func (m *sessionModel) OwnerOnly() bool { return true }

// createdAt is zero where it is not known.
func (m *sessionModel) createdAt() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, m.CreatedAt.ValueString())
	return at
}

func (m *sessionModel) createRequest(ctx context.Context) (sessions.CreateRequest, diag.Diagnostics) {
	settings, diags := settingsToAPI(ctx, m.SessionSettings)
	body := sessions.CreateRequest{ComputerID: m.ComputerID.ValueString(), Cwd: m.Cwd.ValueString(), Settings: settings}
	if value.IsSet(m.SystemPrompt) || value.IsSet(m.SystemPromptAppend) {
		body.SystemPrompt = &sessions.SystemPrompt{Text: value.StringPointer(m.SystemPrompt), Append: value.StringPointer(m.SystemPromptAppend)}
	}
	return body, diags
}

func (r *sessionResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_session"
	// The service may tell the computer only later.
	resp.ResourceBehavior.MutableIdentity = true
}

const (
	notReturned = " A change replaces the session. The service does not return it, so it is adopted from the configuration after an import."
	// settingsUnknown explains an error of Terraform's: a provider cannot replace what was planned as an update.
	settingsUnknown = "The session_settings are known only in the apply. If they change tool_execution_mode or allow_subagents_in_scripts, " +
		"this apply fails with \"Provider produced inconsistent final plan\" and changes nothing. The next plan then replaces the session."
	sessionText = "Sessions are enabled for selected organizations only."
)

func (r *sessionResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := sessionResults.Resource()
	delete(attributes, "updated_at") // It would change with every step of the agent.
	attributes["computer_id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: sessionResults["computer_id"].Text + " It must be active. A change replaces the session; upper and lower case make no difference.",
		Validators:          []validator.String{value.NotBlank("give the ID of a computer")},
		PlanModifiers:       []planmodifier.String{value.KeepCase(), adopt.String()},
	}
	attributes["cwd"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "The working directory on the computer. If omitted, the service chooses, usually the home directory of the computer's `remote_user`." + notReturned,
		Validators:          []validator.String{value.NotBlank("name a directory")},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), adopt.String()},
	}
	attributes["session_settings"] = settingsAttribute()
	attributes["system_prompt"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "What the agent is told in place of its usual system prompt. Conflicts with `system_prompt_append`." + notReturned,
		Validators:          []validator.String{value.NotBlank("write a prompt, or omit it"), stringvalidator.ConflictsWith(path.MatchRoot("system_prompt_append"))},
		PlanModifiers:       []planmodifier.String{adopt.String()},
	}
	attributes["system_prompt_append"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "What is added to the agent's usual system prompt. Conflicts with `system_prompt`." + notReturned,
		Validators:          []validator.String{value.NotBlank("write an addition, or omit it"), stringvalidator.ConflictsWith(path.MatchRoot("system_prompt"))},
		PlanModifiers:       []planmodifier.String{adopt.String()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A session of a coding agent on a computer. " + sessionText + " It belongs to the owner of the API key. " +
			"Destroying it deletes it softly: the service keeps it for a while and can restore it.",
		Attributes: attributes,
	}
}

func (r *sessionResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id":          identityschema.StringAttribute{RequiredForImport: true, Description: sessionResults["id"].Text},
		"computer_id": identityschema.StringAttribute{OptionalForImport: true, Description: sessionResults["computer_id"].Text},
	}}
}

func (r *sessionResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var settings types.Object
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("session_settings"), &settings)...)
	// Other settings may be unknown in parts, which cannot be decoded.
	given := func(name string) *string {
		text, _ := settings.Attributes()[name].(types.String)
		return value.StringPointer(text)
	}
	modes := &sessions.Settings{InteractionMode: given("interaction_mode"), AutonomyLevel: given("autonomy_level")}
	if mode := given("autonomy_mode"); mode != nil && modes.Contradicts(*mode) {
		resp.Diagnostics.AddAttributeError(path.Root("session_settings").AtName("autonomy_mode"), "Contradicting Modes",
			fmt.Sprintf("autonomy_mode = %q says something else than interaction_mode and autonomy_level. It is deprecated: remove it.", *mode))
	}
}

// ModifyPlan rejects settings that the service does not know, and checks the access before the first creation.
func (r *sessionResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var state, config sessionModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	isNew := req.State.Raw.IsNull()
	if !isNew {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	resp.Diagnostics.Append(checkSettings(config.SessionSettings, state.SessionSettings)...)
	switch {
	case resp.Diagnostics.HasError():
	case isNew:
		resp.Diagnostics.Append(apierror.For("plan", "session", r.Client.Conn.CheckAccess(ctx), sessionOptions)...)
	case !isNew && config.SessionSettings.IsUnknown():
		resp.Diagnostics.AddAttributeWarning(path.Root("session_settings"), "Session Settings Not Known Yet", settingsUnknown)
	}
}

func (r *sessionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, r.Client, "session", req, resp, func(m *sessionModel) (*answered, error) {
		body, diags := m.createRequest(ctx)
		resp.Diagnostics.Append(diags...)
		made, err := r.Client.Sessions.Create(ctx, body)
		if err != nil {
			return nil, err
		}
		resp.Diagnostics.Append(notTaken(body.Settings, made)...)
		return &answered{made, true}, nil
	}, sessionOptions, ofCreation)
}

func (r *sessionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, r.Client, "session", req, resp, func(m *sessionModel) (*answered, error) {
		id, computer := m.ID.ValueString(), m.ComputerID.ValueString()
		var found *sessions.Session
		var err error
		if adopt.Unread(ctx, req.Private) {
			found, err = r.Client.Sessions.GetWithSettings(ctx, id, computer)
		} else {
			found, err = r.Client.Sessions.Get(ctx, id, computer, m.createdAt())
		}
		if err != nil {
			return nil, err
		}
		return &answered{found, false}, nil
	}, sessionOptions)
}

func (r *sessionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, "session", req, resp, func(plan, state *sessionModel) (*answered, error) {
		wanted, diags := settingsToAPI(ctx, plan.SessionSettings)
		resp.Diagnostics.Append(diags...)
		before, diags := settingsToAPI(ctx, state.SessionSettings)
		resp.Diagnostics.Append(diags...)
		if wanted == nil || wanted.Changes(before).IsEmpty() {
			// Nothing is asked of the service: another form of the same, or what only a creation accepts after an import.
			if settings, ok := asPlanned(ctx, plan.SessionSettings, state.SessionSettings).(types.Object); ok {
				plan.SessionSettings = settings
			}
			return nil, nil
		}
		changes := wanted.Changes(before)
		updated, err := r.Client.Sessions.Update(ctx, state.ID.ValueString(), state.ComputerID.ValueString(), state.createdAt(), changes)
		if err != nil {
			return nil, err
		}
		resp.Diagnostics.Append(notTaken(changes, updated)...)
		return &answered{updated, true}, nil
	}, sessionOptions)
}

// notTaken warns where the service has answered with other settings than it was asked for.
func notTaken(asked *sessions.Settings, s *sessions.Session) diag.Diagnostics {
	if s.Settings == nil || asked.HoldsIn(s.Settings) {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("session_settings"), "Settings Not Taken as Asked",
		fmt.Sprintf("The service accepted the settings of session %s, but answered that some of them are others than it was asked for. The next plan shows which. The organization's settings may bound them, such as the autonomy level.", s.ID))}
}

func (r *sessionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, r.Client, "session", req, resp, func(m *sessionModel) error {
		return r.Client.Sessions.Delete(ctx, m.ID.ValueString(), m.ComputerID.ValueString(), m.createdAt())
	}, sessionOptions)
}

// ImportState takes the session's ID, or the identity, in which the computer may be named.
func (r *sessionResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var identity sessionIdentity
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	}
	crud.ImportByID(ctx, "session", "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11", req, resp)
	if !resp.Diagnostics.HasError() && strings.TrimSpace(identity.ComputerID.ValueString()) != "" {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("computer_id"), identity.ComputerID)...)
	}
}
