package guides

import (
	"archive/zip"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type session struct {
	SessionID, Status string
	SessionSettings   struct {
		AutonomyLevel string
		Tags          []struct{ Metadata map[string]string }
		Worktree      struct{ Branch string }
	}
}

func sessions(e *acctest.Env) []session {
	return acctest.Rows[session](e, "/api/v0/sessions?limit=100", "sessions")
}

func agentSessions(g *reader) {
	t, e := g.t, g.e
	g.step()
	g.cli.MustPlanEmpty()
	if all := sessions(e); len(all) != 1 || all[0].Status != "idle" || all[0].SessionSettings.AutonomyLevel != "low" || all[0].SessionSettings.Tags[0].Metadata["ticket"] != "APP-17" {
		t.Fatalf("the sessions are %+v", all)
	}
	task := sessions(e)[0].SessionID

	g.step()
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task || all[0].SessionSettings.AutonomyLevel != "high" {
		t.Errorf("the sessions are %+v", all)
	}

	g.step()
	branches := map[string]bool{}
	for _, s := range sessions(e) {
		branches[s.SessionSettings.Worktree.Branch] = true
	}
	if len(sessions(e)) != 3 || !branches["fix-login"] || !branches["new-menu"] {
		t.Errorf("the sessions are %+v", sessions(e))
	}

	running := emulator.SessionChange{Status: new("running")}
	check.Must(t, e.ChangeSession(task, running))
	report := g.step()
	if _, shown, _ := strings.Cut(report, "+ running "); !strings.Contains(shown, task) {
		t.Errorf("the report does not show the session: %s", report)
	}
	check.Lacks(t, report, "Plan:")

	g.cli.Write("tasks.auto.tfvars", "tasks = {}\n")
	g.run("terraform apply")
	if all := sessions(e); len(all) != 1 || all[0].SessionID != task {
		t.Errorf("the sessions are %+v", all)
	}

	acctest.NeedsActions(t)
	g.step()
	check.Is(t, "the session's status", sessions(e)[0].Status, "idle")
	g.step()
	if n := e.Journal().Count("interruptSession"); n != 2 || len(sessions(e)) != 1 {
		t.Errorf("%d interruptions, and the sessions are %+v", n, sessions(e))
	}
	g.run("terraform destroy")
	check.None(t, "left", sessions(e))
}

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

type wikiRun struct {
	WikiRunID, RepoURL, CommitHash, PrivacyLevel string
	PageCount                                    int
}

// history are the wiki runs of a repository, the newest first.
func history(e *acctest.Env, repository string) []wikiRun {
	return acctest.Rows[wikiRun](e, "/api/v0/wiki/history/"+url.PathEscape("https://code.example/"+repository), "wikiRuns")
}

func wikisFromPipelines(g *reader) {
	t, e, cli := g.t, g.e, g.cli
	g.step()
	commits := g.read("commits.auto.tfvars")
	if api := history(e, "acme/api"); len(api) != 1 || api[0].PrivacyLevel != "organization" || !strings.Contains(commits, api[0].CommitHash) {
		t.Errorf("the wikis are %+v", api)
	}
	web := history(e, "acme/web")

	// The next commit of one of them.
	commits = strings.ReplaceAll(commits, history(e, "acme/api")[0].CommitHash, strings.Repeat("7", 40))
	cli.Write("commits.auto.tfvars", commits)
	g.step()
	if api := history(e, "acme/api"); len(api) != 2 || api[0].CommitHash != strings.Repeat("7", 40) && api[1].CommitHash != strings.Repeat("7", 40) {
		t.Errorf("the wikis are %+v", api)
	}
	if now := history(e, "acme/web"); len(now) != 2 || now[0] != web[0] && now[1] != web[0] {
		t.Errorf("the wikis are %+v, and before %+v", now, web)
	}
	check.Is(t, "wikis of a repository that cannot be written", len(history(e, "acme/legacy")), 0)

	cli.Write("wiki/use/start.md", "# How to start\n\nRead this.\n")
	g.step()
	if tools := history(e, "robin/tools"); len(tools) != 1 || tools[0].PageCount != 2 {
		t.Errorf("the wikis are %+v", tools)
	}

	g.step()
	archive, err := zip.OpenReader(filepath.Join(cli.Dir, "wiki-api.zip"))
	if err != nil || len(archive.File) < 2 {
		t.Fatalf("the archive: %v", err)
	}
	check.Must(t, archive.Close())

	check.Says(t, g.step(), "newest", "of_others")
	cli.MustPlanEmpty()
	cli.Write("commits.auto.tfvars", strings.ReplaceAll(commits, strings.Repeat("7", 40), strings.Repeat("8", 40)))
	again := []string{"apply", "-auto-approve", "-input=false"}
	check.Says(t, cli.MustRun(again...).Output, history(e, "acme/api")[0].CommitHash+"\"")
	cli.MustPlanEmpty()
	cli.MustRun(append(again, `-replace=agentyard_wiki_run.monthly["acme/api"]`)...)
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	cli.MustRun(again...)
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	for _, repository := range []string{"acme/api", "acme/web", "robin/tools"} {
		check.None(t, "left", history(e, repository))
	}
}
