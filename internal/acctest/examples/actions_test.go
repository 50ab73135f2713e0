package examples

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// command is a CLI run in an example's folder. It succeeds or fails, and its output contains all texts.
type command struct {
	args  string
	fails bool
	shows []string
	// sent is how often operations have been sent since the example's first command.
	sent map[string]int
}

const (
	apply  = "apply -auto-approve -input=false"
	empty  = "plan -detailed-exitcode -input=false"
	invoke = apply + " -invoke=action."
)

// actions contains the commands for each example, by action name.
var actions = map[string]struct {
	options  []acctest.Option
	before   func(o organization) (shown, real string) // Creates what only this example needs, and returns the ID in the example. May be nil.
	commands []command
}{
	"agentyard_api_key_revoke": {commands: []command{
		{args: invoke + "agentyard_api_key_revoke.leaked", sent: map[string]int{"revokeApiKey": 1}},
	}},
	"agentyard_ci_workflow_edit": {commands: []command{
		{args: apply},
		{args: empty, sent: map[string]int{"editCiWorkflow": 0}}, // Nothing triggers it.
		{args: invoke + "agentyard_ci_workflow_edit.security", shows: []string{"acme/api: pull request", "acme/web: pull request"}},
		{args: apply + " -var=review_depth=shallow", sent: map[string]int{"editCiWorkflow": 2}},
	}},
	"agentyard_computer_activity": {commands: []command{
		// This example is invoked by hand. Creating the computer does not trigger it.
		{args: apply, sent: map[string]int{"recordComputerActivity": 0}},
		{args: empty},
		{args: invoke + "agentyard_computer_activity.build", sent: map[string]int{"recordComputerActivity": 1}},
	}},
	"agentyard_computer_file_upload": {commands: []command{
		{args: apply, sent: map[string]int{"completeFileUpload": 2}},
		{args: empty},
	}},
	"agentyard_computer_install_deps": {commands: []command{
		{args: apply, sent: map[string]int{"installComputerDeps": 1}},
		{args: empty},
	}},
	"agentyard_computer_refresh": {commands: []command{
		{args: apply, sent: map[string]int{"refreshComputer": 0}},
		{args: empty},
		{args: invoke + "agentyard_computer_refresh.build", sent: map[string]int{"refreshComputer": 1}},
	}},
	"agentyard_computer_restart": {commands: []command{
		{args: apply, sent: map[string]int{"restartComputer": 1}},
		{args: empty},
	}},
	"agentyard_environment_build": {commands: []command{
		{args: apply},
		{args: empty},
		{args: apply + " -var=toolchain=2", sent: map[string]int{"createEnvironmentBuild": 1}},
		{args: empty + " -var=toolchain=2"},
	}},
	"agentyard_environment_build_cancel": {
		options: []acctest.Option{func(o *emulator.Options) { o.BuildPhase = time.Hour }},
		before: func(o organization) (shown, real string) {
			var build struct{ BuildID string }
			o.API(http.MethodPatch, "/api/v0/environments/"+o.ids["environment"], map[string]any{"setupScript": "make"}, &build)
			return "bld_01hzy3x9d4f6g8h0j2k4m6n8p0", build.BuildID
		},
		commands: []command{
			{args: invoke + "agentyard_environment_build_cancel.one", shows: []string{"was canceled"}, sent: map[string]int{"cancelEnvironmentBuild": 1}},
			{args: invoke + "agentyard_environment_build_cancel.latest", shows: []string{"nothing was canceled"}},
		},
	},
	"agentyard_member_remove": {commands: []command{
		{args: empty},
		{args: invoke + "agentyard_member_remove.former -var email=avery@agentyard.example", shows: []string{"was removed"}, sent: map[string]int{"removeMember": 1}},
	}},
	"agentyard_session_interrupt": {commands: []command{
		{args: empty},
		{args: invoke + "agentyard_session_interrupt.stop -var session=7f9c2ba4-e88f-427d-8a1e-0d2d5e6b3c11", shows: []string{"is idle"}},
		{args: invoke + "agentyard_session_interrupt.stop", fails: true, shows: []string{"Missing value", "session_id is null"}, sent: map[string]int{"interruptSession": 1}},
	}},
	"agentyard_session_message": {commands: []command{
		{args: apply, shows: []string{"Sent message"}, sent: map[string]int{"sendSessionMessage": 1}},
		{args: empty},
		{args: invoke + "agentyard_session_message.upgrade", shows: []string{"Sent message"}, sent: map[string]int{"sendSessionMessage": 2}},
		{args: apply + " -var=task=Document", shows: []string{"Sent message"}, sent: map[string]int{"sendSessionMessage": 3}},
		{args: empty + " -var=task=Document"},
	}},
}

// Each action's example works, both by hand and by its trigger.
func TestAccExamples_actions(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	for _, name := range names(t, "actions") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, ok := actions[name]
			if !ok {
				t.Fatal("add a row for the example to actions in internal/acctest/examples/actions_test.go")
			}
			o := newOrganization(t, row.options...)
			example := acctest.Example(t, "actions/"+name+"/action.tf")
			if row.before != nil {
				shown, real := row.before(o)
				example = strings.ReplaceAll(example, shown, real)
			}
			o.Journal().Reset()
			cli := acctest.NewCLI(t, o.Env, o.replace(example))
			cli.Write("data.tar.gz", "packed")
			for _, c := range row.commands {
				r := cli.Run(strings.Fields(o.replace(c.args))...)
				if (r.ExitCode != 0) != c.fails {
					t.Fatalf("%s: exit code %d\n%s", c.args, r.ExitCode, r.Output)
				}
				check.Says(t, acctest.OneLine(r.Output), c.shows...)
				for operation, want := range c.sent {
					check.Is(t, c.args+": requests for "+operation, o.Journal().Count(operation), want)
				}
			}
		})
	}
}
