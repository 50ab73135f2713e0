package wiki

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
)

var errNotArchive = errors.New("it exists and is not a ZIP archive")

// writeArchive writes a complete archive or nothing: it exports to a temporary file and renames it. It replaces only archives.
func writeArchive(name string, export func(io.Writer) (*wikis.Export, error)) (*wikis.Export, error) {
	if err := mayReplace(name); err != nil {
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
