package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	maxUpload     = 1 << 30
	signedURLLife = 15 * time.Minute
	defaultType   = "application/octet-stream"
)

// storedObject is an uploaded file, or the promise of one: its bytes are a file in the object directory.
type storedObject struct {
	Object      string
	Size        int64
	ContentType string
}

// Files and uploads that are not completed are by computer ID and file name.
var (
	uploadTable = &table[storedObject]{name: "uploads"}
	fileTable   = &table[storedObject]{name: "workspace_files"}
)

// fileComputer finds the computer of a file operation and checks that its daemon can be reached.
func (r *request) fileComputer() (*computer, error) {
	c, err := r.computerInPath()
	if err != nil {
		return nil, err
	}
	reachable := c.progressAt(r.now).status == statusActive && !c.DaemonDown
	if c.ProviderType == providerBYOM && c.HostID == "" {
		reachable = false
	}
	if !reachable {
		return nil, fail(http.StatusFailedDependency, "The daemon on the computer %q cannot be reached.", c.Name)
	}
	return c, nil
}

func createFileUpload(r *request, c *computer) (reply, error) {
	f, fileName := r.fields(), r.params["fileName"]
	object := storedObject{
		Object: newID("obj_", r.now), Size: f.integer("sizeBytes"), ContentType: f.text("contentType"),
	}
	former, err := uploadTable.get(r.tx, key(c.ID, fileName), nil)
	if former != nil { // An upload of the same name that was never completed.
		r.e.removeObjectOnCommit(r.tx, former.Object)
	}
	if err != nil {
		return reply{}, err
	}
	expiresAt := millis(r.now.Add(signedURLLife))
	form, err := r.e.uploadForm(uploadPolicy{Key: object.Object, Size: object.Size, ContentType: object.ContentType, Expires: expiresAt})
	if err != nil {
		return reply{}, err
	}
	response := values{"url": r.e.FilesURL() + "/upload", "fields": form, "expiresAt": expiresAt}
	return reply{200, response}, uploadTable.put(r.tx, key(c.ID, fileName), object)
}

// completeFileUpload moves an uploaded file into the workspace, where no file of its name may be.
func completeFileUpload(r *request, c *computer) (reply, error) {
	f, fileName := r.fields(), r.params["fileName"]
	size := f.integer("sizeBytes")
	if fileTable.has(r.tx, key(c.ID, fileName)) {
		return reply{}, conflict("The workspace already has a file named %q.", fileName)
	}
	object, err := uploadTable.get(r.tx, key(c.ID, fileName), notFound("No upload was started for a file named %q.", fileName))
	if err != nil {
		return reply{}, err
	}
	if _, err := os.Stat(r.e.objectPath(object.Object)); errors.Is(err, os.ErrNotExist) {
		return reply{}, refuse("upload-missing", "The file %q was not uploaded yet.", fileName)
	} else if err != nil {
		return reply{}, fmt.Errorf("look for the uploaded file: %w", err)
	}
	if f.has("sizeBytes") && size != object.Size {
		return reply{}, refuse("upload-size", "The file %q has %d bytes, not %d.", fileName, object.Size, size)
	}
	response := values{"fileName": fileName, "sizeBytes": object.Size, "path": "/home/" + c.RemoteUser + "/workspace/" + fileName}
	return reply{200, response}, errors.Join(
		fileTable.put(r.tx, key(c.ID, fileName), *object),
		uploadTable.remove(r.tx, key(c.ID, fileName)),
	)
}

func createFileDownload(r *request, c *computer) (reply, error) {
	f, fileName := r.fields(), r.params["fileName"]
	contentType := f.text("contentType")
	object, err := fileTable.get(r.tx, key(c.ID, fileName), notFound("The workspace has no file named %q.", fileName))
	if err != nil {
		return reply{}, err
	}
	object.ContentType = cmp.Or(contentType, object.ContentType, defaultType)
	expiresAt := millis(r.now.Add(signedURLLife))
	return reply{200, values{"url": r.e.downloadURL(*object, expiresAt), "expiresAt": expiresAt}}, nil
}

func (e *Emulator) objectPath(object string) string { return filepath.Join(e.store.objects, object) }

// removeObjectOnCommit deletes the bytes of an object, but only if the transaction succeeds.
func (e *Emulator) removeObjectOnCommit(tx *bolt.Tx, object string) {
	tx.OnCommit(func() {
		if err := removeFile(e.objectPath(object)); err != nil {
			e.log.Error("remove an uploaded file", "error", err)
		}
	})
}

// removeFilesOf removes all files and unfinished uploads of a computer.
func (e *Emulator) removeFilesOf(tx *bolt.Tx, computerID string) error {
	for _, t := range []*table[storedObject]{uploadTable, fileTable} {
		objects, err := t.list(tx, key(computerID, ""))
		if err != nil {
			return err
		}
		for _, object := range objects {
			e.removeObjectOnCommit(tx, object.Object)
		}
		if err := t.removeAll(tx, key(computerID, "")); err != nil {
			return err
		}
	}
	return nil
}
