package crud

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// DataSource is a data source.
type DataSource struct {
	// Name is the type's name without the provider's prefix.
	Name        string
	Description string
	Attributes  map[string]schema.Attribute
	// Blocks may contain "timeouts".
	Blocks     map[string]schema.Block
	Validators []datasource.ConfigValidator
	// Fetch returns the model to store. Create it with the function of the same name.
	Fetch func(context.Context, *client.Client, tfsdk.Config) (model any, err error)
	// Verb and Object are for errors, such as "list" and "computers".
	Verb, Object string
	Options      apierror.Options

	client *client.Client
}

// New returns what the framework needs.
func (d DataSource) New() datasource.DataSource { return &d }

// Metadata sets the type's name.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + d.Name
}

// Schema sets the description, the attributes, and the blocks.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: d.Description, Attributes: d.Attributes, Blocks: d.Blocks}
}

// ConfigValidators returns the checks that need more than one attribute.
func (d *DataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return d.Validators
}

// Configure sets the client that the provider created.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.client = configured(req.ProviderData, &resp.Diagnostics)
}

// Read stores what Fetch returns.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	model, err := d.Fetch(ctx, d.client, req.Config)
	if err != nil {
		resp.Diagnostics.Append(explain(d.Verb, d.Object, err, []apierror.Option{d.Options})...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
	if m, ok := model.(ManyRows); ok && !resp.Diagnostics.HasError() {
		attributes := map[string]tftypes.Value{}
		_ = resp.State.Raw.As(&attributes) // It is an object.
		attributes["data"] = m.Rows()
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), attributes)
	}
}

// ManyRows is a model whose attribute "data" may have thousands of rows. In the model, the attribute is null: State.Set would validate and
// convert a list of the framework four times, which takes as long as all other work.
type ManyRows interface{ Rows() tftypes.Value }

// Fetch returns a data source's Fetch. Complete gets a model with the configuration's values. It may return an *ObjectError.
func Fetch[M any](complete func(ctx context.Context, c *client.Client, m *M) error,
) func(context.Context, *client.Client, tfsdk.Config) (any, error) {
	return func(ctx context.Context, c *client.Client, config tfsdk.Config) (any, error) {
		m := new(M)
		if err := Failure(config.Get(ctx, m)); err != nil {
			return nil, err
		}
		return m, complete(ctx, c, m)
	}
}

// IDOrName requires exactly one of the arguments id and name.
func IDOrName() []datasource.ConfigValidator {
	return []datasource.ConfigValidator{value.ExactlyOne("id", "name")}
}
