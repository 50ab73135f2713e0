package computer

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*computerFileDownloadEphemeral)(nil)

// NewComputerFileDownloadEphemeral returns the ephemeral resource agentyard_computer_file_download.
func NewComputerFileDownloadEphemeral() ephemeral.EphemeralResource {
	return &computerFileDownloadEphemeral{}
}

type computerFileDownloadEphemeral struct{ crud.Ephemeral }

type computerFileDownloadModel struct {
	ComputerID  types.String `tfsdk:"computer_id"`
	FileName    types.String `tfsdk:"file_name"`
	SessionID   types.String `tfsdk:"session_id"`
	ContentType types.String `tfsdk:"content_type"`
	URL         types.String `tfsdk:"url"`
	ExpiresAt   types.String `tfsdk:"expires_at"`
}

func (e *computerFileDownloadEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_file_download"
}

func (e *computerFileDownloadEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A signed address from which a file of a computer's workspace can be downloaded for a short time, without the API key. It is made anew in each plan and apply and never stored.",
		Attributes: map[string]schema.Attribute{
			"computer_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: computerResults["id"].Text,
				Validators:          []validator.String{value.NotEmpty()},
			},
			"file_name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the file in the workspace, 1 to 255 characters without slashes, backslashes and `..`.",
				Validators:          fileNameValidators(),
			},
			"session_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the session to which the file belongs.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"content_type": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Media type with which the file is to be sent. If omitted, the service chooses.",
				Validators:          []validator.String{value.Length(1, 255)},
			},
			"url": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The signed address. Whoever has it can read the file.",
			},
			"expires_at": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "When the address expires (RFC 3339, UTC). Null if the service does not say.",
			},
		},
	}
}

func (e *computerFileDownloadEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m computerFileDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	download, err := e.Client.CreateFileDownload(ctx, m.ComputerID.ValueString(), m.FileName.ValueString(), m.SessionID.ValueString(), m.ContentType.ValueString())
	if err != nil {
		resp.Diagnostics.Append(apierror.For("download", "file", err, atComputer, apierror.Advice{
			http.StatusNotFound: "Either the computer does not exist, or its workspace has no file named " + m.FileName.String() + ".",
		})...)
		return
	}
	m.URL = types.StringValue(download.URL)
	m.ExpiresAt = value.Time(download.ExpiresAt)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
