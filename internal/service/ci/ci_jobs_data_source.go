package ci

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type ciJobsModel struct {
	Jobs types.List `tfsdk:"jobs"`
}

// CIJobsDataSource is the data source agentyard_ci_jobs.
var CIJobsDataSource = crud.DataSource{
	Name:        "ci_jobs",
	Description: "Lists the jobs of CI automation." + anyKey,
	Attributes: map[string]schema.Attribute{
		"jobs": ciJob.DataSourceRows("The jobs, newest first."),
	},
	Verb: "list", Object: "CI jobs", Options: readOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *ciJobsModel) error {
		found, err := c.CI.Jobs(ctx)
		m.Jobs = results.RowsOf(ciJob, found)
		return err
	}),
}

var ciJob = results.Fields[*ci.Job]{
	"id":             results.String("ID of the job.", func(j *ci.Job) string { return j.ID }),
	"action":         results.String("What the job does to the workflow: `create`, `edit`, or `delete`.", func(j *ci.Job) string { return j.Action }),
	"repo_full_name": results.String(repositoryText, func(j *ci.Job) string { return j.RepoFullName }),
	"file_path":      results.String(fileText, func(j *ci.Job) string { return j.FilePath }),
	"pr_url":         results.String("URL of the pull request. Null if the service returns none.", func(j *ci.Job) string { return j.PullRequest }),
	"status":         results.String("Status of the job, in the service's words, such as `ready`.", func(j *ci.Job) string { return j.Status }),
	"error":          results.String("Why the job failed.", func(j *ci.Job) string { return string(j.Error) }),
	"created_at":     results.Time("When the job was created (RFC 3339, UTC).", func(j *ci.Job) time.Time { return j.CreatedAt.Time() }),
	"updated_at":     results.Time("When the job was last updated (RFC 3339, UTC).", func(j *ci.Job) time.Time { return j.UpdatedAt.Time() }),
	"raw_json":       results.JSON(crud.WholeRecord, func(j *ci.Job) json.RawMessage { return j.Raw }),
}
