package guides

import (
	"context"
	"debug/buildinfo"
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
)

// needsPG skips a test on a CLI that was built without its remote backends (see internal/tools/install.sh).
func needsPG(t *testing.T) {
	t.Helper()
	info, err := buildinfo.ReadFile(os.Getenv(acctest.EnvCLI))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range info.Deps {
		if strings.HasSuffix(module.Path, "/remote-state/pg") && module.Replace != nil && strings.HasPrefix(module.Replace.Path, "./stubs/") {
			t.Skip("needs a CLI with the backend pg")
		}
	}
}

// postgres starts a PostgreSQL server of the test's own, and returns its connection string. It never runs as root.
func postgres(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("needs PostgreSQL, such as the Debian package postgresql")
	}
	server, err := filepath.EvalSymlinks(found[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agentyard-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 {
		const nobody = 65534
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	initdb := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(server), "initdb"), "-D", filepath.Join(dir, "data"), "-U", "ci", "-A", "trust", "-N")
	initdb.Dir, initdb.SysProcAttr = dir, attributes
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, server, "-D", filepath.Join(dir, "data"), "-k", dir, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-F")
	cmd.Dir, cmd.SysProcAttr = dir, attributes
	// An immediate shutdown also ends the server's children.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for range 600 {
		if connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = connection.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Sprintf("postgres://ci@127.0.0.1:%d/postgres?sslmode=disable", port)
}

// fallback is what the page says to remove once the states are encrypted.
var fallback = regexp.MustCompile(`(?s) *method "unencrypted" "before" \{\}\n|      fallback \{.*?\}\n`)

// Two pipelines share a database. The second one acts as a team. With OpenTofu, the states become unreadable, and one
// provider block acts as all teams.
func stateAndCI(g *reader) {
	needsPG(g.t)
	g.cli.Setenv("PG_CONN_STR", postgres(g.t))
	manager := g.e.BootstrapKey()
	g.expect(g.step(), "4 added, 0 changed, 0 destroyed")
	g.cli.Setenv("AGENTYARD_API_KEY", "")
	g.cli.Setenv("MANAGER", manager)
	g.expect(g.step(), "1 added, 0 changed, 0 destroyed")
	if all := owners(g.e); strings.Join(all, " ") != "mobile" {
		g.t.Errorf("the owners of computers are %v", all)
	}
	for _, folder := range []string{"platform", "agents"} {
		if _, err := os.Stat(filepath.Join(g.cli.Dir, folder, "terraform.tfstate")); err == nil {
			g.t.Errorf("%s has a local state", folder)
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
		g.t.Skip("needs OpenTofu for the rest")
	}
	g.cli.Setenv("AGENTYARD_API_KEY", manager)
	g.cli.Setenv("TF_VAR_passphrase", "correct horse battery staple")
	if plain := g.run("tofu -chdir=platform state pull"); !strings.Contains(plain, "fk-") {
		g.t.Error("the state has no key to protect")
	}
	g.step()
	for _, folder := range []string{"platform", "agents"} {
		if r := g.cli.Shell("TF_VAR_passphrase='not the same passphrase' tofu -chdir=" + folder + " plan"); r.ExitCode == 0 {
			g.t.Errorf("the state of %s is readable with any passphrase", folder)
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
