package analytics_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccAnalytics_access(t *testing.T) {
	t.Parallel()
	const needs = `.*Three\s+things\s+are\s+required:\s+the\s+Enterprise\s+tier,\s+Analytics\s+enabled\s+for\s+the\s+organization,\s+and\s+the\s+API\s+key\s+of\s+a\s+human`
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		body := s.config("2026-02-27", "2026-02-28", "")
		var account struct{ ID string }
		e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
		var robot struct{ APIKey struct{ Value string } }
		e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "robot"}, &robot)
		_, plain, err := e.AddHuman(emulator.Human{Email: "dev@people.example", Role: emulator.RoleUser})
		if err != nil {
			t.Fatal(err)
		}
		with := func(key string) string {
			return fmt.Sprintf("provider \"agentyard\" {\n  base_url = %q\n  api_key  = %q\n}\n%s", e.URL(), key, body)
		}
		own := s.name == "my_cost"
		needed := needs + `\s+with\s+the\s+Manager\s+or\s+Owner\s+role.*service\s+accounts\s+have\s+no\s+access`
		if own {
			needed = needs + `\.\s+Keys\s+of\s+service\s+accounts\s+have\s+no\s+access`
		}
		run(t, e, refused(with(robot.APIKey.Value), `(?s)Cannot read analytics of .*`+s.operation+`.*answered\s+403.*`+needed))
		if own {
			rows, _ := s.answerWith(e, plain)
			run(t, e, read(with(plain), s.known(map[string]knownvalue.Check{"data": s.rows(rows)})...))
		} else {
			run(t, e, refused(with(plain), `(?s)Cannot read analytics of .*`+s.operation+`.*answered\s+403.*`+needed))
		}
		run(t, e, refused(with("fk-wrong"), `(?s)`+s.operation+`.*answered\s+401.*AGENTYARD_API_KEY`))
		e.AllowAnalytics(false)
		run(t, e, refused(e.Config(body), `(?s)`+s.operation+`.*answered\s+403:\s+Analytics\s+is\s+not\s+enabled.*`+needed))
		e.AllowAnalytics(true)
		if err := e.SetTier(emulator.TierTeam); err != nil {
			t.Fatal(err)
		}
		run(t, e, refused(e.Config(body), `(?s)`+s.operation+`.*answered\s+403:.*team.*enterprise.*`+needed))
	})
}

// answerWith is answer for the caller with another key, about the last two days of February.
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

func TestAccAnalytics_failures(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		hcl := e.Config(s.config("2026-02-27", "2026-02-28", ""))
		e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1})
		run(t, e, refused(hcl, `(?s)Cannot read analytics of .*`+s.operation+`.*answered\s+500:.*\(request\s+req_\w+\).*max_retries`))
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: s.operation, Kind: emulator.FaultTruncatedBody}, emulator.Fault{Operation: s.operation, Kind: emulator.FaultStatusBeforeCommit, Status: 503})
		run(t, e, read(hcl))
	})
}

// Those who ask the same share a request in one run.
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

// The expression of the documentation is yesterday, whenever it is planned.
func TestAccAnalytics_yesterday(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	yesterday := `formatdate("YYYY-MM-DD", timeadd(plantimestamp(), "-24h"))`
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(sources[3].config("YESTERDAY", "YESTERDAY", ""), `"YESTERDAY"`, yesterday))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if n := e.Journal().Count(sources[3].operation); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// The provider's clock follows that of an emulator that people have moved.
func TestAccAnalytics_clockOfTheEmulator(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	dayAfter := time.Now().UTC().Add(48 * time.Hour).Format(time.DateOnly) // Not yet here, also if this test runs past midnight.
	cli := acctest.NewCLI(t, e, sources[0].config("2026-02-28", dayAfter, ""))
	if r := cli.Run("plan", "-input=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "Date Not Available Yet") {
		t.Errorf("of the day after tomorrow: %s", r.Output)
	}
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": "72h"}, nil)
	cli.MustRun("plan", "-input=false")
}

func TestAccAnalytics_unknownSettings(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, s source) {
		e := acctest.New(t)
		config := "resource \"terraform_data\" \"address\" {\n  input = \"" + e.URL() + "\"\n}\nprovider \"agentyard\" {\n  base_url = terraform_data.address.output\n  api_key = \"" + e.BootstrapKey() + "\"\n}\n"
		// The day may be one of the past by the service's clock, which is not known.
		run(t, e, resource.TestStep{
			Config:      config + s.config("2026-02-27", "2026-03-01", ""),
			ExpectError: regexp.MustCompile(`base_url\s+is\s+not\s+known\s+yet(.|\n)*apply\s+what\s+base_url\s+depends\s+on\s+first`),
		})
	})
}
