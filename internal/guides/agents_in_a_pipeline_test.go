package guides

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const (
	task1 = `"agent-1" = "Upgrade the dependencies, and run all tests."`
	task2 = `"agent-2" = "Find the slowest test, and make it faster."`
)

// needsActionsOrOpenTofu skips a test on a Terraform without actions. The page says what OpenTofu can do.
func needsActionsOrOpenTofu(t *testing.T) {
	t.Helper()
	if !acctest.IsOpenTofu() {
		acctest.NeedsActions(t)
	}
}

// The emulator of the page keeps its objects from one command to the next.
func agentsInAPipeline(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	if acctest.IsOpenTofu() {
		withoutActions(g)
		return
	}
	g.expect(g.step(), "6 added, 0 changed, 0 destroyed. Actions: 2 invoked.", task1, task2)
	g.expect(g.run(pipeline("terraform plan")), "No changes.")
	g.expect(g.step(), "Success! 1 passed, 0 failed.")
	first := g.run("terraform output -json sessions")
	g.expect(g.step(), "6 added, 0 changed, 5 destroyed. Actions: 2 invoked.", task1, task2)
	if first == g.run("terraform output -json sessions") {
		g.t.Error("the second night has the sessions of the first one")
	}
	g.expect(g.run(pipeline(`agentyard-emulator control POST sessions/$(terraform output -json sessions | grep -o '[0-9a-f-]\{36\}' | head -1) '{"serviceCredits":600000}'
terraform plan`)), "The agents spent 600000 credits.", "No changes.")

	// A canceled run sends each task once, and the agents go on.
	g.expect(g.run(interrupted("INT")), "Interrupt received.")
	g.expect(g.run(pipeline("terraform apply")), "0 added, 0 changed, 0 destroyed.", "or has not answered.")
	g.expect(g.run(pipeline(later+"terraform apply")), "0 added, 0 changed, 0 destroyed.", task1, task2)

	// A killed run keeps the sessions. The next one sends the tasks that the state does not contain.
	g.run(interrupted("KILL"))
	session := "terraform state show 'agentyard_session.agent[\"agent-1\"]' | grep ' id '"
	killed := g.run(session)
	g.cli.Write("tasks.tf", strings.Replace(g.read("tasks.tf"), "wait_for_idle = true", "wait_for_idle = false", 1)) // To save time.
	g.expect(g.run(pipeline(later+"terraform apply")), "added, 0 changed, 0 destroyed.", task1, task2)

	// A task is sent again on demand in the same session, and when it changes in a new one.
	g.expect(g.run(pipeline(`terraform apply -replace='terraform_data.task["agent-1"]'`)), "1 added, 0 changed, 1 destroyed. Actions: 1 invoked.")
	if after := g.run(session); killed != after {
		g.t.Errorf("the session was replaced: %s, then %s", killed, after)
	}
	g.expect(g.run(pipeline(`terraform apply -var 'tasks={"agent-1":"Stop."}'`)), "3 added, 0 changed, 5 destroyed. Actions: 1 invoked.")
	g.expect(g.run(pipeline("terraform apply -invoke=action.agentyard_session_interrupt.agent -var 'tasks={\"agent-1\":\"Stop.\"}'")), "Actions: 1 invoked.")
	g.expect(g.step(), "5 destroyed")
	g.t.Skip("needs OpenTofu for the rest")
}

const later = `agentyard-emulator control POST clock '{"advance":"1h"}'` + "\n"

// pipeline is a script that runs with the emulator of the page. Flags are those of the emulator.
func pipeline(script string, flags ...string) string {
	return "agentyard-emulator -data agentyard.db " + strings.Join(flags, " ") + " -- bash -euo pipefail -c \"$(cat <<'SCRIPT'\n" + script + "\nSCRIPT\n)\"\n"
}

// interrupted runs a night until the tasks are sent, and sends a signal to it and to the provider. The agents need minutes.
func interrupted(signal string) string {
	return pipeline(`set -m
terraform apply -auto-approve -replace=terraform_data.night >night.log 2>&1 & pid=$!
until [ "$(grep -c 'is idle, with' night.log)" = 2 ]; do sleep 0.1; done
kill -`+signal+` -- -$pid
! wait $pid
cat night.log`, "-step", "1m")
}

// withoutActions follows the page with OpenTofu. Somebody else sends a task.
func withoutActions(g *reader) {
	for _, b := range g.blocks {
		if b.language == "terraform" && !strings.HasPrefix(b.file, "tests/") {
			g.write(b)
		}
	}
	g.leave("tofu init")
	g.expect(g.step(), "7 added, 0 changed, 0 destroyed.", "or has not answered.", `"agent-1" = tostring(null)`)
	g.expect(g.run(pipeline(`for id in $(tofu output -json sessions | grep -o '[0-9a-f-]\{36\}'); do
  agentyard-emulator control POST sessions/$id/messages '{"role":"assistant","content":[{"type":"text","text":"Done."}]}'
done
tofu apply -auto-approve`)), `"agent-1" = "Done."`, `"agent-2" = "Done."`)
	g.expect(g.run(pipeline("tofu apply -auto-approve -replace=terraform_data.night")), `"agent-1" = tostring(null)`)
}
