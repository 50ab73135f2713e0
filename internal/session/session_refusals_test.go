package session_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestAccSession_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	long := func(lines ...string) string { return strings.Join(lines, "\n") }
	for name, tc := range map[string]struct{ more, want string }{
		"both prompts":              {long(`system_prompt = "a"`, `system_prompt_append = "b"`), `system_prompt\s*=\s*"a"(.|\n)*"system_prompt_append"\s+cannot\s+be\s+specified`},
		"a blank prompt":            {`system_prompt = "  "`, `system_prompt\s*=\s*"  "(.|\n)*write\s+a\s+prompt`},
		"a blank addition":          {`system_prompt_append = "\t"`, `system_prompt_append\s*=\s*"\\t"(.|\n)*write\s+an\s+addition`},
		"a blank directory":         {`cwd = ""`, `cwd\s*=\s*""(.|\n)*name\s+a\s+directory`},
		"a tag without a name":      {`session_settings = { tags = [{ metadata = { a = "b" } }] }`, `tags(.|\n)*attribute\s+"name"\s+is\s+required`},
		"a tag with an empty name":  {`session_settings = { tags = [{ name = "a" }, { name = "" }] }`, `session_settings.tags\[1\].name`},
		"metadata that is null":     {`session_settings = { tags = [{ name = "a", metadata = { b = null } }] }`, `Null\s+Map\s+Value`},
		"a worktree without a root": {`session_settings = { worktree = { branch = "b" } }`, `attribute\s+"repo_root"\s+is\s+required`},
		"a worktree of no name":     {`session_settings = { worktree = { repo_root = " " } }`, `set\s+the\s+path\s+of\s+the\s+repository`},
		"an empty branch":           {`session_settings = { worktree = { repo_root = "/a", branch = "" } }`, `session_settings.worktree.branch`},
		"an empty model":            {`session_settings = { model = "" }`, `session_settings.model`},
		"an empty tool":             {`session_settings = { enabled_tool_ids = ["a", ""] }`, `session_settings.enabled_tool_ids`},
		"a null tool":               {`session_settings = { enabled_tool_ids = ["a", null] }`, `Null\s+Set\s+Value`},
		"a model without a name":    {`session_settings = { compaction_model = "custom:" }`, `compaction_model(.|\n)*such\s+as\s+custom:my-model`},
		"an effort":                 {`session_settings = { reasoning_effort = "some" }`, `Invalid Setting(.|\n)*reasoning_effort\s+must\s+be\s+one\s+of\s+none,\s+dynamic,(.|\n)*got:\s+"some"`},
		"an effort in spec mode":    {`session_settings = { spec_mode_reasoning_effort = "Low" }`, `spec_mode_reasoning_effort\s+must\s+be(.|\n)*"Low"`},
		"an interaction mode":       {`session_settings = { interaction_mode = "manual" }`, `interaction_mode\s+must\s+be\s+one\s+of\s+auto,\s+spec,\s+agi,\s+mission`},
		"a level":                   {`session_settings = { autonomy_level = "none" }`, `autonomy_level\s+must\s+be\s+one\s+of\s+off,\s+low,\s+medium,\s+high`},
		"a deprecated mode":         {`session_settings = { autonomy_mode = "auto" }`, `autonomy_mode\s+must\s+be\s+one\s+of\s+normal,\s+spec,\s+auto-low`},
		"a way of calling tools":    {`session_settings = { tool_execution_mode = "scripts" }`, `tool_execution_mode\s+must\s+be\s+one\s+of\s+direct_only`},
		"a life cycle":              {`session_settings = { worktree = { repo_root = "/a", lifecycle = "forever" } }`, `lifecycle\s+must\s+be\s+one\s+of\s+ephemeral,\s+persistent`},
		"a mode against another":    {`session_settings = { autonomy_mode = "auto-low", interaction_mode = "spec" }`, `Contradicting Modes(.|\n)*It\s+is\s+deprecated:\s+remove\s+it`},
		"a mode against a level":    {`session_settings = { autonomy_mode = "normal", autonomy_level = "high" }`, `Contradicting Modes`},
		"a null tag":                {`session_settings = { tags = [null] }`, `session_settings.tags\[0\]`},
		"no tags at all":            {`session_settings = { tags = "a" }`, `session_settings`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSessions(t, e, resource.TestStep{Config: e.Config(hclOf(computer, tc.more)), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)})
		})
	}
	for name, tc := range map[string]struct{ hcl, want string }{
		"no computer":    {"", `argument\s+"computer_id"\s+is\s+required`},
		"a null one":     {"computer_id = null", `computer_id\s*=\s*null`},
		"a blank one":    {`computer_id = " "`, `computer_id\s*=\s*" "(.|\n)*set\s+the\s+ID`},
		"unknown wishes": {"computer_id = \"7\"\n  modle = \"a\"", `An\s+argument\s+named\s+"modle"\s+is\s+not\s+expected`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSessions(t, e, resource.TestStep{Config: e.Config("resource \"agentyard_session\" \"test\" {\n  " + tc.hcl + "\n}\n"), PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)})
		})
	}
	t.Cleanup(func() {
		if n := e.Journal().Count("createSession"); n > 0 {
			t.Errorf("%d sessions were made", n)
		}
	})
}

