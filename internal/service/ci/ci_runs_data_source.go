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
)

type ciRunsModel struct {
	Runs        types.List   `tfsdk:"runs"`
	Integration types.Object `tfsdk:"integration"`
}

// CIRunsDataSource is the data source agentyard_ci_runs.
var CIRunsDataSource = crud.DataSource{
	Name:        "ci_runs",
	Description: "Lists the runs of the workflows of CI automation." + anyKey,
	Attributes: map[string]schema.Attribute{
		"runs":        ciRun.DataSourceRows("The runs, in the service's order."),
		"integration": integrationAttribute(),
	},
	Verb: "list", Object: "CI runs", Options: readOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *ciRunsModel) error {
		found, err := c.CI.Runs(ctx)
		if err != nil {
			return err
		}
		m.Runs, m.Integration = results.RowsOf(ciRun, found.Runs), results.ObjectOf(integration, found.Integration)
		return nil
	}),
}

var ciRun = results.Fields[*ci.Run]{
	"id":             results.String("ID of the run.", func(r *ci.Run) string { return string(r.ID) }),
	"repo_full_name": results.String(repositoryText, func(r *ci.Run) string { return string(r.RepoFullName) }),
	"status":         results.String("Status of the run, such as `queued`, `in_progress`, or `completed`.", func(r *ci.Run) string { return string(r.Status) }),
	"conclusion":     results.String("Result of the run, such as `success` or `failure`. Null if the service returns none.", func(r *ci.Run) string { return string(r.Conclusion) }),
	"raw":            results.JSON("The whole run as JSON. Its fields can change with the version of the service.", func(r *ci.Run) json.RawMessage { return r.Raw }),
}
