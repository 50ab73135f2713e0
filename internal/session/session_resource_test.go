package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	sessionType    = "agentyard_session"
	sessionAddress = sessionType + ".test"
	sessionsRoute  = "/api/v0/sessions"
)

// newComputer registers a computer, which is active at once, as somebody else and returns its ID.
func newComputer(e *acctest.Env, name string) string {
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name, "provider": "byom", "hostId": uuid.NewString()}, &made)
	return made.ID
}

// newManagedComputer makes a computer of the service and lets it become active.
func newManagedComputer(e *acctest.Env, name string) string {
	var made struct{ ID string }
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name}, &made)
	e.Clock.Advance(10 * time.Minute)
	return made.ID
}

// newSession makes a session as somebody else, waits until it shows everywhere, and returns its ID.
func newSession(e *acctest.Env, computer string, settings map[string]any) string {
	id := newYoungSession(e, computer, settings)
	e.Clock.Advance(time.Hour)
	return id
}

func newYoungSession(e *acctest.Env, computer string, settings map[string]any) string {
	body := map[string]any{"computerId": computer}
	if settings != nil {
		body["sessionSettings"] = settings
	}
	var made struct{ SessionID string }
	e.API(http.MethodPost, sessionsRoute, body, &made)
	return made.SessionID
}

// patched changes settings of a session behind Terraform's back.
func patched(e *acctest.Env, id string, settings map[string]any) {
	e.API(http.MethodPatch, sessionsRoute+"/"+id, map[string]any{"sessionSettings": settings}, nil)
}

// changed plays the agent, or other people.
func changed(t *testing.T, e *acctest.Env, id string, change emulator.SessionChange) {
	t.Helper()
	if err := e.ChangeSession(id, change); err != nil {
		t.Error(err)
	}
}

// sessionsOn are the sessions of a computer that are not deleted, oldest first.
func sessionsOn(t testing.TB, e *acctest.Env, computer string) []emulator.Session {
	t.Helper()
	all, err := e.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(s emulator.Session) bool { return s.ComputerID != computer })
}

func idsOn(t testing.TB, e *acctest.Env, computer string) []string {
	t.Helper()
	var ids []string
	for _, s := range sessionsOn(t, e, computer) {
		ids = append(ids, s.ID)
	}
	return ids
}

// none demands that no session is left.
func none(e *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error {
		left, err := e.Sessions()
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %+v", left)
		}
		return err
	}
}

// runSessions runs steps that must leave no session behind.
func runSessions(t *testing.T, e *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: e.Factories, CheckDestroy: none(e), Steps: steps})
}

// hclOf is a session with further lines.
func hclOf(computer, more string) string { return hclNamed("test", computer, more) }

func hclNamed(name, computer, more string) string {
	return fmt.Sprintf("resource %q %q {\n  computer_id = %q\n  %s\n}\n", sessionType, name, computer, more)
}

// valuesOf is the same for a process without a CLI. Changes are further attributes.
func valuesOf(computer string, changes acctest.Values) acctest.Values {
	config := acctest.Values{"computer_id": computer}
	for name, v := range changes {
		config[name] = v
	}
	return config
}

func withSettings(computer string, settings map[string]any) acctest.Values {
	return valuesOf(computer, acctest.Values{"session_settings": settings})
}

// mustApply applies a configuration in a process of its own.
func mustApply(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	out := acctest.NewProcess(t, e, nil).Apply(i, config)
	if len(out.Errors) > 0 {
		t.Fatal(out)
	}
	return out
}

// applied is a session that an apply made and that shows everywhere.
func applied(t *testing.T, e *acctest.Env, config acctest.Values) *acctest.Instance {
	t.Helper()
	i := acctest.NewProcess(t, e, nil).NewInstance(sessionType)
	mustApply(t, e, i, config)
	e.Clock.Advance(time.Hour)
	return i
}

// mustPlan demands what a plan has to do: "none" or an action.
func mustPlan(t *testing.T, e *acctest.Env, i *acctest.Instance, config acctest.Values, action string) acctest.Outcome {
	t.Helper()
	out := acctest.NewProcess(t, e, nil).Plan(i, config)
	if len(out.Errors) > 0 || out.Action != action {
		t.Errorf("the plan should be %q: %s", action, out)
	}
	return out
}

// sent are the bodies of the creations and changes of sessions that reached an emulator.
type sent struct {
	mu     sync.Mutex
	bodies []string
}

