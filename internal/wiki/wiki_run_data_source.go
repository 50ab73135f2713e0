package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*wikiRunDataSource)(nil)

// NewWikiRunDataSource returns the data source agentyard_wiki_run.
func NewWikiRunDataSource() datasource.DataSource { return &wikiRunDataSource{} }

type wikiRunDataSource struct{ crud.DataSourceBase }

func (d *wikiRunDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_run"
}

func (d *wikiRunDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := wikiRunAttributes()
	attributes["id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: wikiRunResults["id"].Text,
		Validators:          []validator.String{value.NotBlank("set it to the ID of a wiki run")},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One wiki run that the API key sees, by its ID.",
		Attributes:          attributes,
	}
}

func (d *wikiRunDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "wiki run", req, resp, func(m *wikiRunDetails) (*client.WikiRun, error) {
		// No listing shows the video.
		found, err := d.Client.WikiRunAlone(ctx, m.ID.ValueString())
		if client.IsNotFound(err) {
			err = &crud.Fault{At: path.Root("id"), Summary: "Wiki Run Not Found", Detail: "No wiki run with this id is visible to the API key. Check the value; a private one is visible to its owner alone."}
		}
		return found, err
	})
}
