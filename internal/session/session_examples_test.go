package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// What examples can only show.
const (
	exampleSession  = "7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11"
	exampleComputer = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
)

func TestAccSession_example(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.RunExample(t, e, "resources/agentyard_session/resource.tf")
	if left, err := e.Sessions(); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if n := e.Journal().Count("createSession"); n != 2 {
		t.Errorf("%d sessions were created", n)
	}
}

func TestAccSessionDataSources_examples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agentyard_session", "agentyard_sessions"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computer := newComputer(e, "dev")
			makeTalk(e, computer, nil)
			s := makeTalk(e, computer, map[string]any{"tags": []any{map[string]any{"name": "nightly"}}})
			isRunning(t, e, s.ID)
			acctest.RunExample(t, e, "data-sources/"+name+"/data-source.tf", exampleSession, s.ID, exampleComputer, computer)
		})
	}
}

func TestAccSessionList_example(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	here := newComputer(e, "here")
	makeTalk(e, here, nil)
	makeTalk(e, newComputer(e, "there"), nil)
	hcl := strings.ReplaceAll(acctest.Example(t, "list-resources/agentyard_session/list-resource.tfquery.hcl"), exampleComputer, here)
	runReads(t, e, resource.TestStep{Query: true, Config: e.Config(hcl), QueryResultChecks: []querycheck.QueryResultCheck{
		querycheck.ExpectLength("agentyard_session.all", 2), querycheck.ExpectLength("agentyard_session.on_build", 1),
	}})
}

// The examples of an import say what a real one needs: with the IDs of a session that exists they import that.
func TestAccSession_importExamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if file == "import-by-identity.tf" {
				acctest.NeedsIdentity(t)
			}
			e := acctest.New(t)
			computer := newComputer(e, "dev")
			s := makeTalk(e, computer, fullSettings)
			e.Journal().Reset()
			example := strings.NewReplacer(exampleSession, s.ID, exampleComputer, computer).Replace(acctest.Example(t, "resources/agentyard_session/"+file))
			runReads(t, e, reads(e.Config(hclNamed("review", computer, `session_settings = { model = "model-thinking" }`)+example),
				shows("agentyard_session.review", attributes{"id": exactly(s.ID), "session_settings": fullSettingsAre})...))
			if n := e.Journal().Count("createSession") + e.Journal().Count("updateSession"); n != 0 {
				t.Errorf("%d creations and updates were sent", n)
			}
		})
	}
}

func TestAccSession_importCommandExample(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, shownAtOnce)
	computer := newComputer(e, "dev")
	s := makeTalk(e, computer, nil)
	cli := acctest.NewCLI(t, e, hclNamed("review", computer, ""))
	lines := strings.Split(strings.TrimSpace(acctest.Example(t, "resources/agentyard_session/import.sh")), "\n")
	command := strings.Fields(strings.ReplaceAll(lines[len(lines)-1], exampleSession, s.ID))
	cli.MustRun(command[1:]...)
	cli.MustPlanEmpty()
	for _, entry := range e.Journal().Entries() {
		if strings.HasPrefix(entry.Path, sessionsRoute+"/") && entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}
