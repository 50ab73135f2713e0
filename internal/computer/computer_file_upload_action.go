package computer

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/action/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/actionvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure        = (*computerFileUploadAction)(nil)
	_ action.ActionWithConfigValidators = (*computerFileUploadAction)(nil)
	_ action.ActionWithValidateConfig   = (*computerFileUploadAction)(nil)
)

const (
	mebibyte = 1 << 20
	// tellEvery is how many bytes of an upload pass between two reports of its progress.
	tellEvery = 64 * mebibyte
	// anyContentType is the media type of what no other is known of.
	anyContentType = "application/octet-stream"

	defaultUploadTimeout = 30 * time.Minute
)

// NewComputerFileUploadAction returns the action agentyard_computer_file_upload.
func NewComputerFileUploadAction() action.Action { return &computerFileUploadAction{} }

type computerFileUploadAction struct{ crud.Action }

type computerFileUploadModel struct {
	ComputerID    types.String   `tfsdk:"computer_id"`
	FileName      types.String   `tfsdk:"file_name"`
	SourcePath    types.String   `tfsdk:"source_path"`
	Content       types.String   `tfsdk:"content"`
	ContentBase64 types.String   `tfsdk:"content_base64"`
	ContentType   types.String   `tfsdk:"content_type"`
	Timeouts      timeouts.Value `tfsdk:"timeouts"`
}

// file returns what is uploaded. Inline content is in memory already; a file is opened when it is sent.
func (m *computerFileUploadModel) file() (client.FileContent, error) {
	file := client.FileContent{Type: m.contentType()}
	inline := func(data []byte) {
		file.Size = int64(len(data))
		file.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	}
	switch {
	case !m.Content.IsNull():
		inline([]byte(m.Content.ValueString()))
	case !m.ContentBase64.IsNull():
		data, err := base64.StdEncoding.DecodeString(m.ContentBase64.ValueString())
		if err != nil {
			return file, invalidBase64()
		}
		inline(data)
	default:
		name := m.SourcePath.ValueString()
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", name)
		}
		if err != nil {
			return file, &crud.Fault{At: path.Root("source_path"), Summary: "Cannot Read the File to Upload",
				Detail: fmt.Sprintf("The file cannot be uploaded: %v. A relative path starts at the folder in which Terraform runs; path.module and path.root help to write others.", err)}
		}
		file.Size = info.Size()
		file.Open = func() (io.ReadCloser, error) { return os.Open(name) }
	}
	return file, nil
}

// contentType is the configured one, or the one that the ending of the file's name stands for.
func (m *computerFileUploadModel) contentType() string {
	if !m.ContentType.IsNull() {
		return m.ContentType.ValueString()
	}
	if guessed := mime.TypeByExtension(filepath.Ext(m.FileName.ValueString())); guessed != "" {
		return guessed
	}
	return anyContentType
}

func invalidBase64() *crud.Fault {
	return &crud.Fault{At: path.Root("content_base64"), Summary: "Invalid Base64", Detail: "The content is not in the standard encoding of Base64 with padding, as filebase64() and base64encode() return it."}
}

func (a *computerFileUploadAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_file_upload"
}

func (a *computerFileUploadAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Writes a file into a computer's workspace. The file is streamed to the file storage and never held in memory as a whole. " +
			"The service does not overwrite: a file of that name in the workspace is an error. Exactly one of `source_path`, `content` and `content_base64` is needed.",
		Attributes: map[string]schema.Attribute{
			"computer_id": computerIDAttribute(),
			"file_name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the file in the workspace, 1 to 255 characters without slashes, backslashes and `..`.",
				Validators:          fileNameValidators(),
			},
			"source_path": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Path of the file to upload, on the machine that runs Terraform.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"content": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The file's text. May be empty. It is no place for secrets: the content of an action's configuration is shown in plans.",
			},
			"content_base64": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The file's bytes in Base64, for content that is no text.",
			},
			"content_type": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Media type of the file. Null means the one that the ending of `file_name` stands for, or `" + anyContentType + "`.",
				Validators:          []validator.String{value.Length(1, 255)},
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": value.ActionTimeouts(timeouts.BlockWithOpts(ctx, timeouts.Opts{InvokeDescription: "How long the whole upload may take, such as `30m` (the default). " +
				"An upload that moves no byte for the provider's `request_timeout` ends before."})),
		},
	}
}

