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

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const defaultContentType = "application/octet-stream"

type computerFileUploadModel struct {
	ComputerID       types.String `tfsdk:"computer_id"`
	FileName         types.String `tfsdk:"file_name"`
	SourcePath       types.String `tfsdk:"source_path"`
	Content          types.String `tfsdk:"content"`
	ContentBase64    types.String `tfsdk:"content_base64"`
	ContentType      types.String `tfsdk:"content_type"`
	ContentWO        types.String `tfsdk:"content_wo"`
	ContentWOVersion types.String `tfsdk:"content_wo_version"`
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
	case !m.ContentWO.IsNull():
		inline([]byte(m.ContentWO.ValueString()))
	case !m.ContentBase64.IsNull():
		data, err := base64.StdEncoding.DecodeString(m.ContentBase64.ValueString())
		if err != nil {
			return file, invalidBase64()
		}
		inline(data)
	case m.SourcePath.IsNull():
		return file, &crud.ObjectError{At: path.Root("content_wo"), Summary: "Missing content",
			Detail: "No source of the content has a value, so nothing was uploaded. Set source_path, content, content_base64, or content_wo. The value of content_wo is null if it comes from an ephemeral variable that is not set, or from an API key that exists already."}
	default:
		name := m.SourcePath.ValueString()
		open := func() (*os.File, int64, error) {
			return crud.OpenFile(path.Root("source_path"), "file to upload", name)
		}
		opened, size, err := open()
		if err != nil {
			return file, err
		}
		_ = opened.Close()
		file.Size = size
		file.Open = func() (io.ReadCloser, error) {
			again, _, err := open() // It may be another file by now.
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

const (
	exactlyOne = " Exactly one source of the content is required."
	planShows  = " Must not contain secrets: plans show it." + exactlyOne
)

// FileUpload is agentyard_computer_file_upload.
var FileUpload = crud.Operation{
	Name:        "computer_file_upload",
	Description: "Uploads a file to a computer's workspace. Fails if the workspace already has a file with this name and different content." + ownersKey,
	ResourceNotes: "\n\n**Secrets.** With `content_wo`, the content is in neither plan nor state. It requires Terraform 1.11 or OpenTofu 1.11, or newer. " +
		"To upload a new value, change `content_wo_version` and `file_name`.\n\n" +
		"**Existing files.** The service does not overwrite files, and destroying the resource keeps the file. For a new upload, choose another `file_name`." + crud.AssumedFormat,
	ActionNotes:  crud.AssumedFormat,
	ResourceOnly: []string{"content_wo", "content_wo_version"},
	Arguments: map[string]schema.Attribute{
		"computer_id": crud.RequiredText(computerResults["id"].Text),
		"file_name": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: fileNameText,
			Validators:          fileNameValidators(),
		},
		"source_path": crud.OptionalText("Path of the local file to upload." + exactlyOne),
		"content": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Content of the file, as text. May be empty." + planShows,
		},
		"content_base64": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Content of the file, in Base64." + planShows,
		},
		"content_wo": resourceschema.StringAttribute{
			Optional: true, WriteOnly: true, Sensitive: true,
			MarkdownDescription: "Content of the file, as text, which may be a secret. It is sent only when the resource is created, and may be null in any other run." + exactlyOne,
		},
		"content_wo_version": crud.OptionalText("Version of `content_wo`. Terraform does not see changes of `content_wo`; changing the version uploads it again. Required with `content_wo`. Conflicts with the other sources."),
		"content_type":       crud.OptionalText("Media type of the file. Must not be empty. Defaults to the type of `file_name`'s extension, or `" + defaultContentType + "`."),
	},
	Results: results.Attributes{
		"path": results.Computed("Path of the file on the computer. Null if the service does not return it.", types.StringType),
	},
	Timeout:     30 * time.Minute,
	TimeoutText: "Maximum time for the upload. Defaults to `30m`. An upload also fails if no data is sent for the provider's `request_timeout`.",
	Canonical: crud.CanonicalModel(func(m *computerFileUploadModel) {
		m.ContentType, m.SourcePath = types.StringValue(m.contentType()), value.AbsolutePath(m.SourcePath)
		if value.IsSet(m.Content) {
			m.ContentBase64, m.Content = types.StringValue(base64.StdEncoding.EncodeToString([]byte(m.Content.ValueString()))), types.StringNull()
		}
	}),
	Check: checkUpload,
	Run:   crud.Run(uploadFile),
	Verb:  "upload", Object: "file",
	Options: apierror.Options{atComputer, apierror.Advice{
		http.StatusConflict: "The workspace already has a file with this name, and the service does not overwrite files. Choose another file_name, or check the file in the workspace: to replace it, delete it there and upload again.",
	}},
}

