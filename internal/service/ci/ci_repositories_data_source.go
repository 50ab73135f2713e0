package ci

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type ciRepositoriesModel struct {
	Owner        types.String `tfsdk:"owner"`
	Repositories types.List   `tfsdk:"repositories"`
}

// CIRepositoriesDataSource is the data source agentyard_ci_repositories.
var CIRepositoriesDataSource = crud.DataSource{
	Name:        "ci_repositories",
	Description: "Lists the repositories that CI automation can use." + anyKey,
	Attributes: map[string]schema.Attribute{
		"owner": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Return only the repositories of this owner, such as `acme`. Defaults to all owners.",
			Validators:          []validator.String{value.NotBlank("Leave it out for the repositories of every owner.")},
		},
		"repositories": ciRepository.DataSourceRows("The repositories, ordered by `full_name`. The list should be empty if no code host is connected" + crud.Assumed("list-ci-repositories")),
	},
	Verb: "list", Object: "CI repositories",
	Options: apierror.Options{readOptions, apierror.AtStatus{http.StatusBadRequest: path.Root("owner")}},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *ciRepositoriesModel) error {
		found, err := c.CI.Repositories(ctx, m.Owner.ValueString())
		m.Repositories = results.RowsOf(ciRepository, found)
		return err
	}),
}

var ciRepository = results.Fields[*ci.Repository]{
	"full_name":            results.String(repositoryText, func(r *ci.Repository) string { return r.FullName }),
	"url":                  results.String("URL of the repository.", func(r *ci.Repository) string { return r.URL }),
	"is_private":           results.Bool("Whether the repository is private. Null if unknown.", func(r *ci.Repository) *bool { return r.IsPrivate }),
	"default_branch":       results.String("Default branch.", func(r *ci.Repository) string { return r.DefaultBranch }),
	"user_permission":      results.String(permissionText, func(r *ci.Repository) string { return r.UserPermission }),
	"service_app_writable": results.Bool("Whether the service's app can write to the repository. Null if unknown, so use `coalesce` in conditions.", func(r *ci.Repository) *bool { return r.ServiceAppWritable }),
	"raw_json":             results.JSON(crud.WholeRecord, func(r *ci.Repository) json.RawMessage { return r.Raw }),
}