func (s *sent) option(o *emulator.Options) {
	inner := o.Wrap
	o.Wrap = func(next http.Handler) http.Handler {
		if inner != nil {
			next = inner(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isChange := r.Method == http.MethodPost || r.Method == http.MethodPatch
			if isChange && strings.HasPrefix(r.URL.Path, sessionsRoute) && strings.HasPrefix(r.UserAgent(), "terraform-provider-agentyard/") {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.mu.Lock()
				s.bodies = append(s.bodies, r.Method+" "+string(body))
				s.mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// take returns what was sent since it was called before.
func (s *sent) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.bodies
	s.bodies = nil
	return taken
}

// must demands what was sent since, as a method and JSON in any order of fields.
func (s *sent) must(t *testing.T, want ...string) {
	t.Helper()
	taken := s.take()
	same := slices.EqualFunc(taken, want, func(a, b string) bool {
		methodA, bodyA, _ := strings.Cut(a, " ")
		methodB, bodyB, _ := strings.Cut(b, " ")
		return methodA == methodB && sameJSON(t, bodyA, bodyB)
	})
	if !same {
		t.Errorf("sent %q, want %q", taken, want)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	return normalJSON(t, a) == normalJSON(t, b)
}

func normalJSON(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// unframed is the output of a CLI without frames and line breaks.
func unframed(output string) string {
	return regexp.MustCompile(`[\s│╷╵]+`).ReplaceAllString(output, " ")
}

func warningsOf(out acctest.Outcome) string {
	text := ""
	for _, w := range out.Warnings {
		text += w.Summary + ": " + w.Detail + "\n"
	}
	return text
}

// plannedThenEmpty demands an action in the plan, and nothing to do after it.
func plannedThenEmpty(action plancheck.ResourceActionType, checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply:             append(checks, plancheck.ExpectResourceAction(sessionAddress, action)),
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

func setting(name string) tfjsonpath.Path { return tfjsonpath.New("session_settings").AtMapKey(name) }

func expect(at tfjsonpath.Path, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(sessionAddress, at, want)
}

const (
	// allSettings are all that can be set at once; autonomy_mode stands for two of them.
	allSettings = `cwd = "/srv/app"
  system_prompt_append = "Be brief."
  session_settings = {
    model                              = "model-light"
    reasoning_effort                   = "low"
    interaction_mode                   = "spec"
    autonomy_level                     = "high"
    spec_mode_model                    = "model-thinking"
    spec_mode_reasoning_effort         = "max"
    provider_lock                      = "generic-chat-completion-api"
    provider_lock_timestamp            = "2026-02-01T00:00:00Z"
    api_provider_lock                  = "generic"
    tags                               = [{ name = "team", metadata = { owner = "ada", empty = "" } }, { name = "ci" }]
    worktree                           = { repo_root = "/srv/app", branch = "main", lifecycle = "ephemeral", path = "/srv/tree", parent_worktree_path = "/srv", removed_at = "2026-02-02T00:00:00Z" }
    setup_profile_id                   = "profile-1"
    enabled_tool_ids                   = ["read", "write", "read"]
    disabled_tool_ids                  = ["browse"]
    restrict_tool_ids                  = []
    tool_execution_mode                = "script_only"
    allow_subagents_in_scripts         = false
    compaction_model                   = "custom:small"
    compaction_threshold_check_enabled = false
  }`
	// otherSettings differ in all that can be changed.
	otherSettings = `cwd = "/srv/app"
  system_prompt_append = "Be brief."
  session_settings = {
    model                              = "model-standard"
    reasoning_effort                   = "none"
    interaction_mode                   = "mission"
    autonomy_level                     = "off"
    spec_mode_model                    = "model-light"
    spec_mode_reasoning_effort         = "dynamic"
    provider_lock                      = "other"
    provider_lock_timestamp            = "2026-02-01T00:00:01Z"
    api_provider_lock                  = "other"
    archived_at                        = "2026-02-03T00:00:00Z"
    tags                               = []
    worktree                           = { repo_root = "/srv/other" }
    setup_profile_id                   = "profile-2"
    enabled_tool_ids                   = []
    disabled_tool_ids                  = ["read"]
    restrict_tool_ids                  = ["read"]
    tool_execution_mode                = "script_only"
    allow_subagents_in_scripts         = false
    compaction_model                   = "current-model"
    compaction_threshold_check_enabled = true
  }`
)

func otherChecks() []statecheck.StateCheck {
	return []statecheck.StateCheck{
		expect(tfjsonpath.New("cwd"), knownvalue.StringExact("/srv/app")),
		expect(setting("model"), knownvalue.StringExact("model-standard")),
		expect(setting("interaction_mode"), knownvalue.StringExact("mission")),
		expect(setting("autonomy_mode"), knownvalue.Null()),
		expect(setting("archived_at"), knownvalue.StringExact("2026-02-03T00:00:00Z")),
		expect(setting("tags"), knownvalue.ListSizeExact(0)),
		expect(setting("worktree").AtMapKey("repo_root"), knownvalue.StringExact("/srv/other")),
		expect(setting("worktree").AtMapKey("branch"), knownvalue.Null()),
		expect(setting("enabled_tool_ids"), knownvalue.SetSizeExact(0)),
		expect(setting("restrict_tool_ids"), knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("read")})),
		expect(setting("compaction_threshold_check_enabled"), knownvalue.Bool(true)),
		expect(setting("tool_execution_mode"), knownvalue.StringExact("script_only")),
	}
}

func TestAccSession_everySettingSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	var bodies sent
	e := acctest.New(t, bodies.option, shownAtOnce)
	computer := newComputer(e, "dev")
	sends := func(want ...string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			bodies.must(t, want...)
			return nil
		}
	}
	runSessions(t, e,
		resource.TestStep{
			Config: e.Config(hclOf(computer, allSettings)), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionCreate),
			Check: sends(`POST {"computerId":"` + computer + `","cwd":"/srv/app","systemPrompt":{"type":"preset","preset":"agent","append":"Be brief."},"sessionSettings":{
				"model":"model-light","reasoningEffort":"low","interactionMode":"spec","autonomyLevel":"high","specModeModel":"model-thinking","specModeReasoningEffort":"max",
				"providerLock":"generic-chat-completion-api","providerLockTimestamp":"2026-02-01T00:00:00Z","apiProviderLock":"generic",
				"tags":[{"name":"team","metadata":{"owner":"ada","empty":""}},{"name":"ci"}],
				"worktree":{"repoRoot":"/srv/app","branch":"main","lifecycle":"ephemeral","path":"/srv/tree","parentWorktreePath":"/srv","removedAt":"2026-02-02T00:00:00Z"},
				"setupProfileId":"profile-1","enabledToolIds":["read","write"],"disabledToolIds":["browse"],"restrictToolIds":[],
				"toolExecutionMode":"script_only","allowSubagentsInScripts":false,"compactionModel":"custom:small","compactionThresholdCheckEnabled":false}}`),
			ConfigStateChecks: []statecheck.StateCheck{
				expect(tfjsonpath.New("status"), knownvalue.StringExact("idle")),
				expect(tfjsonpath.New("message_count"), knownvalue.Int64Exact(0)),
				expect(tfjsonpath.New("created_at"), knownvalue.StringExact("2026-03-01T12:00:00Z")),
				expect(tfjsonpath.New("title"), knownvalue.Null()),
				expect(tfjsonpath.New("parent_session_id"), knownvalue.Null()),
				expect(tfjsonpath.New("completed_at"), knownvalue.Null()),
				expect(tfjsonpath.New("computer_id"), knownvalue.StringExact(computer)),
				expect(setting("archived_at"), knownvalue.Null()),
				expect(setting("tags").AtSliceIndex(1).AtMapKey("metadata"), knownvalue.Null()),
				expect(setting("restrict_tool_ids"), knownvalue.SetSizeExact(0)),
			},
		},
		resource.TestStep{
			Config: e.Config(hclOf(computer, otherSettings)), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionUpdate), ConfigStateChecks: otherChecks(),
			// Of another worktree only what is configured is sent: the rest belongs to the one before.
			Check: sends(`PATCH {"sessionSettings":{
				"model":"model-standard","reasoningEffort":"none","interactionMode":"mission","autonomyLevel":"off","specModeModel":"model-light","specModeReasoningEffort":"dynamic",
				"providerLock":"other","providerLockTimestamp":"2026-02-01T00:00:01Z","apiProviderLock":"other","archivedAt":"2026-02-03T00:00:00Z","tags":[],
				"worktree":{"repoRoot":"/srv/other"},
				"setupProfileId":"profile-2","enabledToolIds":[],"disabledToolIds":["read"],"restrictToolIds":["read"],"compactionModel":"current-model","compactionThresholdCheckEnabled":true}}`),
		},
		// What is removed stays as it is, in parts and as a whole.
		resource.TestStep{
			Config:           e.Config(hclOf(computer, "cwd = \"/srv/app\"\n  system_prompt_append = \"Be brief.\"\n  session_settings = { model = \"model-standard\" }")),
			ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionNoop), ConfigStateChecks: otherChecks(), Check: sends(),
		},
		resource.TestStep{
			Config:           e.Config(hclOf(computer, "system_prompt_append = \"Be brief.\"\n  session_settings = null")),
			ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionNoop), ConfigStateChecks: otherChecks(), Check: sends(),
		},
		resource.TestStep{
			Config: e.Config(hclOf(computer, "system_prompt_append = \"Be brief.\"")), ResourceName: sessionAddress,
			ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"cwd", "system_prompt_append", "service_credits"},
		},
	)
}

