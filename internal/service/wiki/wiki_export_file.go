package wiki

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
)

var (
	errNoPath     = errors.New("the path is empty")
	errNotArchive = errors.New("it exists and is not a ZIP archive")
)

// writeArchive writes a complete archive or nothing: it exports to a temporary file and renames it. It replaces only
// archives, and does not touch one with the same content.
func writeArchive(name string, export func(io.Writer) (*wikis.Export, error)) (*wikis.Export, error) {
	if name == "" {
		return nil, &fs.PathError{Op: "write", Path: name, Err: errNoPath}
	}
	mode, err := archiveMode(name)
	if err != nil {
		return nil, err
	}
	unfinished := filepath.Join(filepath.Dir(name), ".agentyard-"+rand.Text()+".part")
	file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
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
	if err := file.Sync(); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	if hasContent(name, written) {
		return written, nil
	}
	// Another file may have been written there during the export.
	if _, err := archiveMode(name); err != nil {
		return nil, err
	}
	return written, os.Rename(unfinished, name)
}

// archiveMode returns the permissions of the existing archive, or those of a new file. Any other existing file is an error,
// including a symbolic link, because renaming would replace the link.
func archiveMode(name string) (fs.FileMode, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o666, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, &fs.PathError{Op: "replace", Path: name, Err: errNotArchive}
	}
	// Renaming ignores the permissions of the file, so open it for writing to detect write protection.
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if !wikis.IsArchive(file) {
		return 0, &fs.PathError{Op: "replace", Path: name, Err: errNotArchive}
	}
	return info.Mode().Perm(), nil
}

func hasContent(name string, export *wikis.Export) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == export.SHA256
}
