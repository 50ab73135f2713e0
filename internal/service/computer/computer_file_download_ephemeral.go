package computer

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*computerFileDownloadEphemeral)(nil)

// NewComputerFileDownloadEphemeral returns the ephemeral resource agentyard_computer_file_download.
func NewComputerFileDownloadEphemeral() ephemeral.EphemeralResource {
	return &computerFileDownloadEphemeral{crud.Ephemeral{Name: "computer_file_download"}}
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

func (e *computerFileDownloadEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates a signed URL for downloading a file from a computer's workspace. Each plan and apply creates a new one, which is never stored." + ownersKey + "\n\n" +
			"**Missing files.** Terraform opens ephemeral resources in each plan, also before a destroy. A file that the apply uploads does not exist then, so a missing file is a warning, and `url` is null. " +
			"An ephemeral resource cannot tell a plan from an apply. In a provisioner, write `coalesce` around `url`, as in the example. In a write-only argument, write `terraform.applying ? coalesce(…) : \"none\"`. An apply without the file then fails.\n\n" +
			"**Status 424.** A response with this status is treated like a missing file, because the computer may only be active later" + crud.Assumed("meaning-of-failed-dependency") + " The warning contains the service's message." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"computer_id": crud.RequiredText(computerResults["id"].Text),
			"file_name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: fileNameText,
				Validators:          fileNameValidators(),
			},
			"session_id":   crud.OptionalText("ID of the session that the file belongs to."),
			"content_type": crud.OptionalText("Media type of the response, such as `text/plain`. Must not be empty. If omitted, the service chooses."),
			"url": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The signed URL. Anyone who has it can download the file. Null if the file or the computer was not found, or after the status 424.",
			},
			"expires_at": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "When the URL expires (RFC 3339, UTC). Null if the service does not return it.",
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
	computer, file := m.ComputerID.ValueString(), m.FileName.ValueString()
	download, err := e.Client.Computers.CreateFileDownload(ctx, computer, file, m.SessionID.ValueString(), m.ContentType.ValueString())
	switch {
	case transport.IsNotFound(err) || transport.StatusOf(err) == http.StatusFailedDependency:
		// An error would stop the plan of the apply that uploads the file or starts the computer, and that of each destroy.
		resp.Diagnostics.AddAttributeWarning(path.Root("file_name"), "No download URL",
			fmt.Sprintf("There is no URL for the file %s on computer %s, so url is null: %s.\n\nIf this run uploads the file or starts the computer, the apply gets the URL. Otherwise, check computer_id, file_name, and that the computer is active.",
				m.FileName, computer, strings.TrimSuffix(err.Error(), ".")))
	case err != nil:
		resp.Diagnostics.Append(apierror.For("download", "file", err, atComputer)...)
		return
	default:
		m.URL = types.StringValue(download.URL)
		m.ExpiresAt = value.Time(download.ExpiresAt)
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
