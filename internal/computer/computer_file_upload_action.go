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
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/localfile"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure        = (*computerFileUploadAction)(nil)
	_ action.ActionWithConfigValidators = (*computerFileUploadAction)(nil)
	_ action.ActionWithValidateConfig   = (*computerFileUploadAction)(nil)
)

const (
	mebibyte = 1 << 20
	// progressStep is the number of bytes between two progress messages.
	progressStep       = 64 * mebibyte
	defaultContentType = "application/octet-stream"

	defaultUploadTimeout = 30 * time.Minute
)

// NewComputerFileUploadAction returns the action agentyard_computer_file_upload.
func NewComputerFileUploadAction() action.Action {
	return &computerFileUploadAction{crud.Action{Name: "computer_file_upload"}}
}

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

// file opens a file only when it is sent, so that large files are streamed.
func (m *computerFileUploadModel) file() (computers.FileContent, error) {
	file := computers.FileContent{Type: m.contentType()}
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
		opened, size, err := localfile.Open(name)
		if err != nil {
			return file, localfile.Unreadable(path.Root("source_path"), "file to upload", err)
		}
		_ = opened.Close()
		file.Size = size
		file.Open = func() (io.ReadCloser, error) {
			again, _, err := localfile.Open(name) // It may be another file by now.
			return again, err
		}
	}
	return file, nil
}

// contentType falls back to the type of the file name's extension.
func (m *computerFileUploadModel) contentType() string {
	if !m.ContentType.IsNull() {
		return m.ContentType.ValueString()
	}
	if guessed := mime.TypeByExtension(filepath.Ext(m.FileName.ValueString())); guessed != "" {
		return guessed
	}
	return defaultContentType
}

func invalidBase64() *crud.ObjectError {
	return &crud.ObjectError{At: path.Root("content_base64"), Summary: "Invalid Base64", Detail: "content_base64 must be standard Base64 with padding. Use filebase64() or base64encode()."}
}

const exactlyOne = " Exactly one of `source_path`, `content`, or `content_base64` is required."

func (a *computerFileUploadAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Uploads a file to a computer's workspace. Fails if the workspace already has a file with this name." + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"computer_id": computerIDAttribute(),
			"file_name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: fileNameText,
				Validators:          fileNameValidators(),
			},
			"source_path": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Path of the local file to upload." + exactlyOne,
				Validators:          []validator.String{value.NotEmpty()},
			},
			"content": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Content of the file, as text. May be empty. Must not contain secrets: plans show it." + exactlyOne,
			},
			"content_base64": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Content of the file, in Base64. Must not contain secrets: plans show it." + exactlyOne,
			},
			"content_type": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Media type of the file. Must be 1–255 characters. Defaults to the type of `file_name`'s extension, or `" + defaultContentType + "`.",
				Validators:          []validator.String{value.Length(1, 255)},
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": value.ActionTimeouts(timeouts.BlockWithOpts(ctx, timeouts.Opts{InvokeDescription: "Maximum time for the upload. Defaults to `30m`. An upload also fails if no data is sent for the provider's `request_timeout`."})),
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
		http.StatusConflict: "The workspace already has a file with this name, and the service does not overwrite files. Choose another file_name, or delete the file on the computer and invoke the action again.",
	})
}

func (a *computerFileUploadAction) upload(ctx context.Context, m *computerFileUploadModel, file computers.FileContent, timeout time.Duration, tell crud.Tell) error {
	id, name := m.ComputerID.ValueString(), m.FileName.ValueString()
	tell("Uploading file %q (%d bytes, %s) to computer %s", name, file.Size, file.Type, id)
	upload, err := a.Client.Computers.CreateFileUpload(ctx, id, name, file)
	if err == nil {
		err = a.Client.Computers.Upload(ctx, upload, name, file, reportProgress(tell, file.Size))
	}
	switch {
	case timedOut(ctx, err):
		return uploadTimeout(name, id, timeout, "Nothing was written to the workspace.")
	case err != nil:
		return uploadFault(err)
	}
	tell("Uploaded file %q; writing it to the workspace of computer %s", name, id)
	written, err := a.Client.Computers.CompleteFileUpload(ctx, id, name, file)
	switch {
	case timedOut(ctx, err):
		return uploadTimeout(name, id, timeout, "The file may have been written to the workspace. Check there, or download it with agentyard_computer_file_download. If the file is there, the upload is complete.")
	case err != nil:
		return uploadFault(err)
	}
	place := ""
	if written.Path != "" {
		place = " as " + written.Path
	}
	tell("Wrote file %q to the workspace of computer %s%s", name, id, place)
	return nil
}

// timedOut is false for a request that the service refused in time.
func timedOut(ctx context.Context, err error) bool {
	status := transport.StatusOf(err)
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && (status < 400 || status >= 500)
}

func uploadTimeout(name, id string, timeout time.Duration, outcome string) error {
	return &crud.ObjectError{Summary: "Timed Out Uploading the File",
		Detail: fmt.Sprintf("Uploading file %q to computer %s did not finish within %s. %s\n\nTo allow more time, raise invoke in the timeouts block, then invoke the action again.", name, id, timeout, outcome)}
}

// reportProgress reports each step once, even if a part is sent again.
func reportProgress(tell crud.Tell, size int64) func(int64) {
	reported := int64(0)
	return func(sent int64) {
		if sent/progressStep <= reported || sent == size {
			return
		}
		reported = sent / progressStep
		tell("Sent %d of %d MiB", sent/mebibyte, size/mebibyte)
	}
}

// uploadFault explains the errors that only an upload has.
func uploadFault(err error) error {
	var storage *transport.StorageError
	var unproven *computers.UnprovenUploadError
	switch {
	case errors.As(err, &unproven):
		return &crud.ObjectError{Summary: "Cannot upload file",
			Detail: err.Error() + ".\n\nCheck the workspace, or download the file with agentyard_computer_file_download. If the file is missing, invoke the action again."}
	case errors.As(err, &storage):
		return &crud.ObjectError{Summary: "Cannot upload file",
			Detail: "The upload failed: " + strings.TrimSuffix(err.Error(), ".") + ".\n\nNothing was written to the workspace. Check that this machine can reach the file storage, then invoke the action again."}
	}
	return err
}
