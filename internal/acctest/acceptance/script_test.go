package acceptance

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What deletes must not ignore an argument that may have meant "only list".
func TestScript_sweepRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"ARGS=":        "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=-n":      "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=-n -n":   "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=--list":  `no argument "--list"`,
		"ARGS=-n list": `no argument "list"`,
	} {
		sweep := exec.CommandContext(t.Context(), "make", "-C", "../../..", "--no-print-directory", "sweep", arguments)
		sweep.Env = append(sweep.Environ(), envBaseURL+"=", envAPIKey+"=")
		out, err := sweep.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v and %s, want %q", arguments, err, out, want)
		}
	}
}

// Options with which make only prints or asks delete nothing, together with others too.
func TestScript_sweepOnlyListsWithoutRunning(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"-n": "sweep -n", "-q": "sweep -n", "-t": "sweep -n", "-kt": "sweep -n", "--just-print": "sweep -n", "--question": "sweep -n", "--touch": "sweep -n",
		"-k": "sweep", "-j2": "sweep", "-Otarget": "sweep", "NOTE=-nqt": "sweep", "ARGS=-n": "sweep -n",
	} {
		dir := t.TempDir()
		script := filepath.Join(dir, "scripts", "acceptance.sh")
		if err := errors.Join(os.Mkdir(filepath.Dir(script), 0o700), os.WriteFile(script, []byte("#!/bin/sh\necho called $*\n"), 0o700)); err != nil { //nolint:gosec // It is a program.
			t.Fatal(err)
		}
		makefile, err := filepath.Abs("../../../GNUmakefile")
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "make", "-C", dir, "-f", makefile, "--no-print-directory", arguments, "sweep").CombinedOutput()
		if !strings.HasSuffix("\n"+string(out), "\ncalled "+want+"\n") {
			t.Errorf("%s: got %s (%v), want %q", arguments, out, err, want)
		}
	}
}

// The log of a nightly run is public: errors quote the service, and may name people.
func TestWorkflow_logsNoTextOfTheService(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/workflows/acceptance.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(text), "make testacc 2>&1 | ")
	script, _, _ = strings.Cut(script, "- if:")
	filter := exec.CommandContext(t.Context(), "bash", "-c", script)
	filter.Stdin = strings.NewReader(`=== RUN   TestAccLife
testacc: names begin with tf-acc-agentyard-t8abcdwxyz-
testacc: the service cannot be used: list of providers (GET /api/v0/x) returned 401: Avery's key: returned 5 times
testacc: the service cannot be used: no connection to secret.example
testacc: the service does not answer; check AGENTYARD_ACC_BASE_URL and the network
--- FAIL: TestAccLife (1.00s)
    --- SKIP: TestAccLife/managed_computer (0.00s)
    run_test.go:1: Avery
--- Avery
+++ Blake
    --- PASS: Avery said
12 requests, 1 deviations, 0 refuted assumptions: see /home/avery/report.md
12 requests of Avery
`)
	out, err := filter.CombinedOutput()
	const want = `testacc: the service cannot be used: list of providers (GET /api/v0/x) returned 401
testacc: the service cannot be used
testacc: the service does not answer; check AGENTYARD_ACC_BASE_URL and the network
--- FAIL: TestAccLife (1.00s)
    --- SKIP: TestAccLife/managed_computer (0.00s)
12 requests, 1 deviations, 0 refuted assumptions
`
	if err != nil || string(out) != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, out, want)
	}
}

// script is a copy of acceptance.sh in a project of its own. Its Go builds programs that only print their settings, and nothing is
// there but what CONTRIBUTING asks for.
func script(t *testing.T, settings ...string) (root string, run func(dir string, arguments ...string) string) {
	t.Helper()
	root = t.TempDir()
	path := filepath.Join(root, "path")
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o700); err != nil { //nolint:gosec // It is a program.
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile("../../../scripts/acceptance.sh")
	if err != nil {
		t.Fatal(err)
	}
	write("scripts/acceptance.sh", string(source))
	write("internal/acctest/acceptance/.keep", "")
	write("bin/.keep", "")
	write("path/git", "#!/bin/sh\necho v9.9.9-3-gabcdef\n")
	write("tests", "#!/bin/sh\necho \"report in $AGENTYARD_ACC_REPORT\"\n")
	write("emulator", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexport AGENTYARD_BASE_URL=$EMULATOR AGENTYARD_API_KEY=fk-emulator\nexec \"$@\"\n")
	write("path/go", `#!/bin/sh
echo "go $*"
case $1 in test) from=tests ;; *) from=emulator ;; esac
while [ "$1" != -o ]; do shift; done
cp `+root+`/$from "$2"
`)
	for _, tool := range []string{"bash", "cp", "dirname", "env", "grep", "mktemp", "rm", "sed"} {
		found, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(path, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return root, func(dir string, arguments ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/acceptance.sh"), arguments...)
		c.Dir = dir
		c.Env = append([]string{"PATH=" + path, "TF_ACC_TERRAFORM_PATH=/none", envBaseURL + "=http://127.0.0.1:1", envAPIKey + "=fk-test"}, settings...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
}

// A report is written where the caller named it, and says which version made it.
func TestScript_report(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	for setting, want := range map[string]string{"": "ROOT/acceptance-report", "mine": elsewhere + "/mine", "/tmp/mine": "/tmp/mine"} {
		root, run := script(t, envReport+"="+setting)
		out := run(elsewhere, "test")
		if want := "report in " + strings.ReplaceAll(want, "ROOT", root) + "\n"; !strings.HasSuffix(out, want) {
			t.Errorf("%q: %q is not in %s", setting, want, out)
		}
		if want := "internal/acctest/acceptance.version=v9.9.9-3-gabcdef "; !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
}

// Tests with the emulator need no more programs, and keep the report of a real run.
func TestScript_emulator(t *testing.T) {
	t.Parallel()
	var sent string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(service.Close)
	root, run := script(t, "EMULATOR="+service.URL, envReport+"=mine")
	if out, want := run(t.TempDir(), "emulator"), "report in "+root+"/acceptance-report-emulator\n"; !strings.Contains(out, want) {
		t.Errorf("%q is not in %s", want, out)
	}
	if want := "POST /api/v0/environments/default Bearer fk-emulator"; sent != want {
		t.Errorf("got %q, want %q", sent, want)
	}
}

// A command that is pasted after a prompt becomes its answer: an API key, which the command would have used.
func TestContributing_nothingFollowsAPrompt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil || !strings.Contains(string(text), "\nread -rsp ") {
		t.Fatal("there is no prompt for the key", err)
	}
	for i, block := range strings.Split(string(text), "```") {
		if _, rest, found := strings.Cut(block, "\nread "); i%2 == 1 && found && strings.Count(rest, "\n") > 1 {
			t.Errorf("commands follow a prompt: %s", block)
		}
	}
}

// Each setting that decides what a run does can be set for the nightly one.
func TestWorkflow_passesSettings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/workflows/acceptance.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		envBaseURL, envAPIKey, envStrict, envManagedComputers, envSessions, envBuilds, envWiki, envInvitation, envOrganization, envCIRepository,
	} {
		if !strings.Contains(string(text), "      "+name+": ${{ ") {
			t.Errorf("the workflow does not pass %s", name)
		}
	}
}
