package wiki

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type wikiExportModel struct {
	WikiRunID    types.String `tfsdk:"wiki_run_id"`
	OutputPath   types.String `tfsdk:"output_path"`
	OutputSHA256 types.String `tfsdk:"output_sha256"`
	OutputSize   types.Int64  `tfsdk:"output_size"`
}

// WikiExportDataSource is the data source agentyard_wiki_export.
var WikiExportDataSource = crud.DataSource{
	Name: "wiki_export",
	Description: "Writes the files of a wiki run to a ZIP archive on the machine that runs Terraform. If the export fails, an existing archive stays as it is." + crud.AnyKey + "\n\n" +
		"-> **When the archive is written.** Terraform reads the data source in each plan, which writes the archive. The apply writes it only if the plan does not know an argument yet. " +
		"If a pipeline plans and applies on different machines, the archive is usually on the one that plans. `terraform destroy` does not delete it." + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"wiki_run_id": ofRun,
		"output_path": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Path of the archive. Relative paths start at the working directory. Missing directories are created. An existing ZIP archive is replaced. Any other file, and a symbolic link, is an error. " +
				"Give each export its own path: exports to the same path overwrite each other.",
			Validators: []validator.String{value.NotBlank("Give the path of a file.")},
		},
		"output_sha256": schema.StringAttribute{Computed: true, MarkdownDescription: "SHA-256 of the archive, in lowercase hexadecimal digits."},
		"output_size":   schema.Int64Attribute{Computed: true, MarkdownDescription: "Size of the archive in bytes."},
	},
	Verb: "export", Object: "wiki run", Options: ofRunAdvice,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *wikiExportModel) error {
		export, err := writeArchive(m.OutputPath.ValueString(), func(file io.Writer) (*wikis.Export, error) {
			return c.Wikis.Export(ctx, m.WikiRunID.ValueString(), file)
		})
		if err != nil {
			return m.fault(err)
		}
		m.OutputSHA256, m.OutputSize = types.StringValue(export.SHA256), types.Int64Value(export.Size)
		return nil
	}),
}

// fault explains errors that only an export can have.
func (m *wikiExportModel) fault(err error) error {
	named := aboutRun("exporting", m.WikiRunID.ValueString(), err)
	var storage *transport.StorageError
	reason := fileReason(err)
	switch {
	case errors.Is(reason, errNotArchive):
		return &crud.ObjectError{At: path.Root("output_path"), Summary: "Cannot replace file", Detail: fmt.Sprintf("The archive of wiki run %s was not written to %s: %v. Set output_path to a new path, or to the path of an archive to replace.",
			m.WikiRunID.ValueString(), m.OutputPath, reason)}
	case reason != nil:
		return &crud.ObjectError{At: path.Root("output_path"), Summary: "Cannot write archive", Detail: fmt.Sprintf("The archive of wiki run %s was not written to %s: %v. Set output_path to a file that Terraform can write.",
			m.WikiRunID.ValueString(), m.OutputPath, reason)}
	case errors.As(err, &storage) && !errors.Is(err, context.Canceled):
		return &crud.ObjectError{Summary: "Cannot export wiki run", Detail: apierror.Sentences(named) + " No file was changed." +
			"\n\nCheck that this machine can reach the file storage, then run again: each run gets a new signed URL."}
	}
	return named
}

// fileReason returns why a file cannot be read or written, without the temporary file's name. It returns nil for other
// errors.
func fileReason(err error) error {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &one):
		return one.Err
	case errors.As(err, &two):
		return two.Err
	}
	return nil
}

var errNotArchive = errors.New("it exists and is not a ZIP archive")

// writeArchive writes a complete archive or nothing: it exports to a temporary file and renames it. It replaces only archives.
func writeArchive(name string, export func(io.Writer) (*wikis.Export, error)) (*wikis.Export, error) {
	if err := mayReplace(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // In a fresh checkout, a destroy reads the data source too.
		return nil, err
	}
	unfinished := filepath.Join(filepath.Dir(name), ".agentyard-"+rand.Text()+".part")
	file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = file.Close() // Some systems cannot remove an open file.
		_ = os.Remove(unfinished)
	}()
	written, err := export(file)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return written, os.Rename(unfinished, name)
}

// mayReplace rejects an existing file that is not an archive, and a symbolic link, because renaming would replace the link.
func mayReplace(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: name, Err: errNotArchive}
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if !wikis.IsArchive(file) {
		return &fs.PathError{Op: "replace", Path: name, Err: errNotArchive}
	}
	return nil
}
