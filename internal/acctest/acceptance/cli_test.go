package acceptance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// buildTime is how long a build, or the setup of a computer, may take.
const buildTime = 45 * time.Minute

// runSteps runs the steps of a test with the CLI and the provider of this repository. The test is skipped, with the service's
// own words, if the key's owner may not do what it does.
func runSteps(t *testing.T, checkDestroy func(*terraform.State) error, steps ...resource.TestStep) {
	t.Helper()
	needService(t)
	if _, err := terraformVersion(); err != nil { // Otherwise, the library would look for a CLI elsewhere.
		t.Fatal(err)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"agentyard": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("acceptance") },
			"echo":      echoprovider.NewProviderServer(),
		},
		ErrorCheck:   skipDenied(t),
		CheckDestroy: checkDestroy,
		Steps:        steps,
	})
}

// terraformVersion is that of the CLI, which has none if it is OpenTofu.
var terraformVersion = sync.OnceValues(func() (v struct{ major, minor int }, err error) {
	path := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if path == "" {
		return v, errors.New("TF_ACC_TERRAFORM_PATH is not set; `make testacc` sets it")
	}
	text, err := exec.CommandContext(context.Background(), path, "version").Output()
	if err != nil {
		return v, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	if strings.HasPrefix(string(text), "Terraform") {
		_, err = fmt.Sscanf(string(text), "Terraform v%d.%d", &v.major, &v.minor)
	}
	return v, err
})

// atLeast reports whether the CLI is Terraform 1.minor or newer. OpenTofu lacks identities, actions, and queries in all versions,
// or has them under other numbers.
func atLeast(t *testing.T, minor int) bool {
	t.Helper()
	v, err := terraformVersion()
	must(t, err)
	return v.major > 1 || v.minor >= minor
}

// needsCLI skips the test if the CLI is older than Terraform 1.minor.
func needsCLI(t *testing.T, minor int) {
	t.Helper()
	if !atLeast(t, minor) {
		skip(t, "TF_ACC_TERRAFORM_PATH", fmt.Sprintf("needs Terraform 1.%d or newer", minor))
	}
}

// eventually asks until the answer is yes, an error, or the time is over.
func eventually(ctx context.Context, within time.Duration, isTrue func(context.Context) (bool, error), otherwise string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	pause := time.NewTicker(2 * time.Second)
	defer pause.Stop()
	for {
		done, err := isTrue(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s after %s", otherwise, within)
		case <-pause.C:
		}
	}
}

// waitForBuild waits until an environment's build has ended, whatever its result.
func waitForBuild(t *testing.T, id string) {
	t.Helper()
	c := connect(t)
	must(t, eventually(t.Context(), buildTime, func(ctx context.Context) (bool, error) {
		e, err := c.Environments.GetUncached(ctx, id)
		return err == nil && e.Status != environments.StatusBuilding, err
	}, "the build is running"))
}

// cleanUp deletes an object after the test, also after Ctrl-C. One that is already gone is as good.
func cleanUp(t *testing.T, what string, remove func(context.Context, *client.Client) error) {
	t.Helper()
	restoreAfter(t, what, func(ctx context.Context, c *client.Client) error {
		if err := remove(ctx, c); err != nil && !collection.IsGone(err) {
			return err
		}
		return nil
	})
}

// restoreAfter calls undo after the test, also after Ctrl-C.
func restoreAfter(t *testing.T, what string, undo func(context.Context, *client.Client) error) {
	t.Helper()
	restore := needService(t).restoreLater(what, undo)
	t.Cleanup(func() {
		must(t, restore())
	})
}

// triggered is a configuration that invokes an action once.
func triggered(action string) string {
	return "resource \"terraform_data\" \"trigger\" {\n  lifecycle {\n    action_trigger {\n      events  = [after_create]\n      actions = [action." + action + "]\n    }\n  }\n}\n"
}

// needService returns the run, and skips the test if there is none.
func needService(t *testing.T) *run {
	t.Helper()
	if current == nil {
		t.Skip("needs " + envBaseURL + " and " + envAPIKey + ", as `make testacc` requires them") //nolint:forbidigo // Without a service there is nothing to test.
	}
	return current
}

// connect returns a client of the service. The recorder checks all its requests.
func connect(t *testing.T) *client.Client {
	t.Helper()
	r := needService(t)
	c, err := r.connect(r.proxy)
	must(t, err)
	return c
}

// optIn returns the value of a variable. Without one, it skips the test.
func optIn(t *testing.T, variable string) string {
	t.Helper()
	needService(t)
	value := os.Getenv(variable)
	if value == "" {
		skip(t, variable, "not opted in")
	}
	return value
}

// skip skips a test, and notes it for the report. The variable would run the test; empty if none would. The service's own words
// follow a colon. They may name a person, so that the report leaves them out.
func skip(t *testing.T, variable, why string) {
	t.Helper()
	r := needService(t)
	reported, _, _ := strings.Cut(why, ": ")
	r.recorder.Skip(t.Name(), variable, reported)
	line := t.Name() + ": " + why
	if variable != "" {
		line += "; to run it, set " + variable
	}
	r.mu.Lock()
	r.skips = append(r.skips, line)
	r.mu.Unlock()
	t.Skip(why) //nolint:forbidigo // The caller has not opted in.
}

// deniedStatuses say that the key's owner, the organization's tier, or the service does not offer an operation.
var deniedStatuses = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// isDenied reports whether an operation is not available to the key's owner, or at all.
func isDenied(err error) bool {
	status := transport.StatusOf(err)
	// A 404 that is not one of the service's errors says that there is no such operation.
	return slices.Contains(deniedStatuses, status) || status == http.StatusNotFound && transport.IsForeign(err)
}

// must ends the test at an error: as skipped, with the service's own words, if the key's owner lacks a permission, or the organization a tier.
func must(t *testing.T, err error) {
	t.Helper()
	var api *transport.APIError
	if isDenied(err) && errors.As(err, &api) {
		skip(t, "", fmt.Sprintf("%s returned %d: %s", api.Op.Name, api.Status, api.Detail))
	}
	check.Must(t, err)
}

var (
	blanks = regexp.MustCompile(`[\s│╷╵]+`)
	// deniedText is how the provider's errors quote such a response.
	deniedText = regexp.MustCompile(`(\w+) \([A-Z]+ [^)]+\) returned (401|402|403|405|501): [^│]*`)
)

// skipDenied skips like must, for an error of the CLI. It is an ErrorCheck of the acceptance library.
func skipDenied(t *testing.T) func(error) error {
	return func(err error) error {
		if err == nil {
			return nil
		}
		text := blanks.ReplaceAllString(err.Error(), " ")
		if words := deniedText.FindString(text); words != "" {
			if i := strings.Index(words, ". "); i > 0 {
				words = words[:i+1]
			}
			skip(t, "", words)
		}
		return err
	}
}
