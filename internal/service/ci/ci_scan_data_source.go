package ci

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type ciScanModel struct {
	ForceRefresh types.Bool   `tfsdk:"force_refresh"`
	Workflows    types.List   `tfsdk:"workflows"`
	ScannedAt    types.String `tfsdk:"scanned_at"`
	CacheTTLMs   types.Int64  `tfsdk:"cache_ttl_ms"`
	Integration  types.Object `tfsdk:"integration"`
}

// CIScanDataSource is the data source agentyard_ci_scan.
var CIScanDataSource = crud.DataSource{
	Name:        "ci_scan",
	Description: "Lists the CI workflows in the connected repositories." + anyKey,
	Attributes: map[string]schema.Attribute{
		"force_refresh": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether to scan the repositories again, instead of returning an earlier scan that is younger than `cache_ttl_ms`" + crud.Assumed("scan-ci-workflows-force-refresh") + " " +
				"With `true`, `scanned_at` differs in every plan. The provider waits up to 5 minutes, or `request_timeout` if that is longer. Defaults to `false`.",
		},
		"workflows":    ciWorkflow.DataSourceRows("The workflows, ordered by `repo_full_name` and then `file_path`."),
		"scanned_at":   schema.StringAttribute{Computed: true, MarkdownDescription: "When the repositories were scanned (RFC 3339, UTC)."},
		"cache_ttl_ms": schema.Int64Attribute{Computed: true, MarkdownDescription: "How long the service should return the same scan, in milliseconds" + crud.Assumed("scan-ci-workflows")},
		"integration":  integrationAttribute(),
	},
	Verb: "scan", Object: "CI workflows", Options: readOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *ciScanModel) error {
		found, err := c.CI.Scan(ctx, m.ForceRefresh.ValueBool())
		if err != nil {
			return err
		}
		m.Workflows, m.Integration = results.RowsOf(ciWorkflow, found.Workflows), results.ObjectOf(integration, found.Integration)
		m.ScannedAt, m.CacheTTLMs = value.Time(found.ScannedAt.Time()), types.Int64PointerValue(found.CacheTTL)
		return nil
	}),
}

var ciWorkflow = results.Fields[*ci.Workflow]{
	"repo_full_name":      results.String(repositoryText, func(w *ci.Workflow) string { return w.RepoFullName }),
	"file_path":           results.String(fileText, func(w *ci.Workflow) string { return w.FilePath }),
	"workflow_name":       results.String("Name of the workflow.", func(w *ci.Workflow) string { return w.WorkflowName }),
	"trigger_events":      results.StringList("Events of the code host that start the workflow, ordered by name.", func(w *ci.Workflow) []string { return w.TriggerEvents }),
	"schedule_cron":       results.String("Schedule of the workflow, as five cron fields. Null if it has none.", func(w *ci.Workflow) string { return w.ScheduleCron }),
	"template_id":         results.String("ID of the workflow's template, such as `code-review`, `wiki`, `qa`, or `security-audit`. Null if it has none.", func(w *ci.Workflow) string { return w.TemplateID }),
	"agent_action_inputs": results.JSON("Inputs of the agent's step, such as its model, as JSON. Null if the workflow has no such step.", func(w *ci.Workflow) json.RawMessage { return w.AgentActionInputs }),
	"github_url":          results.String("URL of the file at the code host.", func(w *ci.Workflow) string { return w.GithubURL }),
	"file_sha":            results.String("Hash of the file's content at the code host.", func(w *ci.Workflow) string { return w.FileSHA }),
	"authored_by":         results.Object("Author of the workflow. Null if unknown.", ciAuthor, func(w *ci.Workflow) *ci.Author { return w.AuthoredBy }),
	"user_permission":     results.String(permissionText, func(w *ci.Workflow) string { return w.UserPermission }),
	"raw_json":            results.JSON(crud.WholeRecord, func(w *ci.Workflow) json.RawMessage { return w.Raw }),
}

var ciAuthor = results.Fields[*ci.Author]{
	"login": results.String("Login at the code host.", func(a *ci.Author) string { return a.Login }),
	"name":  results.String("Name at the code host.", func(a *ci.Author) string { return a.Name }),
}
