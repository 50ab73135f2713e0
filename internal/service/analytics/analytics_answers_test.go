package analytics_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccAnalytics_access(t *testing.T) {
	t.Parallel()
	const needs = "Three things are required: the Enterprise tier, Analytics enabled for the organization, and the API key of a member"
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		var account struct{ ID string }
		e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
		var robot struct{ APIKey struct{ Value string } }
		e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "robot"}, &robot)
		_, plain, err := e.AddHuman(emulator.Human{Email: "dev@people.example", Role: emulator.RoleUser})
		if err != nil {
			t.Fatal(err)
		}
		own := s.name == "my_cost"
		needed := []string{needs + " with the Manager role or higher", "service accounts have no access"}
		if own {
			needed = []string{needs + ". Keys of service accounts have no access"}
		}
		refused := func(key string, want ...string) {
			t.Helper()
			s.mustFail(t, e, acctest.Values{"api_key": key}, s.values("2026-02-27", "2026-02-28"), "", append(want, "Cannot read analytics of ", s.operation)...)
		}
		refused(robot.APIKey.Value, append(needed, "returned 403")...)
		if own {
			rows, _ := s.answerWith(e, plain)
			hcl := fmt.Sprintf("provider \"agentyard\" {\n  base_url = %q\n  api_key  = %q\n}\n%s", e.URL(), plain, s.config("2026-02-27", "2026-02-28", ""))
			run(t, e, read(hcl, s.known(map[string]knownvalue.Check{"data": s.rows(rows)})...))
		} else {
			refused(plain, append(needed, "returned 403")...)
		}
		refused("fk-wrong", "returned 401", "AGENTYARD_API_KEY")
		e.AllowAnalytics(false)
		refused(e.BootstrapKey(), append(needed, "returned 403: Analytics is not enabled")...)
		e.AllowAnalytics(true)
		if err := e.SetTier(emulator.TierTeam); err != nil {
			t.Fatal(err)
		}
		refused(e.BootstrapKey(), append(needed, "returned 403:", "team", "enterprise")...)
	})
}

// answerWith is answer with another API key, for the last two days of February.
func (s source) answerWith(e *acctest.Env, key string) (rows []map[string]any, err error) {
	status, body := e.TryWithKey(key, http.MethodGet, analyticsRoute+s.path+"?startDate=2026-02-27&endDate=2026-02-28"+s.query, nil)
	var answer struct {
		Data []map[string]any `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("status %d: %w", status, err)
	}
	return answer.Data, nil
}

func TestAnalytics_failures(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		days := s.values("2026-02-27", "2026-02-28")
		e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1})
		s.mustFail(t, e, nil, days, "", "Cannot read analytics of ", s.operation, "returned 500:", "(request req_", "The service failed.")
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultTruncatedBody}, emulator.Fault{Operation: s.operation, Kind: emulator.FaultStatusBeforeCommit, Status: 503})
		s.mustRead(t, e, days)
	})
}

// Identical queries share a request in one run.
func TestAccAnalytics_sameQuestion(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	var hcl strings.Builder
	for _, s := range sources {
		body := s.config("2026-02-27", "2026-02-28", "")
		hcl.WriteString(body + strings.Replace(body, `"x"`, `"again"`, 1) + strings.Replace(s.config("2026-02-26", "2026-02-28", ""), `"x"`, `"other"`, 1))
	}
	cli := acctest.NewCLI(t, e, hcl.String())
	cli.MustRun("plan", "-input=false")
	for _, s := range sources {
		if n := e.Journal().Count(s.operation); n != 2 {
			t.Errorf("%s was asked %d times", s.operation, n)
		}
	}
}

// An expression with the time of the plan is a valid day, also for Terraform 1.5, which validates with another time.
func TestAccAnalytics_timeOfThePlan(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	yesterday := `formatdate("YYYY-MM-DD", timeadd(plantimestamp(), "-24h"))`
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(sources[3].config("YESTERDAY", "YESTERDAY", ""), `"YESTERDAY"`, yesterday))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if n := e.Journal().Count(sources[3].operation); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// The clock of the emulator counts, also after it was moved.
func TestAccAnalytics_clockOfTheEmulator(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	dayAfter := time.Now().UTC().Add(48 * time.Hour).Format(time.DateOnly) // Not available yet, even if this test runs past midnight.
	cli := acctest.NewCLI(t, e, sources[0].config("2026-02-28", dayAfter, ""))
	if r := cli.Run("plan", "-input=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "today is ") {
		t.Errorf("of the day after tomorrow: %s", r.Output)
	}
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "72h"}, nil)
	cli.MustRun("plan", "-input=false")
}

func TestAnalytics_unknownSettings(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		// The service's clock is unknown, and the day may be in its past.
		s.mustFail(t, acctest.New(t), acctest.Values{"base_url": tftypes.UnknownValue}, s.values("2026-02-27", "2026-03-01"), "", "base_url is not known yet", "terraform apply -target=ADDRESS", "undo that change first")
	})
}
