package acceptance

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence/trials"
)

// What a service does otherwise than assumed is part of the report and no failure. A trial fails if it cannot clean up.
func TestTrials(t *testing.T) {
	t.Parallel()
	needService(t)
	for _, trial := range trials.All() {
		if trial.Variable != envOrganization {
			t.Run(trial.Name, func(t *testing.T) {
				t.Parallel()
				tryRules(t, trial)
			})
		}
	}
}

// The settings of the organization are those of other tests too, so that this test is not parallel to them.
func TestTrials_organization(t *testing.T) { // See above.
	needService(t)
	for _, trial := range trials.All() {
		if trial.Variable == envOrganization {
			t.Run(trial.Name, func(t *testing.T) { tryRules(t, trial) })
		}
	}
}

func tryRules(t *testing.T, trial trials.Trial) {
	t.Helper()
	r := needService(t)
	lab := trials.Lab{
		// The recorder does not take it for a deviation if a trial is refused.
		Connect: func(key string) (*client.Client, error) {
			if key == "" {
				key = r.key
			}
			return client.New(transport.Config{
				BaseURL: r.trial, APIKey: key, MaxRetries: transport.DefaultMaxRetries, RequestTimeout: 2 * time.Minute, UserAgent: userAgent,
			})
		},
		NewName: func(what string) string { return newName(t, what) },
		Judge:   r.recorder.Rule,
		Restore: r.restoreLater,
	}
	if trial.Variable != "" {
		if os.Getenv(trial.Variable) == "" {
			for _, rule := range trial.Rules { // A verdict from a trial that runs wins.
				r.recorder.Rule(rule, evidence.NotSeen, "needs "+trial.Variable)
			}
		}
		optIn(t, trial.Variable)
	}
	switch trial.Variable {
	case envSessions:
		lab.Computer = sessionComputer(t)
	case envManagedComputers:
		lab.MayCreateSessions = os.Getenv(envSessions) != ""
	case envWiki:
		lab.Repository = wikiRepository(t)
	case envInvitation:
		lab.Address = strings.ReplaceAll(optIn(t, envInvitation), "{name}", newName(t, "invitation"))
	}
	check.Must(t, trial.Run(t.Context(), lab))
}
