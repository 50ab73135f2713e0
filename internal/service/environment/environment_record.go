// Package environment contains the Terraform objects for environments and their builds.
package environment

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// environmentRecord contains the results that the resource and the data sources share.
type environmentRecord struct {
	ID                    types.String `tfsdk:"id"`
	Name                  types.String `tfsdk:"name"`
	Scope                 types.String `tfsdk:"scope"`
	Repositories          types.List   `tfsdk:"repositories"`
	ActiveRepositories    types.List   `tfsdk:"active_repositories"`
	SetupScript           types.String `tfsdk:"setup_script"`
	Source                types.Object `tfsdk:"source"`
	ActiveSource          types.Object `tfsdk:"active_source"`
	Status                types.String `tfsdk:"status"`
	IsDefault             types.Bool   `tfsdk:"is_default"`
	LatestBuild           types.Object `tfsdk:"latest_build"`
	LastSuccessfulBuildAt types.String `tfsdk:"last_successful_build_at"`
	FailureReason         types.String `tfsdk:"failure_reason"`
	CreatedAt             types.String `tfsdk:"created_at"`
}

// environmentResults are the fields of an environment in resources and data sources.
var environmentResults = results.Fields[*environments.Environment]{
	"id":                       results.String("The environment's ID.", func(e *environments.Environment) string { return e.ID }),
	"name":                     results.String("The environment's name.", func(e *environments.Environment) string { return e.Name }),
	"scope":                    results.String("The environment's scope. One of `user` or `organization`. Only its owner should see an environment of the scope `user`"+crud.Assumed("get-environment"), func(e *environments.Environment) string { return e.Scope }),
	"repositories":             results.List("Configured repositories, each with its setup script.", repositoryResults, func(e *environments.Environment) []environments.Repository { return e.Repositories }),
	"active_repositories":      results.List("Active repositories. They should be those of the last successful build, and null before it"+crud.Assumed("environment"), repositoryResults, func(e *environments.Environment) []environments.Repository { return e.ActiveRepositories }),
	"setup_script":             results.String("Script that sets up the whole environment.", func(e *environments.Environment) string { return e.SetupScript }),
	"source":                   results.Object("Source that the environment is built from.", sourceResults, func(e *environments.Environment) *environments.Source { return e.Source }),
	"active_source":            results.Object("Active source. It should be that of the last successful build, and null before it"+crud.Assumed("environment"), sourceResults, func(e *environments.Environment) *environments.Source { return e.ActiveSource }),
	"status":                   results.String("The environment's status. One of `building`, `ready`, or `failed`.", func(e *environments.Environment) string { return e.Status }),
	"is_default":               results.Bool("Whether the environment is the organization's default.", func(e *environments.Environment) *bool { return e.IsDefault }),
	"latest_build":             results.Object("The latest build.", buildResults, func(e *environments.Environment) *environments.Build { return e.LatestBuild }),
	"last_successful_build_at": results.Time("When the last successful build ended (RFC 3339, UTC). Should be null before it"+crud.Assumed("environment"), func(e *environments.Environment) time.Time { return e.LastSuccessfulBuildAt.Time() }),
	"failure_reason":           results.String("Why the latest build failed.", func(e *environments.Environment) string { return e.FailureReason }),
	"created_at":               results.Time("When the environment was created (RFC 3339, UTC).", func(e *environments.Environment) time.Time { return e.CreatedAt.Time() }),
}

// environmentData are the fields of an environment in data sources. In a resource, updated_at would change by itself.
var environmentData = results.Merge(environmentResults, results.Fields[*environments.Environment]{
	"updated_at": results.Time("When the environment was last changed (RFC 3339, UTC).", func(e *environments.Environment) time.Time { return e.UpdatedAt.Time() }),
})

var repositoryResults = results.Fields[*environments.Repository]{
	"url":    results.StringPointer("The repository's URL.", func(r *environments.Repository) *string { return &r.URL }),
	"script": results.StringPointer("The script that sets up the repository.", func(r *environments.Repository) *string { return &r.Script }),
}

