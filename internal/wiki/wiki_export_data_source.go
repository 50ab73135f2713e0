package wiki

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*wikiExportDataSource)(nil)

// NewWikiExportDataSource returns the data source agentyard_wiki_export.
func NewWikiExportDataSource() datasource.DataSource { return &wikiExportDataSource{} }

type wikiExportDataSource struct{ crud.DataSource }

type wikiExportModel struct {
	WikiRunID    types.String `tfsdk:"wiki_run_id"`
	OutputPath   types.String `tfsdk:"output_path"`
	OutputSHA256 types.String `tfsdk:"output_sha256"`
	OutputSize   types.Int64  `tfsdk:"output_size"`
}

// FromAPI takes over what is known of the archive.
func (m *wikiExportModel) FromAPI(_ context.Context, e *client.WikiExport) diag.Diagnostics {
	m.OutputSHA256, m.OutputSize = types.StringValue(e.SHA256), types.Int64Value(e.Size)
	return nil
}

func (d *wikiExportDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_export"
}

func (d *wikiExportDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Writes the files of a wiki run into a ZIP archive on the machine that runs Terraform. The archive is streamed, never held in memory as a whole. " +
			"It is written as a whole or not at all: after an error, a file that was there before is as it was. Only a run that is killed may leave an unfinished file beside it, whose name begins with `.agentyard-`.\n\n" +
			"The file is written whenever the data source is read: in every plan, also one that is not applied, and only in the apply where an argument is not known before it. " +
			"So in a pipeline that plans and applies on different machines the file is on the one that planned, and applying a saved plan does not write it again. " +
			"Let the job that uses the file read the data source, or pass the file on together with the plan. Nothing deletes the file, not even `terraform destroy`.",
		Attributes: map[string]schema.Attribute{
			"wiki_run_id": ofRun(),
			"output_path": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Path of the archive. Its directory must exist. A file that is there is replaced, and of a symbolic link the file that it leads to; a directory is an error, and a file that may not be written to. " +
					"It is replaced by a new file, which has its permissions, and its owner and group where the system allows that; another hard link to it keeps the old content. " +
					"A relative path starts at the working directory, where Terraform runs; `path.module` and `path.root` help to write others. " +
					"The archives of two runs cannot have the same path.",
				Validators: []validator.String{value.NotBlank("give the path of a file")},
			},
			"output_sha256": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "SHA-256 of the archive, in lower-case hexadecimal digits. It tells whether the archive has changed.",
			},
			"output_size": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "Size of the archive in bytes.",
			},
		},
	}
}

func (d *wikiExportDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "export", "wiki run", req, resp, func(m *wikiExportModel) (*client.WikiExport, error) {
		place, err := destination(m.OutputPath.ValueString())
		if err != nil {
			return nil, m.fault(err)
		}
		export, err := d.Client.ExportWikiRunTo(ctx, place, m.WikiRunID.ValueString(), func() (export *client.WikiExport, err error) {
			err = replaceFile(place, createFile, func(file io.Writer) (err error) {
				export, err = d.Client.ExportWikiRun(ctx, m.WikiRunID.ValueString(), file)
				return err
			})
			return export, err
		})
		if err != nil {
			return nil, m.fault(err)
		}
		return export, nil
	}, ofRunAdvice)
}

// fault explains what only an export can fail of; anything else is left to the translator.
func (m *wikiExportModel) fault(err error) error {
	const untouched = "Nothing was written: a file that was there before is as it was."
	var file *fileError
	var taken *client.PlaceTakenError
	var storage *client.StorageError
	named := aboutRun("exporting", m.WikiRunID.ValueString(), err)
	switch {
	case errors.As(err, &file):
		return &crud.Fault{At: path.Root("output_path"), Summary: "Cannot Write the Archive", Detail: fmt.Sprintf("The archive of the wiki run %s cannot be written to %s: %v. %s\n\n%s",
			m.WikiRunID.ValueString(), m.OutputPath, file, untouched, file.remedy())}
	case errors.As(err, &taken):
		return &crud.Fault{At: path.Root("output_path"), Summary: "Archive Path Used Twice", Detail: fmt.Sprintf("The archives of the wiki runs %s and %s cannot both be written to %s: only one of them would be left.\n\nGive each its own output_path.",
			taken.RunID, m.WikiRunID.ValueString(), m.OutputPath)}
	case errors.As(err, &storage) && !errors.Is(err, context.Canceled):
		return &crud.Fault{Summary: "Cannot export wiki run", Detail: apierror.Sentences(named) + " " + untouched +
			"\n\nCheck that this machine reaches the file storage, then run again: the service gives a new signed address each time, which lives for a short time only."}
	}
	return named
}
