package acceptance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
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
	if err != nil {
		t.Fatal(err)
	}
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
		if err := restore(); err != nil {
			t.Error(err)
		}
	})
}

// triggered is a configuration that invokes an action once.
func triggered(action string) string {
	return "resource \"terraform_data\" \"trigger\" {\n  lifecycle {\n    action_trigger {\n      events  = [after_create]\n      actions = [action." + action + "]\n    }\n  }\n}\n"
}
