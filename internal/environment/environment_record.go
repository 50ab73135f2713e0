// Package environment holds the Terraform objects that concern environments and their builds.
package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// environmentRecord is an environment as the service returns it: the results that the resource and the data sources share.
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

// environmentResults are the fields of an environment, wherever they are shown.
var environmentResults = results.Plain{
	"id":                       {Text: "The environment's ID."},
	"name":                     {Text: "The environment's name."},
	"scope":                    {Text: "Who can use the environment. One of `user` (its owner) or `organization` (all members)."},
	"repositories":             {Text: "Configured repositories, each with its setup script.", Of: repositoryResults, IsList: true},
	"active_repositories":      {Text: "Repositories of the last successful build, which sessions use. Null before the first successful build.", Of: repositoryResults, IsList: true},
	"setup_script":             {Text: "Script that sets up the whole environment."},
	"source":                   {Text: "Source that the environment is built from.", Of: sourceResults},
	"active_source":            {Text: "Source of the last successful build. Null before the first successful build.", Of: sourceResults},
	"status":                   {Text: "The environment's status. One of `building`, `ready`, or `failed`."},
	"is_default":               {Text: "Whether the environment is the organization's default.", Type: types.BoolType},
	"latest_build":             {Text: "The latest build.", Of: buildResults},
	"last_successful_build_at": {Text: "When the last successful build ended (RFC 3339, UTC). Null before the first successful build."},
	"failure_reason":           {Text: "Why the latest build failed."},
	"created_at":               {Text: "When the environment was created (RFC 3339, UTC)."},
	"updated_at":               {Text: "When the environment was last changed (RFC 3339, UTC)."},
}

var repositoryResults = results.Plain{
	"url":    {Text: "The repository's URL."},
	"script": {Text: "The script that sets up the repository."},
}

var sourceResults = results.Plain{
	"id":                     {Text: "The source's ID."},
	"name":                   {Text: "The source's name."},
	"supports_repositories":  {Text: "Whether the source supports repositories.", Type: types.BoolType},
	"supports_setup_scripts": {Text: "Whether the source supports setup scripts.", Type: types.BoolType},
	"provider":               {Text: "Provider of the source.", Of: providerResults},
	"unavailable":            {Text: "Whether the source is currently unavailable.", Type: types.BoolType},
}

var providerResults = results.Plain{
	"id":   {Text: "The provider's ID."},
	"name": {Text: "The provider's name."},
}

var buildResults = results.Plain{
	"id":               {Text: "The build's ID."},
	"status":           {Text: "The build's status. One of `queued`, `building`, `validating`, `succeeded`, `failed`, or `superseded`."},
	"trigger":          {Text: "What started the build. One of `create`, `edit`, `manual`, `scheduled`, or `base-update`."},
	"repositories":     {Text: "Repositories and commits that were built.", Of: buildRepositoryResults, IsList: true},
	"failure_reason":   {Text: "Why the build failed."},
	"failure_category": {Text: "Step that failed. One of `source-resolution`, `provider`, `timeout`, `validation`, `promotion`, `cleanup`, or `unknown`."},
	"excerpt":          {Text: "Excerpt of the log of a failed build. Null in lists of environments, and if the service withholds it."},
	"truncated":        {Text: "Whether the log is longer than `excerpt`.", Type: types.BoolType},
	"withheld":         {Text: "Whether the service withholds the log.", Type: types.BoolType},
	"created_at":       {Text: "When the build was requested (RFC 3339, UTC)."},
	"started_at":       {Text: "When the build started (RFC 3339, UTC)."},
	"finished_at":      {Text: "When the build ended (RFC 3339, UTC)."},
	"promoted_at":      {Text: "When the build became active (RFC 3339, UTC)."},
}

var buildRepositoryResults = results.Plain{
	"url":            {Text: "The repository's URL."},
	"name":           {Text: "The repository's name."},
	"default_branch": {Text: "The repository's default branch."},
	"commit_sha":     {Text: "The commit that was built."},
}

var (
	repositoryType      = repositoryResults.ObjectType()
	sourceType          = sourceResults.ObjectType()
	providerType        = providerResults.ObjectType()
	buildType           = buildResults.ObjectType()
	buildRepositoryType = buildRepositoryResults.ObjectType()
)

