package guides

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// postgres starts a PostgreSQL server of the test's own. It returns its connection string, and what reads from it. It never runs as root.
func postgres(t *testing.T) (connection string, query func(sql string) string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("needs PostgreSQL, such as the Debian package postgresql") //nolint:forbidigo // Not every machine has it.
	}
	server, err := filepath.EvalSymlinks(found[0])
	check.Must(t, err)
	dir, err := os.MkdirTemp("", "agentyard-pg-")
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 {
		const nobody = 65534
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		check.Must(t, os.Chown(dir, nobody, nobody))
	}
	initdb := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(server), "initdb"), "-D", filepath.Join(dir, "data"), "-U", "ci", "-A", "trust", "-N")
	initdb.Dir, initdb.SysProcAttr = dir, attributes
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.Must(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	check.Must(t, listener.Close())
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, server, "-D", filepath.Join(dir, "data"), "-k", dir, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-F")
	cmd.Dir, cmd.SysProcAttr = dir, attributes
	// An immediate shutdown also ends the server's children.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	check.Must(t, cmd.Start())
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for range 600 {
		if connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = connection.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	connection = fmt.Sprintf("postgres://ci@127.0.0.1:%d/postgres?sslmode=disable", port)
	return connection, func(sql string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(server), "psql"), "-At", "-c", sql, connection).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, out)
		}
		return string(out)
	}
}

// fallback is what the page says to remove once the states are encrypted.
var fallback = regexp.MustCompile(`(?s) *method "unencrypted" "before" \{\}\n|      fallback \{.*?\}\n`)

// Two pipelines share a database. The second one acts as a team. With OpenTofu, the states become unreadable, and one
// provider block acts as all teams.
func stateAndCI(g *reader) {
	connection, query := postgres(g.t)
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.cli.Setenv("PG_CONN_STR", connection)
	manager := g.e.BootstrapKey()
	g.expect(g.step(), "4 added, 0 changed, 0 destroyed")
	g.cli.Setenv("AGENTYARD_API_KEY", "")
	g.cli.Setenv("MANAGER", manager)
	g.expect(g.step(), "1 added, 0 changed, 0 destroyed")
	g.expect(g.step(), "No changes.", "**Only reads.**")
	if page := g.read("run-report.html"); !strings.Contains(page, "Only reads") || strings.Contains(page, "fk-") {
		g.t.Errorf("the report is\n%s", page)
	}
	if all := owners(g.e); strings.Join(all, " ") != "mobile" {
		g.t.Errorf("the owners of computers are %v", all)
	}
	for _, folder := range []string{"platform", "agents"} {
		if _, err := os.Stat(filepath.Join(g.cli.Dir, folder, "terraform.tfstate")); err == nil {
			g.t.Errorf("%s has a local state", folder)
		}
	}

	// Each state is a row of its own schema. Both have the keys, because the second state contains what it has read of the first.
	stored := func(schema string) string {
		return query("select data from " + schema + ".states where name = 'default'")
	}
	for _, schema := range []string{"platform", "agents"} {
		if state := stored(schema); !strings.Contains(state, `"terraform_version"`) || !strings.Contains(state, "fk-") {
			g.t.Errorf("the state in the schema %s has no key", schema)
		}
	}

	// A run that waits for its approval holds the lock, until it is killed.
	g.expect(g.run(`set -m
coproc AGENTYARD_API_KEY=$MANAGER terraform -chdir=platform apply -replace='agentyard_api_key.team["web"]'
until read -r line <&${COPROC[0]} && [[ $line == *"to approve"* ]]; do :; done
! terraform -chdir=platform plan -input=false -lock-timeout=0s
kill -9 -- -$COPROC_PID
AGENTYARD_API_KEY=$MANAGER terraform -chdir=platform plan -input=false -lock-timeout=10m`), "Error acquiring the state lock", "No changes.")

	if !acctest.IsOpenTofu() {
		g.t.Skip("needs OpenTofu for the rest") //nolint:forbidigo // Only OpenTofu encrypts states.
	}
	g.cli.Setenv("AGENTYARD_API_KEY", manager)
	g.cli.Setenv("TF_VAR_passphrase", "correct horse battery staple")
	g.step()
	for _, folder := range []string{"platform", "agents"} {
		if r := g.cli.Shell("TF_VAR_passphrase='not the same passphrase' tofu -chdir=" + folder + " plan"); r.ExitCode == 0 {
			g.t.Errorf("the state of %s is readable with any passphrase", folder)
		}
		if state := stored(folder); !strings.Contains(state, "encrypted_data") || strings.Contains(state, "fk-") {
			g.t.Errorf("the state of %s is not encrypted", folder)
		}
	}
	for _, folder := range []string{"platform/", "agents/"} {
		g.cli.Write(folder+"encryption.tofu", fallback.ReplaceAllString(g.read(folder+"encryption.tofu"), ""))
		g.run("tofu -chdir=" + folder + " plan -detailed-exitcode")
	}
	g.step()
	if all := owners(g.e); strings.Join(all, " ") != "mobile mobile web" {
		g.t.Errorf("the owners of computers are %v", all)
	}
	g.cli.Write("agents/teams.tofu", strings.Replace(g.read("agents/teams.tofu"), "web = true", "web = false", 1))
	g.run("tofu -chdir=agents apply")
	if all := owners(g.e); strings.Join(all, " ") != "mobile mobile" {
		g.t.Errorf("the owners of computers are %v", all)
	}
}