// A session that sets nothing has what the organization's controls give it, and takes settings later.
func TestAccSession_settingsAddedLater(t *testing.T) {
	t.Parallel()
	var bodies sent
	e := acctest.New(t, bodies.option, shownAtOnce)
	computer := newComputer(e, "dev")
	runSessions(t, e,
		resource.TestStep{
			Config: e.Config(hclOf(computer, "")), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{
				expect(tfjsonpath.New("cwd"), knownvalue.Null()),
				expect(setting("model"), knownvalue.StringExact("model-standard")),
				expect(setting("autonomy_level"), knownvalue.StringExact("medium")),
				expect(setting("tags"), knownvalue.Null()),
				expect(setting("worktree"), knownvalue.Null()),
				expect(setting("enabled_tool_ids"), knownvalue.Null()),
			},
			Check: func(*terraform.State) error {
				bodies.must(t, `POST {"computerId":"`+computer+`"}`)
				return nil
			},
		},
		resource.TestStep{
			Config:           e.Config(hclOf(computer, `session_settings = { tags = [{ name = "ci", metadata = {} }], enabled_tool_ids = ["read"], worktree = { repo_root = "/srv" }, model = null }`)),
			ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{
				expect(setting("model"), knownvalue.StringExact("model-standard")),
				expect(setting("tags").AtSliceIndex(0).AtMapKey("metadata"), knownvalue.MapSizeExact(0)),
				expect(setting("worktree").AtMapKey("branch"), knownvalue.Null()),
			},
			Check: func(*terraform.State) error {
				bodies.must(t, `PATCH {"sessionSettings":{"tags":[{"name":"ci","metadata":{}}],"enabledToolIds":["read"],"worktree":{"repoRoot":"/srv"}}}`)
				return nil
			},
		},
		// An empty object asks for nothing.
		resource.TestStep{Config: e.Config(hclOf(computer, "session_settings = {}")), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionNoop)},
	)
}

