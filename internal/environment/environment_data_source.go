package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure        = (*environmentDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*environmentDataSource)(nil)
)

// NewEnvironmentDataSource returns the data source agentyard_environment.
func NewEnvironmentDataSource() datasource.DataSource { return &environmentDataSource{} }

type environmentDataSource struct{ crud.DataSourceBase }

func (d *environmentDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment"
}

func (d *environmentDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "One environment that the API key sees, by its ID or its name. The same name may exist in both scopes; then only the ID tells which one is meant.",
		Attributes:          environmentResults.DataSourceByIDOrName(0),
	}
}

func (d *environmentDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}

func (d *environmentDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "environment", req, resp, func(m *environmentData) (*environments.Environment, error) {
		if value.IsSet(m.ID) {
			found, err := d.Client.Environments.Get(ctx, m.ID.ValueString())
			if transport.IsNotFound(err) {
				err = &crud.Fault{At: path.Root("id"), Summary: "Environment Not Found", Detail: "No environment with this id is visible to the API key. Check the value; an environment of user scope is visible to its owner alone."}
			}
			return found, err
		}
		named, err := d.Client.Environments.ListNamed(ctx, m.Name.ValueString())
		if err != nil {
			return nil, err
		}
		found, err := crud.OnlyNamed("environment", m.Name.ValueString(), named, inItsScope)
		if err != nil {
			return nil, err
		}
		return d.Client.Environments.WithFailure(ctx, found)
	})
}

// inItsScope is an environment's ID with what may tell it from another one of its name.
func inItsScope(e *environments.Environment) string {
	if e.Scope == "" {
		return e.ID
	}
	return e.ID + " (scope " + e.Scope + ")"
}
