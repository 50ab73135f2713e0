// Package acceptance tests the provider against a service that it is given by its URL and an API key: a real one, or any server
// of the API. It knows nothing of the emulator. CONTRIBUTING has a page about it, "Against a real service".
package acceptance

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence/trials"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// The settings. Without the first two, all tests that need a service are skipped.
const (
	envBaseURL = "AGENTYARD_ACC_BASE_URL"
	envAPIKey  = "AGENTYARD_ACC_API_KEY" //nolint:gosec // The name of a variable, not a credential.
	// envReport is the folder of the report.
	envReport = "AGENTYARD_ACC_REPORT"
	// envStrict makes the run fail if the service deviates from the contract.
	envStrict = "AGENTYARD_ACC_STRICT"
	// envSweepAge is how old an object must be for the sweep.
	envSweepAge = "AGENTYARD_ACC_SWEEP_AGE"
)

// The variables that opt in to what is not free, or cannot be undone completely.
const (
	envManagedComputers = trials.ManagedComputers
	envSessions         = trials.Sessions
	envBuilds           = "AGENTYARD_ACC_BUILDS"
	envWiki             = trials.Wiki
	envInvitation       = trials.Invitation
	envOrganization     = trials.Organization
	envCIRepository     = trials.CIRepository
)

// version is that of the provider; scripts/acceptance.sh sets it.
var version = "dev"

// current is the run; nil without a service.
var current *run

func TestMain(m *testing.M) {
	addSweepers()
	flag.Parse()
	if flag.Lookup("sweep").Value.String() != "" {
		log.SetOutput(io.Discard) // The library logs each step. The sweepers print what they do.
		if _, err := newSweep(); err != nil {
			fmt.Fprintln(os.Stderr, "sweep:", err)
			os.Exit(1)
		}
	}
	resource.TestMain(suite{m}) // With -sweep, it runs the sweepers and no tests.
	if s, err := newSweep(); err == nil && s.found == 0 {
		fmt.Println("sweep: found nothing named " + namePrefix + "…")
	}
}

type suite struct{ tests *testing.M }

// Run implements what resource.TestMain needs.
func (s suite) Run() int {
	if os.Getenv(envBaseURL) == "" && os.Getenv(envAPIKey) == "" {
		return s.tests.Run() // Each test says what it needs.
	}
	r, err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testacc:", err)
		return 1
	}
	current = r
	return r.end(s.tests.Run())
}

// service returns the address and the API key of the service.
func service() (base *url.URL, key string, err error) {
	for _, name := range []string{envBaseURL, envAPIKey} {
		if os.Getenv(name) == "" {
			return nil, "", fmt.Errorf("%s is not set; set %s to the service's address and %s to an API key of a test organization", name, envBaseURL, envAPIKey)
		}
	}
	base, err = transport.ParseBaseURL(os.Getenv(envBaseURL), false)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", envBaseURL, err)
	}
	key = os.Getenv(envAPIKey)
	if err := transport.CheckAPIKey(key); err != nil {
		return nil, "", fmt.Errorf("%s: %w", envAPIKey, err)
	}
	return base, key, nil
}

// configureProvider makes the settings of the environment those of the tests, for every provider that a CLI starts. No
// configuration and no state then contains the key.
func configureProvider(address, key string) error {
	for name, value := range map[string]string{
		provider.EnvBaseURL: address, provider.EnvAPIKey: key,
		// These would reach into every run of the CLI.
		"TF_CLI_ARGS": "", "TF_DATA_DIR": "", "TF_REATTACH_PROVIDERS": "", "TF_WORKSPACE": "",
		"CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return os.Unsetenv(provider.EnvEmulatorClock)
}
