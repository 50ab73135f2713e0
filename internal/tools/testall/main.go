// Command testall runs the tests of the project. The newest Terraform runs all of them except the slow ones; the oldest
// Terraform and the newest OpenTofu run those whose names end in _everyCLI. With -slow, the newest Terraform runs those
// that end in _slow, and two more CLIs those that end in _everyCLI. A skip that skips.txt does not expect fails the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// harness is imported by the tests of exactly those packages that have acceptance tests.
const harness = "github.com/agentyard/terraform-provider-agentyard/internal/acctest"

// foreign variables of the caller would reach into the tests: a service, or settings of the CLI.
var foreign = []string{
	"AGENTYARD_BASE_URL", "AGENTYARD_API_KEY", "AGENTYARD_EMULATOR_CLOCK",
	"TF_CLI_ARGS", "TF_DATA_DIR", "TF_REATTACH_PROVIDERS", "TF_WORKSPACE", "TF_ACC_PROVIDER_HOST",
}

// acceptanceSettings begin with this. Tests against a real service run only by `make testacc`.
const acceptanceSettings = "AGENTYARD_ACC_"

// The tests that go test -run selects, by the ends of their names.
const (
	everyCLI = "^TestAcc.*_everyCLI$"
	slow     = "^Test.*_slow$"
)

// run is one pass over tests with one CLI.
type run struct {
	name     string   // The name in skips.txt.
	cli      string   // The path of the CLI.
	args     []string // The arguments of go test: which tests of which packages.
	variable string   // The variable in which a caller may give the CLI.
	tool     string   // The folder of internal/tools that builds it otherwise.
}

// plan returns what runs, in order. Only acceptance packages use a CLI. Building more CLIs than these three would make
// the first `make test` of a machine take more than 20 minutes, so that two of them are for the slow run.
func plan(onlySlow bool, acceptance []string) []*run {
	newest := &run{name: "terraform", variable: "TF_ACC_TERRAFORM_PATH", tool: "terraform"}
	others := append([]string{"-run", everyCLI}, acceptance...)
	if onlySlow {
		newest.args = []string{"-run", slow, "./..."}
		return []*run{
			newest,
			{name: "terraform-1.11", args: others, variable: "AGENTYARD_TERRAFORM_1_11", tool: "terraform-1.11"},
			{name: "opentofu-1.11", args: others, variable: "AGENTYARD_TOFU_1_11", tool: "opentofu-1.11"},
		}
	}
	newest.args = []string{"-short", "./..."} // The slow tests skip themselves, and are counted.
	return []*run{
		newest,
		{name: "terraform-1.5", args: others, variable: "AGENTYARD_TERRAFORM_1_5", tool: "terraform-1.5"},
		{name: "opentofu", args: others, variable: "AGENTYARD_TOFU", tool: "opentofu"},
	}
}

func main() {
	onlySlow := flag.Bool("slow", false, "run the slow tests and more CLIs, and nothing else")
	only := flag.String("cli", "", "run only the tests with this `CLI`, such as terraform-1.5")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := testAll(ctx, os.Stdout, *onlySlow, *only); err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		stop()
		os.Exit(1)
	}
}

