package emulator

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	if c.progressAt(r.now).status != statusActive || c.DaemonDown || c.ProviderType == providerBYOM && c.HostID == "" {
		return nil, fail(http.StatusFailedDependency, "The daemon on the computer %q cannot be reached.", c.Name)
	}
	return c, nil
}

func createFileUpload(r *request, c *computer) (reply, error) {
	f, fileName := r.fields(), r.params["fileName"]
	object := storedObject{newID("obj_", r.now), f.integer("sizeBytes"), f.text("contentType")}
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

// The file storage is the second listener. It stands for the storage of another operator: it knows no API keys,
// accepts signed requests only, and refuses an Authorization header, because it would leak the key.

// uploadPolicy says what a signed upload form allows.
type uploadPolicy struct {
	Key         string `json:"key"`
	Size        int64  `json:"size"`
	AtMost      bool   `json:"atMost,omitempty"` // Size is the largest that is allowed, instead of the only one.
	ContentType string `json:"contentType,omitempty"`
	Expires     int64  `json:"expires"` // Unix milliseconds.
}

func (e *Emulator) sign(text string) string {
	mac := hmac.New(sha256.New, e.signingKey)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// uploadForm returns the fields that an upload has to repeat, before its file.
func (e *Emulator) uploadForm(allowed uploadPolicy) (map[string]string, error) {
	data, err := json.Marshal(allowed)
	if err != nil {
		return nil, fmt.Errorf("encode an upload policy: %w", err)
	}
	policy := base64.StdEncoding.EncodeToString(data)
	form := map[string]string{
		"key": allowed.Key, "policy": policy, "expires": strconv.FormatInt(allowed.Expires, 10), "signature": e.sign("upload " + policy),
	}
	if allowed.ContentType != "" {
		form["Content-Type"] = allowed.ContentType
	}
	return form, nil
}

// downloadURL returns a signed address of an object.
func (e *Emulator) downloadURL(o storedObject, expires int64) string {
	q := url.Values{"expires": {strconv.FormatInt(expires, 10)}, "contentType": {o.ContentType}}
	q.Set("signature", e.sign(downloadText(o.Object, q)))
	return e.FilesURL() + "/download/" + o.Object + "?" + q.Encode()
}

func downloadText(object string, q url.Values) string {
	return strings.Join([]string{"download", object, q.Get("expires"), q.Get("contentType")}, "\n")
}

func (e *Emulator) serveFiles(w http.ResponseWriter, r *http.Request) {
	e.setTime(w.Header())
	object, isDownload := strings.CutPrefix(r.URL.Path, "/download/")
	var err error
	switch {
	case r.Header.Get("Authorization") != "":
		err = forbidden("Signed URLs do not accept an Authorization header; do not send the API key here.")
	case r.URL.Path == "/upload" && r.Method == http.MethodPost:
		err = e.receiveFile(r)
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
	case isDownload && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		err = e.sendFile(w, r, object)
	default:
		err = notFound("The file storage has nothing at %s %s.", r.Method, r.URL.Path)
	}
	if err != nil {
		e.writeError(w, r, err)
	}
}

// receiveFile takes a multipart form: the signed fields first, then the file, which goes straight to disk.
func (e *Emulator) receiveFile(r *http.Request) error {
	form, err := r.MultipartReader()
	if err != nil {
		return badRequest("An upload must be a multipart form: %v.", err)
	}
	given := map[string]string{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return badRequest("The form has no file.")
		}
		if err != nil {
			return badRequest("The form cannot be read: %v.", err)
		}
		if part.FormName() == "file" {
			policy, err := e.checkForm(given)
			if err != nil {
				return err
			}
			return e.storeFile(form, part, policy)
		}
		value, err := io.ReadAll(io.LimitReader(part, 16<<10))
		if err != nil {
			return badRequest("The form cannot be read: %v.", err)
		}
		if _, twice := given[part.FormName()]; twice {
			return badRequest("The form has the field %q twice.", part.FormName())
		}
		given[part.FormName()] = string(value)
	}
}

// checkForm verifies that the fields are exactly those that were signed, and in time.
func (e *Emulator) checkForm(given map[string]string) (uploadPolicy, error) {
	var policy uploadPolicy
	if !hmac.Equal([]byte(given["signature"]), []byte(e.sign("upload "+given["policy"]))) {
		return policy, forbidden("The signature of the form is not valid.")
	}
	data, err := base64.StdEncoding.DecodeString(given["policy"])
	if err == nil {
		err = json.Unmarshal(data, &policy)
	}
	if err != nil {
		return policy, badRequest("The policy of the form cannot be read: %v.", err)
	}
	want, err := e.uploadForm(policy)
	if err != nil {
		return policy, err
	}
	if !maps.Equal(given, want) {
		return policy, forbidden("The fields of the form are not those that were signed.")
	}
	if !e.clock.Now().Before(timeOf(policy.Expires)) {
		return policy, forbidden("The form has expired.")
	}
	return policy, nil
}

// storeFile writes to a temporary file first, so that an interrupted upload leaves nothing behind.
func (e *Emulator) storeFile(form *multipart.Reader, part *multipart.Part, policy uploadPolicy) (err error) {
	f, err := os.CreateTemp(e.store.objects, "upload-")
	if err != nil {
		return fmt.Errorf("store an uploaded file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFile(f.Name()))
		}
	}()
	size, err := io.Copy(f, io.LimitReader(part, policy.Size+1))
	if closeErr := f.Close(); closeErr != nil {
		return fmt.Errorf("store an uploaded file: %w", closeErr)
	}
	if err != nil {
		return badRequest("The upload was interrupted: %v.", err)
	}
	switch {
	case policy.AtMost && size > policy.Size:
		return badRequest("The file has more than %d bytes.", policy.Size)
	case !policy.AtMost && size != policy.Size:
		return badRequest("The file does not have the declared %d bytes.", policy.Size)
	}
	if _, err := form.NextPart(); !errors.Is(err, io.EOF) {
		return badRequest("The file must be the last part of the form.")
	}
	if done, err := e.isCompleted(policy.Key); err != nil || done {
		return cmp.Or(err, forbidden("The upload was completed, so the form does not work any more."))
	}
	if err := os.Rename(f.Name(), e.objectPath(policy.Key)); err != nil {
		return fmt.Errorf("store an uploaded file: %w", err)
	}
	return nil
}

// isCompleted reports whether an object is in a workspace, where nothing may change it.
func (e *Emulator) isCompleted(object string) (done bool, err error) {
	err = e.store.db.View(func(tx *bolt.Tx) error {
		return fileTable.each(tx, "", func(_ string, o *storedObject) error {
			done = done || o.Object == object
			return nil
		})
	})
	return done, err
}

func (e *Emulator) sendFile(w http.ResponseWriter, r *http.Request, object string) error {
	q := r.URL.Query()
	if !hmac.Equal([]byte(q.Get("signature")), []byte(e.sign(downloadText(object, q)))) {
		return forbidden("The signature of the URL is not valid.")
	}
	expires, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || !e.clock.Now().Before(timeOf(expires)) {
		return forbidden("The URL has expired.")
	}
	f, err := os.Open(e.objectPath(object))
	if errors.Is(err, os.ErrNotExist) {
		return notFound("The file no longer exists.")
	}
	if err != nil {
		return fmt.Errorf("open a stored file: %w", err)
	}
	defer func() { _ = f.Close() }()
	w.Header().Set("Content-Type", q.Get("contentType"))
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
