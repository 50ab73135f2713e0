package environment

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type buildStatusesModel struct {
	EnvironmentIDs   []string     `tfsdk:"environment_ids"`
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	Builds           types.List   `tfsdk:"builds"`
}

// EnvironmentBuildStatusesDataSource is the data source agentyard_environment_build_statuses.
var EnvironmentBuildStatusesDataSource = crud.DataSource{
	Name:        "environment_build_statuses",
	Description: "Returns the latest build of each given environment." + anyViewer,
	Attributes: map[string]schema.Attribute{
		"environment_ids": schema.SetAttribute{
			Required: true, ElementType: types.StringType,
			MarkdownDescription: "IDs of the environments.",
			Validators:          []validator.Set{setvalidator.ValueStringsAre(value.NotEmpty())},
		},
		"service_account_id": crud.OptionalText("Return the builds that this service account can see. Defaults to the API key's owner."),
		"builds":             buildStatus.DataSourceRows("One entry for each environment with a build, ordered by `environment_id`. Environments that do not exist, are not visible, or were never built should have no entry" + crud.Assumed("get-environment-build-statuses-environment-ids")),
	},
	Verb: "list", Object: "build statuses of environments",
	Options: apierror.Options{atAccount},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *buildStatusesModel) error {
		slices.Sort(m.EnvironmentIDs)
		found, err := c.Environments.BuildStatuses(ctx, m.ServiceAccountID.ValueString(), m.EnvironmentIDs)
		m.Builds = results.RowsOf(buildStatus, found)
		return err
	}),
}

var buildStatus = results.Fields[*environments.BuildStatus]{
	"environment_id":     results.String(environmentResults["id"].Text, func(s *environments.BuildStatus) string { return s.EnvironmentID }),
	"environment_status": results.String(environmentResults["status"].Text, func(s *environments.BuildStatus) string { return s.EnvironmentStatus }),
	"latest_build":       results.Object(environmentResults["latest_build"].Text, buildReport, func(s *environments.BuildStatus) *environments.Build { return &s.LatestBuild }),
}

var buildReport = results.Fields[*environments.Build]{
	"id": buildResults["id"], "status": buildResults["status"], "truncated": buildResults["truncated"], "withheld": buildResults["withheld"],
	"excerpt": results.String(excerptText, func(b *environments.Build) string { return b.Excerpt }),
}
