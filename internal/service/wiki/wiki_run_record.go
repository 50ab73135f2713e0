package wiki

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// wikiRunRecord contains the attributes that all wiki run objects share.
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
	Status                        types.String `tfsdk:"status"`
}

// wikiRunDataModel is a wiki run in a data source.
type wikiRunDataModel struct {
	wikiRunRecord
	PageTree      jsontypes.Normalized `tfsdk:"page_tree"`
	VideoOverview jsontypes.Normalized `tfsdk:"video_overview"`
	RawJSON       jsontypes.Normalized `tfsdk:"raw_json"`
}

// wikiRunResults are the fields of a wiki run that the resource also has.
var wikiRunResults = results.Fields[*wikis.Run]{
	"id":                                 results.String("The wiki run's ID.", func(w *wikis.Run) string { return w.ID }),
	"created_at":                         results.Time("When the wiki run was created (RFC 3339, UTC).", func(w *wikis.Run) time.Time { return w.CreatedAt.Time() }),
	"repo_url":                           results.String("URL of the repository.", func(w *wikis.Run) string { return w.RepoURL }),
	"commit_hash":                        results.String("Hash of the commit that the wiki describes.", func(w *wikis.Run) string { return w.CommitHash }),
	"branch":                             results.String("Name of the commit's branch.", func(w *wikis.Run) string { return w.Branch }),
	"has_local_changes":                  results.Bool("Whether the wiki describes uncommitted changes.", func(w *wikis.Run) *bool { return w.HasLocalChanges }),
	"has_non_remote_commits":             results.Bool("Whether the wiki describes unpushed commits.", func(w *wikis.Run) *bool { return w.HasNonRemoteCommits }),
	"page_count":                         results.Int64("Number of pages of the wiki.", func(w *wikis.Run) *int64 { return w.PageCount }),
	"source_session_id":                  results.String("ID of the session that wrote the pages. Null if unknown.", func(w *wikis.Run) string { return w.SourceSessionID }),
	"owner_user_id":                      results.String("User ID of the wiki run's owner. Null if unknown.", func(w *wikis.Run) string { return w.OwnerUserID }),
	"model_used":                         results.Object("Model that wrote the pages. Null if unknown.", wikiModel, func(w *wikis.Run) *wikis.Model { return w.ModelUsed }),
	"agent_version":                      results.String("Version of the agent that wrote the pages. Null if unknown.", func(w *wikis.Run) string { return w.AgentVersion }),
	"privacy_level":                      results.String("Who can see the wiki: `organization`, or `private`, which should be its owner alone"+crud.Assumed("list-wiki-runs"), func(w *wikis.Run) string { return w.PrivacyLevel }),
	"can_update_privacy":                 results.Bool("Whether the API key can change the privacy level.", func(w *wikis.Run) *bool { return w.CanUpdatePrivacy }),
	"is_repo_covered_by_org_integration": results.Bool("Whether the organization's code-host integration covers the repository.", func(w *wikis.Run) *bool { return w.IsRepoCoveredByOrgIntegration }),
	"status":                             results.String("Status of the wiki run, in the service's words. Null if the service does not return it; lists may lack it.", func(w *wikis.Run) string { return w.Status }),
}

// wikiRunData are the fields of a wiki run in data sources.
var wikiRunData = results.Merge(wikiRunResults, results.Fields[*wikis.Run]{
	"page_tree": results.JSON("Tree of pages, as JSON: a list of objects with `pageId`, `title`, `path`, `order`, and `children`. `children` is a list of the same objects.",
		func(w *wikis.Run) json.RawMessage { return w.PageTree }),
	"video_overview": results.JSON("The wiki's video, as JSON in the service's format. Null if there is none.", func(w *wikis.Run) json.RawMessage { return w.VideoOverview }),
	"raw_json":       results.JSON(crud.WholeRecord, func(w *wikis.Run) json.RawMessage { return w.Raw }),
})

var wikiModel = results.Fields[*wikis.Model]{
	"id":               results.String("The model's ID.", func(m *wikis.Model) string { return m.ID }),
	"reasoning_effort": results.String("Reasoning effort of the model.", func(m *wikis.Model) string { return m.ReasoningEffort }),
}

// FromAPI keeps what is known of the fields that never change, and a privacy level that the service omits.
func (m *wikiRunRecord) FromAPI(ctx context.Context, w *wikis.Run) diag.Diagnostics {
	known := *m
	diags := wikiRunResults.Into(ctx, w, m)
	for now, before := range map[*types.String]types.String{&m.RepoURL: known.RepoURL, &m.CommitHash: known.CommitHash, &m.Branch: known.Branch} {
		if value.IsSet(before) {
			*now = before
		}
	}
	for now, before := range map[*types.Bool]types.Bool{&m.HasLocalChanges: known.HasLocalChanges, &m.HasNonRemoteCommits: known.HasNonRemoteCommits} {
		if value.IsSet(before) {
			*now = before
		}
	}
	if m.PrivacyLevel.IsNull() && value.IsSet(known.PrivacyLevel) {
		m.PrivacyLevel = known.PrivacyLevel
	}
	return diags
}