func checkUpload(ctx context.Context, config tfsdk.Config, call *crud.Call) diag.Diagnostics {
	sources, checked := []string{"source_path", "content", "content_base64"}, datasource.ValidateConfigRequest{Config: config}
	var one datasource.ValidateConfigResponse
	if !call.IsAction {
		all := []path.Expression{path.MatchRoot("source_path"), path.MatchRoot("content"), path.MatchRoot("content_base64"), path.MatchRoot("content_wo")}
		datasourcevalidator.Conflicting(all...).ValidateDataSource(ctx, checked, &one)
		sources = append(sources, "content_wo_version") // The value itself may be null in every run but that which creates the resource.
	}
	if !one.Diagnostics.HasError() {
		value.ExactlyOne(sources...).ValidateDataSource(ctx, checked, &one)
	}
	var encoded types.String
	one.Diagnostics.Append(config.GetAttribute(ctx, path.Root("content_base64"), &encoded)...)
	if value.IsSet(encoded) {
		if _, err := base64.StdEncoding.DecodeString(encoded.ValueString()); err != nil {
			fault := invalidBase64()
			one.Diagnostics.AddAttributeError(fault.At, fault.Summary, fault.Detail)
		}
	}
	return one.Diagnostics
}

func uploadFile(ctx context.Context, c *client.Client, m *computerFileUploadModel, call *crud.Call) (crud.Results, error) {
	file, err := m.file()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, call.Timeout)
	defer cancel()
	id, name := m.ComputerID.ValueString(), m.FileName.ValueString()
	call.Report("Uploading file %q (%d bytes, %s) to computer %s", name, file.Size, file.Type, id)
	upload, err := c.Computers.CreateFileUpload(ctx, id, name, file)
	if err == nil {
		err = c.Computers.Upload(ctx, upload, name, file)
	}
	var written *computers.WorkspaceFile
	if err == nil {
		call.Report("Uploaded file %q; writing it to the workspace of computer %s", name, id)
		written, err = c.Computers.CompleteFileUpload(ctx, id, name, file)
	}
	var storage *transport.StorageError
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && transport.StatusOf(err) == 0:
		return nil, &crud.ObjectError{Summary: "Timed out uploading the file",
			Detail: fmt.Sprintf("Uploading file %q to computer %s did not finish within %s. The file may be in the workspace. Check there, or download it with agentyard_computer_file_download.\n\n"+
				"To allow more time, raise the timeout in the timeouts block, then upload again.", name, id, call.Timeout)}
	case errors.As(err, &storage) && errors.Is(err, transport.ErrFileChanged):
		return nil, &crud.ObjectError{At: path.Root("source_path"), Summary: "Cannot upload file",
			Detail: fmt.Sprintf("The upload of %s failed: %s.\n\nNothing was written to the workspace. Upload the file after it is complete. A file that reports no length, such as one in /proc, cannot be uploaded: copy it first.", m.SourcePath, errors.Unwrap(storage))}
	case errors.As(err, &storage):
		return nil, &crud.ObjectError{Summary: "Cannot upload file",
			Detail: "The upload failed: " + strings.TrimSuffix(err.Error(), ".") + ".\n\nNothing was written to the workspace. Check that this machine can reach the file storage, then upload again."}
	default:
		return nil, err
	}
	place := ""
	if written.Path != "" {
		place = " as " + written.Path
	}
	call.Report("Wrote file %q to the workspace of computer %s%s", name, id, place)
	return crud.Results{"path": value.StringOrNull(written.Path)}, nil
}