var sourceResults = results.Fields[*environments.Source]{
	"id":                     results.StringPointer("The source's ID.", func(s *environments.Source) *string { return &s.ID }),
	"name":                   results.StringPointer("The source's name.", func(s *environments.Source) *string { return &s.Name }),
	"supports_repositories":  results.Bool("Whether the source supports repositories.", func(s *environments.Source) *bool { return &s.SupportsRepositories }),
	"supports_setup_scripts": results.Bool("Whether the source supports setup scripts.", func(s *environments.Source) *bool { return &s.SupportsSetupScripts }),
	"provider":               results.Object("Provider of the source.", providerResults, func(s *environments.Source) *environments.SourceProvider { return &s.Provider }),
	"unavailable":            results.Bool("Whether the source is currently unavailable.", func(s *environments.Source) *bool { return &s.Unavailable }),
}

var providerResults = results.Fields[*environments.SourceProvider]{
	"id":   results.StringPointer("The provider's ID.", func(p *environments.SourceProvider) *string { return &p.ID }),
	"name": results.StringPointer("The provider's name.", func(p *environments.SourceProvider) *string { return &p.Name }),
}

var buildResults = results.Fields[*environments.Build]{
	"id":               results.StringPointer("The build's ID.", func(b *environments.Build) *string { return &b.ID }),
	"status":           results.String("The build's status. One of `queued`, `building`, `validating`, `succeeded`, `failed`, or `superseded`.", func(b *environments.Build) string { return b.Status }),
	"trigger":          results.String("What started the build. One of `create`, `edit`, `manual`, `scheduled`, or `base-update`.", func(b *environments.Build) string { return b.Trigger }),
	"repositories":     results.List("Repositories and commits that were built.", buildRepositoryResults, func(b *environments.Build) []environments.BuildRepository { return b.Repositories }),
	"failure_reason":   results.String("Why the build failed.", func(b *environments.Build) string { return b.FailureReason }),
	"failure_category": results.String("Kind of the failure. One of `source-resolution`, `provider`, `timeout`, `validation`, `promotion`, `cleanup`, or `unknown`.", func(b *environments.Build) string { return b.FailureCategory }),
	"excerpt":          results.String("Excerpt of the diagnostics. Can be null, as in lists of environments"+crud.Assumed("list-environments"), func(b *environments.Build) string { return b.Excerpt }),
	"truncated":        results.Bool("Whether `excerpt` is truncated.", func(b *environments.Build) *bool { return &b.Truncated }),
	"withheld":         results.Bool("Whether the service withholds the excerpt.", func(b *environments.Build) *bool { return &b.Withheld }),
	"created_at":       results.Time("When the build was created (RFC 3339, UTC).", func(b *environments.Build) time.Time { return b.CreatedAt.Time() }),
	"started_at":       results.Time("When the build started (RFC 3339, UTC).", func(b *environments.Build) time.Time { return b.StartedAt.Time() }),
	"finished_at":      results.Time("When the build ended (RFC 3339, UTC).", func(b *environments.Build) time.Time { return b.FinishedAt.Time() }),
	"promoted_at":      results.Time("When the build was promoted (RFC 3339, UTC).", func(b *environments.Build) time.Time { return b.PromotedAt.Time() }),
}

var buildRepositoryResults = results.Fields[*environments.BuildRepository]{
	"url":            results.StringPointer("The repository's URL.", func(r *environments.BuildRepository) *string { return &r.URL }),
	"name":           results.StringPointer("The repository's name.", func(r *environments.BuildRepository) *string { return &r.Name }),
	"default_branch": results.StringPointer("The repository's default branch.", func(r *environments.BuildRepository) *string { return &r.DefaultBranch }),
	"commit_sha":     results.StringPointer("The commit that was built.", func(r *environments.BuildRepository) *string { return &r.CommitSHA }),
}

var (
	repositoryType = repositoryResults.ObjectType()
	sourceType     = sourceResults.ObjectType()
	buildType      = buildResults.ObjectType()
)

// FromAPI sets the record's values.
func (m *environmentRecord) FromAPI(ctx context.Context, e *environments.Environment) diag.Diagnostics {
	return environmentResults.Into(ctx, e, m)
}

// Identity returns the environment's ID.
func (m *environmentRecord) Identity() any { return &crud.ID{ID: m.ID} }
