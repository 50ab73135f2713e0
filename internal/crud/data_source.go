package crud

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// DataSource is a data source with the model M.
type DataSource[M any] struct {
	// Name is the type's name without the provider's prefix.
	Name        string
	Description string
	Attributes  map[string]schema.Attribute
	Validators  []datasource.ConfigValidator
	// Fetch completes a model that contains the configuration's values. It may return a *Fault.
	Fetch func(ctx context.Context, c *client.Client, m *M) error
	// Verb and Object are for errors, such as "list" and "computers".
	Verb, Object string
	Options      apierror.Options

	client *client.Client
}

// Metadata sets the type's name.
func (d *DataSource[M]) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + d.Name
}

// Schema sets the description and the attributes.
func (d *DataSource[M]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: d.Description, Attributes: d.Attributes}
}

// ConfigValidators returns the checks that need more than one attribute.
func (d *DataSource[M]) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return d.Validators
}

// Configure sets the client that the provider created.
func (d *DataSource[M]) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.client = configured(req.ProviderData, &resp.Diagnostics)
}

// Read stores what Fetch returns.
func (d *DataSource[M]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := d.Fetch(ctx, d.client, &m); err != nil {
		resp.Diagnostics.Append(explain(d.Verb, d.Object, err, []apierror.Option{d.Options, Given(ctx, req.Config)})...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// IDOrName requires exactly one of the arguments id and name.
func IDOrName() []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}