func (a *computerFileUploadAction) ConfigValidators(context.Context) []action.ConfigValidator {
	return []action.ConfigValidator{actionvalidator.ExactlyOneOf(path.MatchRoot("source_path"), path.MatchRoot("content"), path.MatchRoot("content_base64"))}
}

func (a *computerFileUploadAction) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	var m computerFileUploadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !value.IsSet(m.ContentBase64) {
		return
	}
	if _, err := base64.StdEncoding.DecodeString(m.ContentBase64.ValueString()); err != nil {
		fault := invalidBase64()
		resp.Diagnostics.AddAttributeError(fault.At, fault.Summary, fault.Detail)
	}
}

func (a *computerFileUploadAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "upload", "file", req, resp, func(m *computerFileUploadModel, tell crud.Tell) error {
		file, err := m.file()
		if err != nil {
			return err
		}
		timeout, diags := m.Timeouts.Invoke(ctx, defaultUploadTimeout)
		resp.Diagnostics.Append(diags...)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return a.upload(ctx, m, file, timeout, tell)
	}, atComputer, apierror.Advice{
		http.StatusConflict: "The workspace has a file of this name already, and the service does not overwrite files. Choose another file_name, or delete the file on the computer and invoke the action again.",
	})
}

func (a *computerFileUploadAction) upload(ctx context.Context, m *computerFileUploadModel, file client.FileContent, timeout time.Duration, tell crud.Tell) error {
	id, name := m.ComputerID.ValueString(), m.FileName.ValueString()
	tell("Uploading file %q (%d bytes, %s) to computer %s", name, file.Size, file.Type, id)
	upload, err := a.Client.CreateFileUpload(ctx, id, name, file)
	if err == nil {
		err = a.Client.Upload(ctx, upload, name, file, tellProgress(tell, file.Size))
	}
	switch {
	case ranOut(ctx, err):
		return uploadLate(name, id, timeout, "Nothing was written into the workspace.")
	case err != nil:
		return uploadFault(err)
	}
	tell("File %q is at the file storage; writing it into the workspace of computer %s", name, id)
	written, err := a.Client.CompleteFileUpload(ctx, id, name, file)
	switch {
	case ranOut(ctx, err):
		return uploadLate(name, id, timeout, "The file may have been written into the workspace. Look there, or download it with agentyard_computer_file_download; if it is there, nothing is left to do.")
	case err != nil:
		return uploadFault(err)
	}
	place := ""
	if written.Path != "" {
		place = " as " + written.Path
	}
	tell("File %q is in the workspace of computer %s%s", name, id, place)
	return nil
}

// ranOut reports that something failed because the time was up. What the service refused by then, it refused.
func ranOut(ctx context.Context, err error) bool {
	status := client.StatusOf(err)
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && (status < 400 || status >= 500)
}

// uploadLate says that the time was up, and what came of the file by then.
func uploadLate(name, id string, timeout time.Duration, outcome string) error {
	return &crud.Fault{Summary: "Upload Is Not Done in Time",
		Detail: fmt.Sprintf("Uploading file %q to computer %s was not done after %s. %s\n\nTo allow more time, raise invoke in the timeouts block, then invoke the action again.", name, id, timeout, outcome)}
}

// tellProgress reports each further step of a large upload once, also where a part of it is repeated.
func tellProgress(tell crud.Tell, size int64) func(int64) {
	told := int64(0)
	return func(sent int64) {
		if sent/tellEvery <= told || sent == size {
			return
		}
		told = sent / tellEvery
		tell("Sent %d of %d MiB", sent/mebibyte, size/mebibyte)
	}
}

// uploadFault explains what only an upload can fail of; anything else is left to the translator.
func uploadFault(err error) error {
	var storage *client.StorageError
	var unproven *client.UnprovenUploadError
	switch {
	case errors.As(err, &unproven):
		return &crud.Fault{Summary: "Cannot upload file",
			Detail: err.Error() + ".\n\nLook at the workspace, or download the file with agentyard_computer_file_download. Invoke the action again if the file is missing; if it is there, nothing is left to do."}
	case errors.As(err, &storage):
		return &crud.Fault{Summary: "Cannot upload file",
			Detail: "The upload failed: " + strings.TrimSuffix(err.Error(), ".") + ".\n\nNothing was written into the workspace. Check that this machine reaches the file storage, then invoke the action again: it gets a new signed address, because the old one lives for a short time only."}
	}
	return err
}
