package session

import (
	"context"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*sessionResource)(nil)

// createOptions put an unknown computer on computer_id.
var createOptions = apierror.Options{
	apierror.AtStatus{http.StatusNotFound: path.Root("computer_id")},
	apierror.Advice{http.StatusBadRequest: "If the computer was not found, correct computer_id, or use an API key that can see the computer. If its status is provisioning, wait until it is active, for example with wait_for_active = true. If it is asleep, wake it " +
		"with the action or resource agentyard_computer_restart. Otherwise, correct the value that the message names."},
}

// NewSessionResource returns the resource agentyard_session. Its identity contains the computer, which some responses omit.
func NewSessionResource() resource.Resource {
	return &sessionResource{crud.ByID{Resource: crud.Resource{Name: "session", MutableIdentity: true}, Example: "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"}}
}

type sessionResource struct{ crud.ByID }

type sessionModel struct {
	sessionRecord
	Cwd                types.String `tfsdk:"cwd"`
	SystemPrompt       types.String `tfsdk:"system_prompt"`
	SystemPromptAppend types.String `tfsdk:"system_prompt_append"`
}

type sessionIdentity struct {
	ID         types.String `tfsdk:"id"`
	ComputerID types.String `tfsdk:"computer_id"`
}

// FromAPI keeps what a response omits: many have no settings.
func (m *sessionModel) FromAPI(ctx context.Context, r *sessions.Session) diag.Diagnostics {
	prior := m.sessionRecord
	priorSettings, diags := settingsToAPI(ctx, prior.SessionSettings)
	s := *r
	s.Settings = s.Settings.Keeping(priorSettings)
	diags.Append(m.sessionRecord.FromAPI(ctx, &s)...)
	if value.IsSet(prior.ComputerID) && (m.ComputerID.IsNull() || strings.EqualFold(prior.ComputerID.ValueString(), m.ComputerID.ValueString())) {
		m.ComputerID = prior.ComputerID
	}
	if m.Cwd.IsUnknown() {
		m.Cwd = types.StringNull()
	}
	return diags
}

func (m *sessionModel) Identity() any { return &sessionIdentity{ID: m.ID, ComputerID: m.ComputerID} }

// OwnerOnly is always true: another owner's API key may not see the session.
func (m *sessionModel) OwnerOnly() bool { return true }

func (m *sessionModel) createRequest(ctx context.Context) (sessions.CreateRequest, diag.Diagnostics) {
	settings, diags := settingsToAPI(ctx, m.SessionSettings)
	body := sessions.CreateRequest{ComputerID: m.ComputerID.ValueString(), Cwd: m.Cwd.ValueString(), Settings: settings}
	if value.IsSet(m.SystemPrompt) || value.IsSet(m.SystemPromptAppend) {
		body.SystemPrompt = &sessions.SystemPrompt{Text: value.StringPointer(m.SystemPrompt), Append: value.StringPointer(m.SystemPromptAppend)}
	}
	return body, diags
}

const (
	forcesNew   = " Changing this forces a new session."
	notReturned = forcesNew + " The service does not return this, so the configured value is adopted after an import."
	ownSessions = crud.AnyKey + selected // Who can list their own.
	selected    = " Sessions are enabled for selected organizations only."
)

// ownersSession says who can use one session.
var ownersSession = crud.Requires + "the owner's API key, or the " + crud.ManagerRole + crud.Assumed("get-session") + selected

func (r *sessionResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := sessionResults.Resource()
	attributes["computer_id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: sessionResults["computer_id"].Text + " The service should accept only an active computer" + crud.Assumed("session-computer") + " Case-insensitive." + forcesNew,
		Validators:          []validator.String{value.NotBlank("Set the ID of a computer.")},
		PlanModifiers:       []planmodifier.String{modifier.KeepCase(), modifier.CreateOnlyString()},
	}
	attributes["cwd"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Working directory on the computer. If omitted, the service should choose." + notReturned,
		Validators:          []validator.String{value.NotBlank("Name a directory.")},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.CreateOnlyString()},
	}
	attributes["session_settings"] = settingsAttribute()
	attributes["system_prompt"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "System prompt, which should replace the agent's default one" + crud.Assumed("session-system-prompt") + " Conflicts with `system_prompt_append`." + notReturned,
		Validators:          []validator.String{value.NotBlank("Write a prompt, or omit it."), stringvalidator.ConflictsWith(path.MatchRoot("system_prompt_append"))},
		PlanModifiers:       []planmodifier.String{modifier.CreateOnlyString()},
	}
	attributes["system_prompt_append"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Text that should be appended to the agent's default system prompt" + crud.Assumed("session-system-prompt") + " Conflicts with `system_prompt`." + notReturned,
		Validators:          []validator.String{value.NotBlank("Write an addition, or omit it."), stringvalidator.ConflictsWith(path.MatchRoot("system_prompt"))},
		PlanModifiers:       []planmodifier.String{modifier.CreateOnlyString()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a session of a coding agent on a computer." + ownersSession + "\n\n" +
			"-> A session belongs to the API key's owner. If several members apply the configuration, use the API key of a service account, which should be able to use sessions" + crud.Assumed("create-session") + "\n\n" +
			"**Tasks.** Creating a session gives the agent no task. [agentyard_session_message](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/resources/session_message) gives it a task, and [agentyard_session_answer](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/resources/session_answer) waits for the answer.\n\n" +
			"**Destroy.** Destroying the resource deletes the session. The service can restore it for a limited time, but Terraform cannot.\n\n" +
			"**More.** To create, watch, and interrupt sessions, see [Agent sessions](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/agent-sessions)." + crud.Concepts,
		Attributes: attributes,
	}
}