// What the apply alone can know is an error at its attribute.
func TestSession_refusedByTheService(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var pending struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "slow"}, &pending)
	for name, tc := range map[string]struct {
		config acctest.Values
		parts  []string
		at     string
	}{
		"an unknown computer":  {valuesOf("cmp_nowhere", nil), []string{"createSession", "400", "cmp_nowhere"}, `AttributeName("computer_id")`},
		"one that is no ready": {valuesOf(pending.ID, nil), []string{"createSession", "400", "If it is not active, wait until it is", "agentyard_computer_restart"}, `AttributeName("computer_id")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(sessionType)
			out := p.Apply(i, tc.config)
			if len(out.Errors) != 1 || !i.State.IsNull() {
				t.Fatal(out)
			}
			for _, part := range tc.parts {
				if !strings.Contains(out.Text(), part) {
					t.Errorf("the error lacks %q: %s", part, out)
				}
			}
			if at := out.Errors[0].Attribute.String(); !strings.Contains(at, tc.at) {
				t.Errorf("the error is at %s: %s", at, out)
			}
		})
	}
}

// Where the organization has no sessions, the error says so, and a refresh keeps the state.
func TestSession_notEnabled(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := valuesOf(newComputer(e, "dev"), nil)
	i := applied(t, e, config)
	e.AllowSessions(false)
	p := acctest.NewProcess(t, e, nil)
	for what, out := range map[string]acctest.Outcome{
		"a creation":    p.Apply(p.NewInstance(sessionType), config),
		"a refresh":     acctest.NewProcess(t, e, nil).Plan(i, config),
		"a destruction": acctest.NewProcess(t, e, nil).Destroy(i),
	} {
		if len(out.Errors) != 1 || !strings.Contains(out.Text(), "not enabled") || !strings.Contains(out.Text(), "selected organizations") {
			t.Errorf("%s: %s", what, out)
		}
	}
	if i.ID() == "" {
		t.Error("the state was emptied")
	}
	e.AllowSessions(true)
	mustPlan(t, e, i, config, "none")
}

// The service writes IDs in lower case. Another case of the computer's is the same computer, in the configuration and
// after an import.
func TestSession_caseOfTheComputer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	computer := newComputer(e, "dev")
	upper := strings.ToUpper(computer)
	i := applied(t, e, valuesOf(upper, nil))
	id := i.ID()
	mustPlan(t, e, i, valuesOf(upper, nil), "none")
	mustPlan(t, e, i, valuesOf(computer, nil), "none")
	mustApply(t, e, i, withSettings(computer, map[string]any{"model": "model-light"}))
	mustPlan(t, e, i, withSettings(upper, map[string]any{"model": "model-light"}), "none")
	if i.ID() != id || i.Attribute("computer_id") != upper || i.Tainted {
		t.Errorf("session %s instead of %s, on %s, tainted %v", i.ID(), id, i.Attribute("computer_id"), i.Tainted)
	}

	p := acctest.NewProcess(t, e, nil)
	imported := p.NewInstance(sessionType)
	if out := p.Import(imported, id); len(out.Errors) > 0 {
		t.Fatal(out)
	}
	mustPlan(t, e, imported, valuesOf(upper, nil), "none")
	if imported.Attribute("computer_id") != computer {
		t.Errorf("the imported session is on %s", imported.Attribute("computer_id"))
	}
}
