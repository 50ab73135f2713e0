package wiki

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// wikiRunRecord is what every object shows of a wiki run.
type wikiRunRecord struct {
	ID                            types.String `tfsdk:"id"`
	CreatedAt                     types.String `tfsdk:"created_at"`
	RepoURL                       types.String `tfsdk:"repo_url"`
	CommitHash                    types.String `tfsdk:"commit_hash"`
	Branch                        types.String `tfsdk:"branch"`
	HasLocalChanges               types.Bool   `tfsdk:"has_local_changes"`
	HasNonRemoteCommits           types.Bool   `tfsdk:"has_non_remote_commits"`
	PageCount                     types.Int64  `tfsdk:"page_count"`
	SourceSessionID               types.String `tfsdk:"source_session_id"`
	OwnerUserID                   types.String `tfsdk:"owner_user_id"`
	ModelUsed                     types.Object `tfsdk:"model_used"`
	AgentVersion                  types.String `tfsdk:"agent_version"`
	PrivacyLevel                  types.String `tfsdk:"privacy_level"`
	CanUpdatePrivacy              types.Bool   `tfsdk:"can_update_privacy"`
	IsRepoCoveredByOrgIntegration types.Bool   `tfsdk:"is_repo_covered_by_org_integration"`
}

// wikiRunDetails is a wiki run in data sources.
type wikiRunDetails struct {
	wikiRunRecord
	PageTree      jsontypes.Normalized `tfsdk:"page_tree"`
	VideoOverview jsontypes.Normalized `tfsdk:"video_overview"`
}

// wikiRunResults are the fields of a wiki run, wherever they are shown.
var wikiRunResults = results.Plain{
	"id":                                 {Text: "The wiki run's ID."},
	"created_at":                         {Text: "When the wiki run was created (RFC 3339, UTC)."},
	"repo_url":                           {Text: "URL of the repository."},
	"commit_hash":                        {Text: "Hash of the commit that the wiki describes."},
	"branch":                             {Text: "Name of the branch that the commit is on."},
	"has_local_changes":                  {Text: "Whether the wiki describes uncommitted changes.", Type: types.BoolType},
	"has_non_remote_commits":             {Text: "Whether the wiki describes unpushed commits.", Type: types.BoolType},
	"page_count":                         {Text: "Number of pages of the wiki.", Type: types.Int64Type},
	"source_session_id":                  {Text: "ID of the session that wrote the pages. Null if unknown."},
	"owner_user_id":                      {Text: "ID of the user who owns the wiki run. Null if unknown."},
	"model_used":                         {Text: "Model that wrote the pages. Null if unknown.", Of: modelResults},
	"agent_version":                      {Text: "Version of the agent that wrote the pages. Null if unknown."},
	"privacy_level":                      {Text: "Who can see the wiki. One of `organization` or `private` (its owner)."},
	"can_update_privacy":                 {Text: "Whether the API key can change the privacy level and delete the wiki run.", Type: types.BoolType},
	"is_repo_covered_by_org_integration": {Text: "Whether the organization's code-host integration covers the repository.", Type: types.BoolType},
}

// wikiRunAttributes are the computed attributes of a wiki run in data sources.
func wikiRunAttributes() map[string]schema.Attribute {
	attributes := wikiRunResults.DataSource()
	maps.Copy(attributes, results.Plain{
		"page_tree": {Text: "Tree of pages, as JSON: a list of objects with `pageId`, `title`, `path`, `order`, and `children`. `children` is again such a list, at most five levels deep.",
			Type: jsontypes.NormalizedType{}},
		"video_overview": {Text: "The wiki's video, as JSON in the service's format. Null if there is none.", Type: jsontypes.NormalizedType{}},
	}.DataSource())
	return attributes
}

var modelResults = results.Plain{
	"id":               {Text: "The model's ID."},
	"reasoning_effort": {Text: "Reasoning effort of the model."},
}

var modelType = modelResults.ObjectType()

// FromAPI takes over a record. What never changes stays where the service does not tell it, or tells it in an equal form.
func (m *wikiRunRecord) FromAPI(_ context.Context, w *client.WikiRun) diag.Diagnostics {
	m.ID, m.CreatedAt = types.StringValue(w.ID), value.Time(w.CreatedAt.Time())
	if !client.SameRepository(m.RepoURL.ValueString(), w.RepoURL) {
		m.RepoURL = types.StringValue(w.RepoURL)
	}
	if !client.SameCommit(m.CommitHash.ValueString(), w.CommitHash) {
		m.CommitHash = told(m.CommitHash, w.CommitHash)
	}
	m.Branch = told(m.Branch, w.Branch)
	m.HasLocalChanges = toldFlag(m.HasLocalChanges, w.HasLocalChanges)
	m.HasNonRemoteCommits = toldFlag(m.HasNonRemoteCommits, w.HasNonRemoteCommits)
	m.PageCount = types.Int64PointerValue(w.PageCount)
	m.SourceSessionID, m.OwnerUserID, m.AgentVersion = value.StringOrNull(w.SourceSessionID), value.StringOrNull(w.OwnerUserID), value.StringOrNull(w.AgentVersion)
	m.PrivacyLevel = told(m.PrivacyLevel, w.PrivacyLevel)
	m.CanUpdatePrivacy, m.IsRepoCoveredByOrgIntegration = types.BoolPointerValue(w.CanUpdatePrivacy), types.BoolPointerValue(w.IsRepoCoveredByOrgIntegration)

	var diags diag.Diagnostics
	m.ModelUsed = types.ObjectNull(modelType.AttrTypes)
	if w.ModelUsed != nil {
		model, d := types.ObjectValue(modelType.AttrTypes, map[string]attr.Value{
			"id": value.StringOrNull(w.ModelUsed.ID), "reasoning_effort": value.StringOrNull(w.ModelUsed.ReasoningEffort),
		})
		diags.Append(d...)
		m.ModelUsed = model
	}
	return diags
}

// FromAPI takes over a record with its tree and video.
func (m *wikiRunDetails) FromAPI(ctx context.Context, w *client.WikiRun) diag.Diagnostics {
	diags := m.wikiRunRecord.FromAPI(ctx, w)
	m.PageTree = fromJSON("page_tree", w.ID, w.PageTree, &diags)
	m.VideoOverview = fromJSON("video_overview", w.ID, w.VideoOverview, &diags)
	return diags
}

// told is what the service tells, or else what is known.
func told(known types.String, now string) types.String {
	if now != "" || known.IsUnknown() {
		return value.StringOrNull(now)
	}
	return known
}

func toldFlag(known types.Bool, now *bool) types.Bool {
	if now != nil || known.IsUnknown() {
		return types.BoolPointerValue(now)
	}
	return known
}

func fromJSON(attribute, id string, raw json.RawMessage, diags *diag.Diagnostics) jsontypes.Normalized {
	text, err := value.JSON(raw)
	if err != nil {
		diags.AddError("Cannot read wiki run", fmt.Sprintf("The %s of wiki run %s is not valid JSON. Check that base_url is the service's address.", attribute, id))
	}
	return text
}