// What only a creation accepts replaces the session.
func TestAccSession_createOnlyReplaces(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	one, other := newComputer(e, "one"), newComputer(e, "other")
	replaced := func(computer, more string) resource.TestStep {
		return resource.TestStep{Config: e.Config(hclOf(computer, more)), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionReplace)}
	}
	runSessions(t, e,
		resource.TestStep{Config: e.Config(hclOf(one, "")), ConfigPlanChecks: acctest.ThenEmpty},
		replaced(one, `cwd = "/srv"`),
		replaced(one, "cwd = \"/srv/app\""),
		replaced(one, "cwd = \"/srv/app\"\n  system_prompt = \"Be brief.\""),
		replaced(one, "cwd = \"/srv/app\"\n  system_prompt = \"Be thorough.\""),
		replaced(one, "cwd = \"/srv/app\"\n  system_prompt_append = \"Be thorough.\""),
		replaced(one, "cwd = \"/srv/app\""),
		replaced(one, "session_settings = { tool_execution_mode = \"direct_only\" }"),
		replaced(one, "session_settings = { tool_execution_mode = \"script_only\" }"),
		replaced(one, "session_settings = { allow_subagents_in_scripts = true }"),
		replaced(one, "session_settings = { allow_subagents_in_scripts = false }"),
		replaced(other, "session_settings = { allow_subagents_in_scripts = false }"),
	)
}

// unknown are values that are known only in the apply.
func unknown(values map[string]string) string {
	hcl := ""
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range values {
			if !yield(name) {
				return
			}
		}
	}) {
		hcl += fmt.Sprintf("resource \"terraform_data\" %q {\n  input = %s\n}\n", name, values[name])
	}
	return hcl
}

