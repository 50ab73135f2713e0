package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// unknown returns values that are known only during the apply.
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

// Every argument, and every part of one, may come from another resource of the same apply.
func TestAccSession_unknownAtPlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ value, more string }{
		"settings": {`{ model = "m", tags = [{ name = "a", metadata = { b = "c" } }] }`, `session_settings = terraform_data.it.output`},
		"texts": {`"low"`, `cwd = terraform_data.it.output
  system_prompt = terraform_data.it.output
  session_settings = {
    reasoning_effort  = terraform_data.it.output
    disabled_tool_ids = ["b", terraform_data.it.output]
    tags              = [{ name = "a", metadata = { a = terraform_data.it.output } }, { name = terraform_data.it.output }]
    worktree          = { repo_root = terraform_data.it.output, branch = terraform_data.it.output }
  }`},
		"flags":              {`true`, `session_settings = { compaction_threshold_check_enabled = terraform_data.it.output, allow_subagents_in_scripts = terraform_data.it.output }`},
		"a create-only text": {`"script_only"`, "system_prompt_append = terraform_data.it.output\n  session_settings = { tool_execution_mode = terraform_data.it.output }"},
		"parts": {`{ set = ["a", "b"], tags = [{ name = "a", metadata = null }], tree = { repo_root = "/a", branch = "b", lifecycle = null, path = null, parent_worktree_path = null, removed_at = null } }`,
			`session_settings = { enabled_tool_ids = terraform_data.it.output.set, tags = terraform_data.it.output.tags, worktree = terraform_data.it.output.tree }`},
		"metadata":  {`{ a = "b" }`, `session_settings = { tags = [{ name = "a", metadata = terraform_data.it.output }] }`},
		"no prompt": {`null`, `system_prompt = terraform_data.it.output`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			computer := newComputer(e, "dev")
			source := unknown(map[string]string{"it": tc.value})
			runSessions(t, e,
				// In a create, and in an update of a known value.
				resource.TestStep{Config: e.Config(source + hclOf(computer, tc.more)), ConfigPlanChecks: plannedThenEmpty(plancheck.ResourceActionCreate)},
				resource.TestStep{Config: e.Config(hclOf(computer, "")), ConfigPlanChecks: acctest.ThenEmpty},
				resource.TestStep{Config: e.Config(source + hclOf(computer, tc.more)), ConfigPlanChecks: acctest.ThenEmpty},
			)
		})
	}
}
