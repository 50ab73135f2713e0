// Command testall runs the tests of the project with the newest Terraform: first those that need no CLI, while it is
// built if it is not there, then those that need one. With -slow it runs the slow tests. With -clis it follows the pages
// for users, and runs the tests whose names end in _everyCLI with four other CLIs. Those two mostly wait, so they run side
// by side. A skip that skips.txt does not expect fails the run.
package main

import (
	"bytes"
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
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

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

// The tests that go test selects, by their names.
const (
	acceptanceTest = "^TestAcc"
	everyCLI       = "^TestAcc.*_everyCLI$"
	slow           = "^Test.*_slow$"
)

// sideBySide is how many CLIs are tested at the same time.
const sideBySide = 3

// pages are the packages whose acceptance tests do what a page for users says, command by command.
var pages = []string{"./internal/acctest/examples", "./internal/acctest/firststeps", "./internal/acctest/guides"}

// run is one pass over tests with one CLI, or with none.
type run struct {
	name     string   // The name in skips.txt.
	args     []string // The arguments of go test: which tests of which packages.
	variable string   // The variable in which a caller may give the CLI; none if no CLI is needed.
	tool     string   // The folder of internal/tools that builds it otherwise.
	env      []string // More variables.
}

// modes say what to run instead of the tests of `make test`.
type modes struct{ slow, clis bool }

// plan returns what runs, in order. Only packages that import the harness use a CLI. The guides run with the oldest and the newest CLIs.
func plan(mode modes, without, with, differing []string) (runs []run) {
	newest := func(args ...string) run {
		return run{name: "terraform", args: args, variable: "TF_ACC_TERRAFORM_PATH", tool: "terraform"}
	}
	if mode.clis {
		between := append([]string{"-run", everyCLI, pages[0]}, differing...)
		all := append(slices.Clone(between), pages[1:]...)
		runs = []run{
			newest(append([]string{"-run", acceptanceTest}, pages...)...),
			{name: "opentofu", args: all, variable: "AGENTYARD_TOFU", tool: "opentofu"},
			{name: "terraform-1.5", args: all, variable: "AGENTYARD_TERRAFORM_1_5", tool: "terraform-1.5"},
			{name: "terraform-1.11", args: between, variable: "AGENTYARD_TERRAFORM_1_11", tool: "terraform-1.11"},
			{name: "opentofu-1.11", args: between, variable: "AGENTYARD_TOFU_1_11", tool: "opentofu-1.11"},
		}
	}
	if mode.slow {
		runs = append(runs, newest("-run", slow, "./..."))
	}
	if mode != (modes{}) {
		return runs
	}
	// Last, because it reads what all acceptance tests left behind.
	driven := newest("-run", "TestEveryOperationIsDriven", "./internal/acctest/driven")
	driven.env = []string{"AGENTYARD_DRIVEN_COMPLETE=1"}
	return []run{
		{name: "no-cli", args: append(append([]string{"-short", "-skip", acceptanceTest}, without...), pages...)},
		newest(append([]string{"-short"}, with...)...), // The slow tests skip themselves, and are counted.
		driven,
	}
}

func main() {
	var mode modes
	flag.BoolVar(&mode.slow, "slow", false, "run the slow tests instead")
	flag.BoolVar(&mode.clis, "clis", false, "follow the pages, and test with the other CLIs instead")
	only := flag.String("cli", "", "with -clis, run only the tests with this `CLI`, such as terraform-1.5")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := testAll(ctx, os.Stdout, mode, *only); err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		stop()
		os.Exit(1)
	}
}