// The files for GitHub and GitLab run the page's commands, and only the first pipeline gets the key.
func TestAccGuide_pipelines(t *testing.T) {
	t.Parallel()
	blocks := blocksOf(page(t, "state-and-ci"))
	var jobs [2]string // The commands of the two pipelines.
	for i, next := 0, 0; next < len(jobs); i++ {
		if blocks[i].language == "shell" {
			jobs[next] = strings.ReplaceAll(strings.TrimSpace(blocks[i].text), " -input=false", "")
			next++
		}
	}
	plan := strings.Replace(jobs[0][:strings.LastIndex(jobs[0], "\n")], " -out=plan", "", 1)
	cli := acctest.NewCLI(t, acctest.NewRealTime(t), "")
	decode := func(file string, into any) {
		t.Helper()
		for _, b := range blocks {
			if b.file == file {
				cli.Write("ci.yml", b.text)
			}
		}
		r := cli.Shell(`terraform console <<<'base64encode(jsonencode(yamldecode(file("ci.yml"))))'`)
		text, err := base64.StdEncoding.DecodeString(strings.Trim(r.Output, "\"\n"))
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, r.Output)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, text)
		}
	}
	var gitHub struct {
		Concurrency string
		Env         map[string]string
		Jobs        map[string]struct {
			If, Needs string
			Env       map[string]string
			Steps     []struct{ Run, If string }
		}
	}
	decode(".github/workflows/agentyard.yml", &gitHub)
	var gitLab struct {
		Variables map[string]string
		Report    struct {
			When   string
			Script []string
		}
		Plan, Platform, Agents struct {
			Environment   any
			ResourceGroup string `json:"resource_group"`
			Rules         []map[string]string
			Script        []string
		}
	}
	decode(".gitlab-ci.yml", &gitLab)
	commands := func(job string) string {
		var all []string
		for _, step := range gitHub.Jobs[job].Steps {
			if step.Run != "" && step.If == "" {
				all = append(all, strings.TrimSpace(step.Run))
			}
		}
		return strings.Join(all, "\n")
	}
	for what, pair := range map[string][2]string{
		"GitHub: plan": {commands("plan"), plan}, "GitHub: platform": {commands("platform"), jobs[0]}, "GitHub: agents": {commands("agents"), jobs[1]},
		"GitLab: plan": {strings.Join(gitLab.Plan.Script, "\n"), plan}, "GitLab: platform": {strings.Join(gitLab.Platform.Script, "\n"), jobs[0]}, "GitLab: agents": {strings.Join(gitLab.Agents.Script, "\n"), jobs[1]},
	} {
		check.Is(t, what+" runs", pair[0], pair[1])
	}
	for _, job := range []string{"platform", "agents"} {
		if steps := gitHub.Jobs[job].Steps; len(steps) < 2 || steps[len(steps)-2].If != "always()" || !strings.Contains(steps[len(steps)-2].Run, "report run-report >run-report.html") {
			t.Errorf("GitHub: %s keeps no report: %+v", job, steps)
		}
	}
	if gitHub.Env["AGENTYARD_RUN_REPORT"] == "" || gitLab.Variables["AGENTYARD_RUN_REPORT"] == "" || len(gitLab.Report.Script) != 4 || gitLab.Report.When != "always" {
		t.Errorf("a job writes no report, or none is made: %+v", gitLab.Report)
	}
	const key = "${{ secrets.AGENTYARD_API_KEY }}"
	if all := gitHub.Jobs; all["plan"].Env["AGENTYARD_API_KEY"] != key || all["platform"].Env["AGENTYARD_API_KEY"] != key || all["agents"].Env != nil || gitHub.Env["AGENTYARD_API_KEY"] != "" ||
		all["agents"].Needs != "platform" || all["plan"].If != "github.event_name == 'pull_request'" || all["platform"].If != "github.event_name != 'pull_request'" {
		t.Errorf("GitHub: %+v", gitHub)
	}
	if gitLab.Agents.Environment != nil || gitLab.Platform.Environment != "platform" || gitLab.Plan.Environment == nil || len(gitLab.Agents.Rules) != 1 || len(gitLab.Platform.Rules) != 1 {
		t.Errorf("GitLab: %+v", gitLab)
	}
	if !strings.Contains(gitHub.Concurrency, "github.ref") || gitLab.Platform.ResourceGroup != "platform" || gitLab.Agents.ResourceGroup != "agents" {
		t.Error("a job makes the saved plan of another one stale")
	}
	if gitHub.Env["TF_INPUT"] != "0" || gitLab.Variables["TF_INPUT"] != "0" {
		t.Error("a job waits for input")
	}
}
