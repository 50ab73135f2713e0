package guides

import (
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const (
	task1 = `"agent-1" = "Upgrade the dependencies, and run all tests."`
	task2 = `"agent-2" = "Find the slowest test, and make it faster."`
)

// The emulator of the page keeps its objects from one command to the next.
func agentsInAPipeline(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.expect(g.step(), "8 added, 0 changed, 0 destroyed.", task1, task2)
	g.expect(g.run(pipeline("terraform plan")), "No changes.")
	g.expect(g.step(), "Success! 1 passed, 0 failed.")
	first := g.run("terraform output -json sessions")
	g.expect(g.step(), "8 added, 0 changed, 7 destroyed.", task1, task2)
	if first == g.run("terraform output -json sessions") {
		g.t.Error("the second night has the sessions of the first one")
	}
	g.expect(g.run(pipeline(`agentyard-emulator control POST sessions/$(terraform output -json sessions | grep -o '[0-9a-f-]\{36\}' | head -1) '{"serviceCredits":600000}'
terraform plan`)), "The agents spent 600000 credits.", "No changes.")

	// A run that is canceled or killed while the agents work has sent each task once, and the next one waits for the same answers.
	// OpenTofu does not write the state before it is killed.
	for _, signal := range []string{"INT", "KILL"} {
		again := "2 added, 0 changed, 0 destroyed."
		if signal == "KILL" && acctest.IsOpenTofu() {
			again = "added, 0 changed,"
		}
		g.run(interrupted(signal))
		g.expect(g.run(pipeline(later+"terraform apply")), again, task1, task2)
	}

	// A task is sent again on demand, and when it changes, in the same session.
	session := "terraform state show 'agentyard_session.agent[\"agent-1\"]' | grep ' id '"
	before := g.run(session)
	g.expect(g.run(pipeline(`terraform apply -replace='agentyard_session_message.task["agent-1"]'`)), "2 added, 0 changed, 2 destroyed.")
	g.expect(g.run(pipeline(`terraform apply -var 'tasks={"agent-1":"Stop."}'`)), "2 added, 0 changed, 5 destroyed.", `"agent-1" = "Stop."`)
	if after := g.run(session); before != after {
		g.t.Errorf("the session was replaced: %s, then %s", before, after)
	}
	g.expect(g.step(), "6 destroyed")
}

const later = `agentyard-emulator control POST clock '{"advance":"1h"}'` + "\n"

// pipeline is a script that runs with the emulator of the page. Flags are those of the emulator.
func pipeline(script string, flags ...string) string {
	return "agentyard-emulator -data agentyard.db " + strings.Join(flags, " ") + " -- bash -euo pipefail -c \"$(cat <<'SCRIPT'\n" + script + "\nSCRIPT\n)\"\n"
}

// interrupted runs a night until it waits for both answers, and sends a signal to it and to the provider. The agents need minutes.
func interrupted(signal string) string {
	return pipeline(`: >night.log # Of the night before.
set -m
terraform apply -auto-approve -replace=terraform_data.night >night.log 2>&1 & pid=$!
until [ "$(grep -c 'session_answer.agent.*: Creating' night.log)" = 2 ]; do sleep 0.1; done
kill -`+signal+` -- -$pid
! wait $pid
cat night.log`, "-step", "1m")
}