func testAll(ctx context.Context, out io.Writer, onlySlow bool, only string) error {
	scratch, err := os.MkdirTemp("", "testall-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	env, err := environment(ctx, scratch)
	if err != nil {
		return err
	}
	acceptance, err := acceptancePackages(ctx)
	if err != nil {
		return err
	}
	runs := plan(onlySlow, acceptance)
	if only != "" {
		runs = slices.DeleteFunc(runs, func(r *run) bool { return r.name != only })
	}
	if len(runs) == 0 {
		return fmt.Errorf("no run uses the CLI %q", only)
	}
	// All CLIs are there before the first test, so that a test run is not held up in its middle.
	for _, r := range runs {
		if r.cli, err = findCLI(ctx, r.variable, r.tool); err != nil {
			return err
		}
		env = append(env, r.variable+"="+r.cli)
	}
	opa, err := findCLI(ctx, "AGENTYARD_OPA", "opa")
	if err != nil {
		return err
	}
	env = append(env, "AGENTYARD_OPA="+opa)

	var total tally
	for _, r := range runs {
		sum, err := runTests(ctx, out, r, env)
		if err != nil {
			return err
		}
		total.add(sum)
	}
	if !onlySlow && runs[0].name == "terraform" {
		// Last, because it reads what all acceptance tests left behind.
		driven := &run{name: "driven", cli: runs[0].cli, args: []string{"-run", "TestEveryOperationIsDriven", "./internal/acctest/driven"}}
		sum, err := runTests(ctx, out, driven, append(env, "AGENTYARD_DRIVEN_COMPLETE=1"))
		if err != nil {
			return err
		}
		total.add(sum)
	}
	for _, s := range total.unexpected {
		_, _ = fmt.Fprintln(out, "Unexpected skip:", s)
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", total)
	return total.verdict()
}

// environment is the caller's without what would disturb, and with the settings of the test harness.
func environment(ctx context.Context, scratch string) ([]string, error) {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(foreign, name) || strings.HasPrefix(name, acceptanceSettings)
	})
	cliConfig := filepath.Join(scratch, "empty.tfrc")
	if err := os.WriteFile(cliConfig, nil, 0o600); err != nil {
		return nil, err
	}
	driven := filepath.Join(scratch, "driven")
	if err := os.Mkdir(driven, 0o700); err != nil {
		return nil, err
	}
	provider := filepath.Join(scratch, "terraform-provider-agentyard")
	if _, err := output(ctx, "go", "build", "-o", provider, "."); err != nil {
		return nil, fmt.Errorf("building the provider: %w", err)
	}
	if os.Getenv("GOGC") == "" {
		env = append(env, "GOGC=400") // A quarter less processor time, most of it in the CLIs; see tune in main.go.
	}
	return append(env, "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+cliConfig,
		"AGENTYARD_DRIVEN_DIR="+driven, "AGENTYARD_PROVIDER_BINARY="+provider), nil
}

func acceptancePackages(ctx context.Context) ([]string, error) {
	format := `{{.ImportPath}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`
	list, err := output(ctx, "go", "list", "-f", format, "./...")
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	var packages []string
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if slices.Contains(fields[1:], harness) {
			packages = append(packages, fields[0])
		}
	}
	if len(packages) == 0 {
		return nil, errors.New("no package has acceptance tests: none imports " + harness)
	}
	return packages, nil
}

// findCLI returns the CLI that the caller gave, or builds the pinned one.
func findCLI(ctx context.Context, variable, tool string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("%s names no program: %w", variable, err)
		}
		return filepath.Abs(path)
	}
	path, err := output(ctx, filepath.Join("internal", "tools", "install.sh"), tool)
	if err != nil {
		return "", fmt.Errorf("building %s: %w; set %s to use one that you have", tool, err, variable)
	}
	return strings.TrimSpace(path), nil
}

func runTests(ctx context.Context, out io.Writer, r *run, env []string) (tally, error) {
	version, err := output(ctx, r.cli, "version")
	if err != nil {
		return tally{}, fmt.Errorf("%s: %w", r.cli, err)
	}
	version, _, _ = strings.Cut(version, "\n")
	_, _ = fmt.Fprintf(out, "\n=== %s: go test %s\n", version, strings.Join(r.args, " "))

	name := r.name
	env = append(slices.Clone(env), "TF_ACC_TERRAFORM_PATH="+r.cli)
	if strings.HasPrefix(version, "OpenTofu") {
		if !strings.HasPrefix(name, "opentofu") {
			name = "opentofu" // The caller has given one as the newest Terraform.
		}
		env = append(env, "TF_ACC_PROVIDER_HOST=registry.opentofu.org")
	}
	expected, err := expectedSkips(name)
	if err != nil {
		return tally{}, err
	}

	begin := clock.System.Now()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1", "-parallel=8", "-timeout=30m"}, r.args...)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := cmd.Start(); err != nil {
		return tally{}, err
	}
	sum, readErr := report(stdout, out, expected)
	err = cmd.Wait()
	if ctx.Err() != nil {
		return tally{}, errors.New("interrupted")
	}
	if readErr != nil {
		return tally{}, fmt.Errorf("reading the output of go test: %w", readErr)
	}
	if err != nil && sum.failed == 0 {
		return tally{}, fmt.Errorf("go test: %w", err)
	}
	_, _ = fmt.Fprintf(out, "%s with %s, in %s\n", sum, version, clock.System.Now().Sub(begin).Round(time.Second))
	return sum, nil
}

// output runs a command and returns its standard output. Its standard error is the caller's.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return string(out), err
}
