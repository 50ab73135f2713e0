package trials

import (
	"io"
	"strings"
	"time"

	api "github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

var managedTrials = []Trial{{
	Name:     "a managed computer",
	Variable: ManagedComputers,
	Rules: []string{
		"create-computer", "byom-clone", "repos", "bulk-create-computers-name-prefix", "computer-provisioning-steps",
		"content-type", "complete-file-upload-request-body", "create-file-download-request-body", "upload-size",
		"delete-computer",
	},
	run: func(x *exam) {
		plain := object{"name": x.lab.NewName("computer"), "remoteUser": "agent"}
		made := x.create(computers, plain)
		id := made.record().Text("id")
		if id == "" {
			x.blocked("creating a managed computer", made)
			return
		}
		providers, _ := x.get("/computers/providers").record()["providers"].([]any)
		if len(providers) == 0 {
			x.unseen("create-computer", "the list of providers is empty, or cannot be read")
		} else {
			x.holds("create-computer", providers[0] == made.record()["providerType"],
				"without a provider it is the first managed one", "without a provider it is not the first managed one")
		}

		with := func(field string, value any) answer {
			return x.create(computers, object{"name": x.lab.NewName("computer"), "remoteUser": "agent", field: value})
		}
		x.answers("repos", "a repository that is no URL", with("repos", []string{"tf-acc none"}), 400)
		registered := x.create(computers, x.registered(nil)).record().Text("id")
		if registered != "" {
			x.answers("byom-clone", "a copy of a registered machine", with("source", object{"kind": "computer", "sourceComputerId": registered}), 400)
		}
		name := x.lab.NewName("bulk")
		bulk := func(prefix string) answer {
			a := x.post("/computers/bulk", object{"quantity": 1, "namePrefix": prefix, "provider": made.record()["providerType"]})
			for _, extra := range a.rows("computers") {
				x.laterDelete(computers, extra.Text("id"))
			}
			return a
		}
		good := bulk(name)
		for _, prefix := range []string{name + "X", name + "-", padded(name, 59)} {
			x.refuses("bulk-create-computers-name-prefix", "a prefix beyond the pattern", good, bulk(prefix), 400)
		}
		x.steps()

		ready := x.until(provisioningTime, func() answer { return x.get(computer, id) }, func(a answer) bool {
			return a.record().Text("status") == "active" || a.record().Text("status") == "error" || a.isUnclear()
		})
		if ready.record().Text("status") != "active" {
			x.obstacle = "the computer did not become active"
			return
		}
		x.files(id)
		x.archived(id)
	},
}}

// archived judges what the deletion of a managed computer does to its sessions.
func (x *exam) archived(computerID string) {
	const rule = "delete-computer"
	if !x.lab.MayCreateSessions {
		x.unseen(rule, "needs "+Sessions+" and "+ManagedComputers)
		return
	}
	id := x.newSession(computerID)
	if id == "" {
		return
	}
	if gone := x.remove(computer, computerID); !gone.ok() {
		x.unseen(rule, "the deletion was "+gone.said())
		return
	}
	// An update shows the settings, which a single read leaves out.
	after := x.patch(session, object{"sessionSettings": object{}}, id)
	if !after.ok() || !after.record().Has("sessionSettings") {
		x.unseen(rule, "an update of the session was "+after.said()+", or the answer has no settings")
		return
	}
	x.holds(rule, after.record().Object("sessionSettings").Has("archivedAt"), "the session has archivedAt among its settings", "the session has no archivedAt")
}

// files judges the upload and the download of a file.
func (x *exam) files(id string) {
	begin := func(name string, body object) answer {
		return x.post("/computers/{id}/files/{fileName}/create-upload", body, id, name)
	}
	x.bounds("content-type", "a content type of 255 characters",
		begin("tf-acc-type", object{"sizeBytes": 1, "contentType": padded("text/", 255)}),
		begin("tf-acc-type", object{"sizeBytes": 1, "contentType": padded("text/", 256)}))

	const complete = "/computers/{id}/files/{fileName}/complete-upload"
	name := x.lab.NewName("file")
	if err := x.upload(id, name); err != nil {
		x.obstacle = "the upload of a file failed"
		return
	}
	wrong := x.post(complete, object{"sizeBytes": 2}, id, name)
	if wrong.ok() {
		x.judge("upload-size", evidence.Refuted, "a wrong size was accepted")
		return
	}
	right := x.post(complete, nil, id, name)
	x.answers("complete-file-upload-request-body", "a completion without a body", right, accepted)
	if right.ok() {
		x.answers("upload-size", "a wrong size", wrong, 400)
		x.answers("create-file-download-request-body", "a download without a body",
			x.post("/computers/{id}/files/{fileName}/create-download", nil, id, name), accepted)
	}
}

// provisioningTime limits the wait for a managed computer.
const provisioningTime = 20 * time.Minute

// upload sends a file of one byte, which is completed elsewhere.
func (x *exam) upload(computerID, name string) error {
	content := api.FileContent{Size: 1, Type: "text/plain", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }}
	upload, err := x.client.Computers.CreateFileUpload(x.ctx, computerID, name, content)
	if err != nil {
		return err
	}
	return x.client.Computers.Upload(x.ctx, upload, name, content, nil)
}