// Every argument may come from another resource of the same apply, and so may each part of one.
func TestAccSession_unknownAtPlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ value, more string }{
		"settings":            {`{ model = "m", tags = [{ name = "a", metadata = { b = "c" } }] }`, `session_settings = terraform_data.it.output`},
		"a text":              {`"low"`, `session_settings = { reasoning_effort = terraform_data.it.output }`},
		"a flag":              {`true`, `session_settings = { compaction_threshold_check_enabled = terraform_data.it.output }`},
		"a create-only flag":  {`true`, `session_settings = { allow_subagents_in_scripts = terraform_data.it.output }`},
		"a create-only text":  {`"script_only"`, `session_settings = { tool_execution_mode = terraform_data.it.output }`},
		"a set":               {`["a", "b"]`, `session_settings = { enabled_tool_ids = terraform_data.it.output }`},
		"a tool":              {`"a"`, `session_settings = { disabled_tool_ids = ["b", terraform_data.it.output] }`},
		"tags":                {`[{ name = "a", metadata = null }]`, `session_settings = { tags = terraform_data.it.output }`},
		"a tag's name":        {`"a"`, `session_settings = { tags = [{ name = terraform_data.it.output }] }`},
		"a tag's metadata":    {`{ a = "b" }`, `session_settings = { tags = [{ name = "a", metadata = terraform_data.it.output }] }`},
		"an entry of it":      {`"b"`, `session_settings = { tags = [{ name = "a", metadata = { a = terraform_data.it.output } }] }`},
		"a worktree":          {`{ repo_root = "/a", branch = "b", lifecycle = null, path = null, parent_worktree_path = null, removed_at = null }`, `session_settings = { worktree = terraform_data.it.output }`},
		"a worktree's root":   {`"/a"`, `session_settings = { worktree = { repo_root = terraform_data.it.output } }`},
		"a worktree's branch": {`"b"`, `session_settings = { worktree = { repo_root = "/a", branch = terraform_data.it.output } }`},
		"a deprecated mode":   {`"auto-low"`, `session_settings = { autonomy_mode = terraform_data.it.output }`},
		"a mode beside it":    {`"auto"`, `session_settings = { autonomy_mode = "auto-low", interaction_mode = terraform_data.it.output }`},
		"a directory":         {`"/srv"`, `cwd = terraform_data.it.output`},
		"a prompt":            {`"Be brief."`, `system_prompt = terraform_data.it.output`},
		"an addition":         {`"Be brief."`, `system_prompt_append = terraform_data.it.output`},
		"no prompt":           {`null`, `system_prompt = terraform_data.it.output`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computer := newComputer(e, "dev")
			source := unknown(map[string]string{"it": tc.value})
			runSessions(t, e,
				// In a creation, and in an update of what had another value.
				resource.TestStep{Config: e.Config(source + hclOf(computer, tc.more)), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionCreate)},
				resource.TestStep{Config: e.Config(hclOf(computer, "")), ConfigPlanChecks: acctest.ThenEmpty},
				resource.TestStep{Config: e.Config(source + hclOf(computer, tc.more)), ConfigPlanChecks: acctest.ThenEmpty},
			)
		})
	}
}

// Terraform does not let an update become a replacement in the apply, where alone such settings are known: the plan says so.
func TestAccSession_settingsUnknownAsAWhole(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, atOnce)
	computer := newComputer(e, "dev")
	config := func(model, mode string) string {
		return unknown(map[string]string{"it": fmt.Sprintf("{ model = %q, tool_execution_mode = %q }", model, mode)}) + hclOf(computer, "session_settings = terraform_data.it.output")
	}
	cli := acctest.NewCLI(t, e, config("model-light", "script_only"))
	cli.MustRun(applying...)
	cli.Write("main.tf", config("model-standard", "script_only"))
	if out := unframed(cli.MustRun(applying...).Output); !strings.Contains(out, "Session Settings Not Known Yet") || !strings.Contains(out, "The next plan then replaces the session") {
		t.Errorf("the plan of an update says: %s", out)
	}
	before := mustHold(t, e, computer, 1)
	cli.Write("main.tf", config("model-standard", "direct_only"))
	if r := cli.Run(applying...); r.ExitCode == 0 || !strings.Contains(unframed(r.Output), "Provider produced inconsistent final plan") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	if after := mustHold(t, e, computer, 1); after[0] != before[0] {
		t.Errorf("%s became %s at once", before[0], after[0])
	}
	if out := unframed(cli.MustRun(applying...).Output); !strings.Contains(out, "1 added, 0 changed, 1 destroyed") || strings.Contains(out, "Session Settings Not Known Yet") {
		t.Errorf("the next apply says: %s", out)
	}
	cli.MustPlanEmpty()
}

// The computer, too: a session on one that the same apply makes.
func TestAccSession_onAComputerOfTheSameApply(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := "resource \"agentyard_computer\" \"box\" {\n  name = \"box\"\n}\n" +
		"resource \"agentyard_session\" \"test\" {\n  computer_id = agentyard_computer.box.id\n}\n"
	runSessions(t, e, resource.TestStep{Config: e.Config(config), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionCreate, plancheck.ExpectUnknownValue(sessionAddress, tfjsonpath.New("computer_id")))})
}

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