func (r *sessionResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id":          identityschema.StringAttribute{RequiredForImport: true, Description: sessionResults["id"].Text},
		"computer_id": identityschema.StringAttribute{OptionalForImport: true, Description: sessionResults["computer_id"].Text},
	}}
}

// ModifyPlan fails before anything is created if the service rejects the API key, or if no setting has a value.
func (r *sessionResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() && !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "session", r.Client.Conn.CheckAccess(ctx), ownersOnly)...)
		resp.Diagnostics.Append(refuseNoSettings(ctx, req.Config)...)
	}
}

// PlanIsUnchanged implements crud.Shortcut: ModifyPlan concerns only new sessions.
func (r *sessionResource) PlanIsUnchanged(state, _ *crud.RawObject) bool { return state.IsAtRest() }

func (r *sessionResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *sessionModel) (*sessions.Session, error) {
		body, diags := m.createRequest(ctx)
		if err := crud.Failure(diags); err != nil {
			return nil, err
		}
		return r.Client.Sessions.Create(ctx, body)
	}, ownersOnly, createOptions)
}

func (r *sessionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *sessionModel) (*sessions.Session, error) {
		isUnread := privatestate.IsImportUnread(ctx, req.Private)
		if isUnread && m.ComputerID.ValueString() != "" { // An import by identity, mostly one of many.
			if listed, err := r.Client.Sessions.Listed(ctx, m.ID.ValueString(), m.ComputerID.ValueString()); err == nil && listed != nil {
				return listed, nil
			}
		}
		if isUnread {
			return r.Client.Sessions.GetNow(ctx, m.ID.ValueString(), m.ComputerID.ValueString())
		}
		createdAt, _ := time.Parse(time.RFC3339Nano, m.CreatedAt.ValueString()) // Zero if the service does not return it.
		return r.Client.Sessions.Get(ctx, m.ID.ValueString(), m.ComputerID.ValueString(), createdAt)
	}, ownersOnly)
}

// ReadIsUnchanged implements crud.Shortcut: Read would store what the state has, and say nothing.
func (r *sessionResource) ReadIsUnchanged(ctx context.Context, state *crud.RawObject) bool {
	found := r.Client.Sessions.Peek(ctx, state.String("id"), state.String("computer_id"))
	return found != nil && state.IsAtRest() && crud.HasValuesOf(ctx, state, sessionResults, found)
}

func (r *sessionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, state *sessionModel) (*sessions.Session, error) {
		wanted, diags := settingsToAPI(ctx, plan.SessionSettings)
		prior, priorDiags := settingsToAPI(ctx, state.SessionSettings)
		if err := crud.Failure(append(diags, priorDiags...)); err != nil {
			return nil, err
		}
		if wanted == nil || wanted.Changes(prior).IsEmpty() {
			return nil, nil // The settings differ only in form, or only in what a create accepts and an import adopts.
		}
		return r.Client.Sessions.Update(ctx, state.ID.ValueString(), state.ComputerID.ValueString(), wanted.Changes(prior))
	}, ownersOnly, apierror.Advice{http.StatusNotFound: "The session was not found. If it was deleted, plan again." + ifNew})
}

func (r *sessionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *sessionModel) error {
		return r.Client.Sessions.Delete(ctx, m.ID.ValueString(), m.ComputerID.ValueString())
	}, ownersOnly)
}

func (r *sessionResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var identity sessionIdentity
	crud.IdentityOf(ctx, req, &identity, &resp.Diagnostics)
	r.ByID.ImportState(ctx, req, resp)
	if !resp.Diagnostics.HasError() && strings.TrimSpace(identity.ComputerID.ValueString()) != "" {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("computer_id"), identity.ComputerID)...)
	}
}
