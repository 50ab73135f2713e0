package computer_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// An ephemeral secret reaches the computer, and is in no plan, state, log, or error. The computer's ID is unknown in the first plan.
func TestAccComputerFileUpload_secret_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsWriteOnly(t)
	e := acctest.NewRealTime(t)
	c := makeComputer(e, ownMachine("own"))
	config := func(version string) string {
		return `
variable "secret" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "computer" {
  input = "` + c.ID + `"
}
resource "agentyard_computer_file_upload" "x" {
  computer_id        = terraform_data.computer.output
  file_name          = "secret-` + version + `.txt"
  content_wo         = var.secret
  content_wo_version = "` + version + `"
}`
	}
	cli := acctest.NewCLI(t, e, config("1"))
	cli.Setenv("TF_VAR_secret", "do-not-show")
	cli.Setenv("TF_LOG", "TRACE")
	log := filepath.Join(cli.Dir, "trace.log")
	cli.Setenv("TF_LOG_PATH", log)
	cli.MustRun("plan", "-input=false", "-out=saved.plan")
	output := cli.MustRun("apply", "-input=false", "saved.plan").Output
	cli.MustPlanEmpty()
	cli.Write("main.tf", config("2"))
	output += cli.MustRun("apply", "-auto-approve", "-input=false").Output
	cli.MustRun("apply", "-auto-approve", "-input=false", "-destroy")
	cli.Write("main.tf", config("1"))
	cli.Setenv("TF_VAR_secret", "do-not-show this either")
	failed := cli.Run("apply", "-auto-approve", "-input=false") // The file exists, with another content.
	acctest.Says(t, acctest.OneLine(failed.Output), "does not overwrite files", "and upload again")
	if strings.Contains(output+failed.Output, "do-not-show") {
		t.Error("the output shows the secret")
	}
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "saved.plan", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(cli.Dir, name))
		acctest.Must(t, err)
		if bytes.Contains(content, []byte("do-not-show")) {
			t.Errorf("%s has the secret", name)
		}
	}
	for _, name := range []string{"secret-1.txt", "secret-2.txt"} {
		if content, _ := e.File(c.ID, name); content != "do-not-show" {
			t.Errorf("%s has %q", name, content)
		}
	}
}

// Another spelling of the same path, of the same bytes, or of the computer's ID uploads nothing.
func TestComputerFileUpload_sameInAnotherForm(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	folder := t.TempDir()
	source := filepath.Join(folder, "task.txt")
	acctest.Must(t, os.WriteFile(source, []byte("x"), 0o600))
	for name, tc := range map[string]struct{ from, to acctest.Values }{
		"path":  {acctest.Values{"source_path": source}, acctest.Values{"source_path": folder + "/./task.txt"}},
		"bytes": {acctest.Values{"content": "hi"}, acctest.Values{"content_base64": "aGk="}},
		"ID":    {acctest.Values{"content": "hi"}, acctest.Values{"content": "hi", "computer_id": strings.ToUpper(c.ID)}},
	} {
		config := func(more acctest.Values) acctest.Values {
			all := acctest.Values{"computer_id": c.ID, "file_name": name}
			maps.Copy(all, more)
			return all
		}
		i := e.NewInstance(t, "agentyard_computer_file_upload")
		e.MustApply(t, i, config(tc.from))
		e.Journal().Reset()
		if e.Apply(t, i, config(tc.to)).MustDo(t, acctest.ActionUpdate); len(e.Journal().Entries()) > 0 {
			t.Errorf("%s: %d requests", name, len(e.Journal().Entries()))
		}
		e.Plan(t, i, config(acctest.Values{"content": "other"})).MustDo(t, acctest.ActionReplace)
	}
}

// The value of content_wo may be null in a run that uploads nothing, so its version says that it is the source.
func TestComputerFileUpload_withoutContent(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	for _, tc := range []struct {
		more acctest.Values
		want string
	}{
		{nil, "Missing Attribute Configuration"},
		{acctest.Values{"content_wo": "x"}, "Missing Attribute Configuration"},
		{acctest.Values{"content": "x", "content_wo_version": "1"}, "Invalid Attribute Combination"},
		{acctest.Values{"content": "x", "content_wo": "x"}, "Invalid Attribute Combination"},
		{acctest.Values{"content": "x", "source_path": "x"}, "Invalid Attribute Combination"},
	} {
		config := acctest.Values{"computer_id": c.ID, "file_name": "a"}
		maps.Copy(config, tc.more)
		acctest.Says(t, e.Plan(t, e.NewInstance(t, "agentyard_computer_file_upload"), config).Text(), tc.want)
	}
}