// FromAPI takes over a record.
func (m *environmentRecord) FromAPI(_ context.Context, e *environments.Environment) diag.Diagnostics {
	var diags diag.Diagnostics
	m.ID, m.Name = types.StringValue(e.ID), types.StringValue(e.Name)
	m.Scope = value.StringOrNull(e.Scope)
	m.SetupScript = value.StringOrNull(e.SetupScript)
	m.Status = value.StringOrNull(e.Status)
	m.IsDefault = types.BoolPointerValue(e.IsDefault)
	m.LastSuccessfulBuildAt = value.Time(e.LastSuccessfulBuildAt.Time())
	m.FailureReason = value.StringOrNull(e.FailureReason)
	m.CreatedAt = value.Time(e.CreatedAt.Time())

	var d diag.Diagnostics
	m.Repositories, d = repositoriesFromAPI(e.Repositories)
	diags.Append(d...)
	m.ActiveRepositories, d = repositoriesFromAPI(e.ActiveRepositories)
	diags.Append(d...)
	m.Source, d = sourceFromAPI(e.Source)
	diags.Append(d...)
	m.ActiveSource, d = sourceFromAPI(e.ActiveSource)
	diags.Append(d...)
	m.LatestBuild, d = buildFromAPI(e.LatestBuild)
	diags.Append(d...)
	return diags
}

// environmentData is an environment as data sources show it. In a resource, updated_at would change by itself.
type environmentData struct {
	environmentRecord
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// FromAPI takes over a record.
func (m *environmentData) FromAPI(ctx context.Context, e *environments.Environment) diag.Diagnostics {
	m.UpdatedAt = value.Time(e.UpdatedAt.Time())
	return m.environmentRecord.FromAPI(ctx, e)
}

// Identity is the environment's ID.
func (m *environmentRecord) Identity() any { return &crud.ID{ID: m.ID} }

func repositoriesFromAPI(repositories []environments.Repository) (types.List, diag.Diagnostics) {
	if repositories == nil {
		return types.ListNull(repositoryType), nil
	}
	var diags diag.Diagnostics
	elements := make([]attr.Value, len(repositories))
	for i, r := range repositories {
		element, d := types.ObjectValue(repositoryType.AttrTypes, map[string]attr.Value{
			"url":    types.StringValue(r.URL),
			"script": types.StringValue(r.Script),
		})
		diags.Append(d...)
		elements[i] = element
	}
	list, d := types.ListValue(repositoryType, elements)
	diags.Append(d...)
	return list, diags
}

func sourceFromAPI(s *environments.Source) (types.Object, diag.Diagnostics) {
	if s == nil {
		return types.ObjectNull(sourceType.AttrTypes), nil
	}
	provider, diags := providerFromAPI(s.Provider)
	source, d := types.ObjectValue(sourceType.AttrTypes, map[string]attr.Value{
		"id":                     types.StringValue(s.ID),
		"name":                   types.StringValue(s.Name),
		"supports_repositories":  types.BoolValue(s.SupportsRepositories),
		"supports_setup_scripts": types.BoolValue(s.SupportsSetupScripts),
		"provider":               provider,
		"unavailable":            types.BoolValue(s.Unavailable),
	})
	diags.Append(d...)
	return source, diags
}

func providerFromAPI(p environments.SourceProvider) (types.Object, diag.Diagnostics) {
	return types.ObjectValue(providerType.AttrTypes, map[string]attr.Value{
		"id":   types.StringValue(p.ID),
		"name": types.StringValue(p.Name),
	})
}

func buildFromAPI(b *environments.Build) (types.Object, diag.Diagnostics) {
	if b == nil {
		return types.ObjectNull(buildType.AttrTypes), nil
	}
	repositories, diags := buildRepositoriesFromAPI(b.Repositories)
	build, d := types.ObjectValue(buildType.AttrTypes, map[string]attr.Value{
		"id":               types.StringValue(b.ID),
		"status":           value.StringOrNull(b.Status),
		"trigger":          value.StringOrNull(b.Trigger),
		"repositories":     repositories,
		"failure_reason":   value.StringOrNull(b.FailureReason),
		"failure_category": value.StringOrNull(b.FailureCategory),
		"excerpt":          value.StringOrNull(b.Excerpt),
		"truncated":        types.BoolValue(b.Truncated),
		"withheld":         types.BoolValue(b.Withheld),
		"created_at":       value.Time(b.CreatedAt.Time()),
		"started_at":       value.Time(b.StartedAt.Time()),
		"finished_at":      value.Time(b.FinishedAt.Time()),
		"promoted_at":      value.Time(b.PromotedAt.Time()),
	})
	diags.Append(d...)
	return build, diags
}

func buildRepositoriesFromAPI(repositories []environments.BuildRepository) (types.List, diag.Diagnostics) {
	if repositories == nil {
		return types.ListNull(buildRepositoryType), nil
	}
	var diags diag.Diagnostics
	elements := make([]attr.Value, len(repositories))
	for i, r := range repositories {
		element, d := types.ObjectValue(buildRepositoryType.AttrTypes, map[string]attr.Value{
			"url":            types.StringValue(r.URL),
			"name":           types.StringValue(r.Name),
			"default_branch": types.StringValue(r.DefaultBranch),
			"commit_sha":     types.StringValue(r.CommitSHA),
		})
		diags.Append(d...)
		elements[i] = element
	}
	list, d := types.ListValue(buildRepositoryType, elements)
	diags.Append(d...)
	return list, diags
}
