package emulator

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

const zipType = "application/zip"

// WikiExportForm is the form of the response to an export of a wiki run.
type WikiExportForm string

// The forms of an export. The service's documentation has the second; others were seen.
const (
	WikiExportLink     WikiExportForm = "link"     // A signed address, in JSON.
	WikiExportArchive  WikiExportForm = "archive"  // The ZIP archive.
	WikiExportRedirect WikiExportForm = "redirect" // 302 with a signed address.
)

// WikiExport configures the responses to exports of wiki runs.
type WikiExport struct {
	// Form is WikiExportLink if it is empty.
	Form WikiExportForm
	// Lifetime is how long a signed address works on the emulator's clock; 0 means a minute.
	Lifetime time.Duration
}

// completed validates the fields and fills in defaults.
func (x WikiExport) completed() (WikiExport, error) {
	switch x.Form {
	case "":
		x.Form = WikiExportLink
	case WikiExportLink, WikiExportArchive, WikiExportRedirect:
	default:
		return x, fmt.Errorf("the form %q is not link, archive, or redirect", x.Form)
	}
	switch {
	case x.Lifetime < 0:
		return x, fmt.Errorf("the lifetime %s is negative", x.Lifetime)
	case x.Lifetime == 0:
		x.Lifetime = time.Minute
	}
	return x, nil
}

// SetWikiExport changes the responses to exports, from Options.WikiExport until Reset. Existing URLs keep their
// lifetime. It is an error if there is no such form, or the lifetime is negative.
func (e *Emulator) SetWikiExport(form WikiExportForm, lifetime time.Duration) error {
	x, err := WikiExport{form, lifetime}.completed()
	if err != nil {
		return err
	}
	e.program(func(s *switches) { s.wikiExport = x })
	return nil
}

func exportWikiRun(r *request, run *wikiRun) (reply, error) {
	x := cmp.Or(r.e.switched().wikiExport, r.e.opts.WikiExport)
	expires := millis(r.now.Add(x.Lifetime))
	data, err := exportedWiki(r.tx, run)
	if err != nil || x.Form == WikiExportArchive {
		return reply{200, archive(data)}, err
	}
	// The archive is stored now, so a link to a run that is deleted meanwhile works until it expires.
	o := storedObject{Object: "wiki_" + run.ID, ContentType: zipType}
	if err := os.WriteFile(r.e.objectPath(o.Object), data, 0o600); err != nil {
		return reply{}, fmt.Errorf("store an export: %w", err)
	}
	address := r.e.downloadURL(o, expires)
	if x.Form == WikiExportRedirect {
		return reply{http.StatusFound, redirection(address)}, nil
	}
	return reply{200, values{"url": address, "expiresAt": expires}}, nil
}

// exportedWiki is the archive of a run: its pages at their paths, and an index. It has only what never changes, so that every export has the
// same bytes.
func exportedWiki(tx *bolt.Tx, run *wikiRun) ([]byte, error) {
	pages, err := wikiPages(tx, run.ID)
	if err != nil {
		return nil, err
	}
	index, err := json.MarshalIndent(values{
		"wikiRunId": run.ID, "createdAt": run.CreatedAt, "repoUrl": run.RepoURL, "commitHash": run.CommitHash, "branch": run.Branch, "pageTree": run.Tree,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the index of a wiki: %w", err)
	}
	files := []*wikiPage{{Path: wikiIndex, Content: string(index) + "\n"}}
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for _, file := range append(files, pages...) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file.Path, Method: zip.Deflate, Modified: timeOf(run.CreatedAt)})
		if err == nil {
			_, err = w.Write([]byte(file.Content))
		}
		if err != nil {
			return nil, fmt.Errorf("pack the page %s: %w", file.Path, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack a wiki: %w", err)
	}
	return data.Bytes(), nil
}

// createWikiVideoUpload lets a video be sent, of any size up to that of other uploads. Its length is not known before.
func createWikiVideoUpload(r *request) (reply, error) {
	expires := millis(r.now.Add(signedURLLife))
	form, err := r.e.uploadForm(uploadPolicy{Key: newID("video_", r.now), Size: maxUpload, AtMost: true, Expires: expires})
	return reply{200, values{"url": r.e.FilesURL() + "/upload", "fields": form, "expiresAt": expires}}, err
}