func testAll(ctx context.Context, out io.Writer, mode modes, only string) error {
	scratch, err := os.MkdirTemp("", "testall-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	env, err := environment(ctx, scratch)
	if err != nil {
		return err
	}
	without, with, differing, err := packages(ctx)
	if err != nil {
		return err
	}
	runs := plan(mode, without, with, differing)
	if only != "" {
		runs = slices.DeleteFunc(runs, func(r run) bool { return r.name != only })
	}
	if len(runs) == 0 {
		return fmt.Errorf("no run uses the CLI %q", only)
	}
	if mode.clis {
		opa, err := findCLI(ctx, "AGENTYARD_OPA", "opa")
		if err != nil {
			return err
		}
		env = append(env, "AGENTYARD_OPA="+opa)
	}
	clis := findAll(ctx, runs)

	var total tally
	var mu sync.Mutex // Guards total, and out if several write.
	var group errgroup.Group
	atOnce := 1
	if mode != (modes{}) {
		atOnce = sideBySide
	}
	group.SetLimit(atOnce)
	for i, r := range runs {
		group.Go(func() error {
			cli := <-clis[i]
			if cli.err != nil {
				return cli.err
			}
			var late bytes.Buffer
			shown := out
			if atOnce > 1 {
				shown = &late
			}
			sum, err := runTests(ctx, shown, r, cli.path, env)
			mu.Lock()
			defer mu.Unlock()
			total.add(sum)
			_, _ = late.WriteTo(out)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, s := range total.unexpected {
		_, _ = fmt.Fprintln(out, "Unexpected skip:", s)
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", total)
	return total.verdict()
}

// found is the path of a CLI, empty for a run without one, or why there is none.
type found struct {
	path string
	err  error
}

// findAll finds the CLIs of the runs, one after the other, while the tests of earlier runs go on.
func findAll(ctx context.Context, runs []run) []chan found {
	clis := make([]chan found, len(runs))
	for i := range clis {
		clis[i] = make(chan found, 1)
	}
	go func() {
		for i, r := range runs {
			var f found
			if r.variable != "" {
				f.path, f.err = findCLI(ctx, r.variable, r.tool)
			}
			clis[i] <- f
		}
	}()
	return clis
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

// packages returns the packages whose tests do without the harness, those that need it, and those of the latter that other CLIs run too;
// each without the pages.
func packages(ctx context.Context) (without, with, differing []string, err error) {
	format := `{{.ImportPath}} {{.Dir}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`
	list, err := output(ctx, "go", "list", "-f", format, "./...")
	if err != nil {
		return nil, nil, nil, fmt.Errorf("listing the packages: %w", err)
	}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		path, dir, imports := fields[0], fields[1], fields[2:]
		switch {
		case slices.ContainsFunc(pages, func(p string) bool { return strings.HasSuffix(path, p[1:]) }):
		case slices.Contains(imports, harness):
			with = append(with, path)
			differs, err := hasTestsOfEveryCLI(dir)
			if err != nil {
				return nil, nil, nil, err
			}
			if differs {
				differing = append(differing, path)
			}
		case len(imports) > 0:
			without = append(without, path)
		}
	}
	if len(differing) == 0 {
		return nil, nil, nil, errors.New("no package has tests for every CLI: none imports " + harness)
	}
	return without, with, differing, nil
}

func hasTestsOfEveryCLI(dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, file := range files {
		source, readErr := os.ReadFile(file)
		if readErr != nil {
			return false, readErr
		}
		if bytes.Contains(source, []byte("_everyCLI(")) {
			return true, nil
		}
	}
	return false, err
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

func runTests(ctx context.Context, out io.Writer, r run, cli string, env []string) (tally, error) {
	name, version := r.name, "no CLI"
	env = append(slices.Clone(env), r.env...)
	if cli != "" {
		asked := exec.CommandContext(ctx, cli, "version")
		asked.Env = env // The caller's settings may make it warn first.
		first, err := asked.Output()
		if err != nil {
			return tally{}, fmt.Errorf("%s: %w", cli, err)
		}
		version, _, _ = strings.Cut(string(first), "\n")
		env = append(env, "TF_ACC_TERRAFORM_PATH="+cli)
	}
	_, _ = fmt.Fprintf(out, "\n=== %s: go test %s\n", version, strings.Join(r.args, " "))
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
