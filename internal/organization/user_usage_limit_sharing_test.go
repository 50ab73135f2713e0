package organization_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// limitsFor returns a configuration with one limit for each address.
func limitsFor(limit int64, emails ...string) string {
	return fmt.Sprintf("resource \"agentyard_user_usage_limit\" \"each\" {\n  for_each = toset([%s])\n  email = each.key\n  limit = %d\n}\n", `"`+strings.Join(emails, `", "`)+`"`, limit)
}

func limited(limit int64, emails ...string) limits {
	all := limits{}
	for _, email := range emails {
		all[email] = limit
	}
	return all
}

// membersOf returns this number of email addresses.
func membersOf(n int) (emails []string) {
	for i := range n {
		emails = append(emails, fmt.Sprintf("member%d@agentyard.example", i))
	}
	return emails
}

// The limits of one apply share write requests, each within the service's maximum, and share one read. How many limits share
// a request depends on how busy the machine is.
func TestAccUserUsageLimit_manyShareRequests(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	emails := membersOf(101)
	haveJoined(t, e, emails...)
	cli := acctest.NewCLI(t, e, limitsFor(2_000_000, emails...))
	run := func(what string, writes bool, args ...string) {
		t.Helper()
		e.Journal().Reset()
		cli.MustRun(append(args, "-input=false", "-parallelism=101")...)
		set, read := e.Journal().Count("setUserUsageLimits"), e.Journal().Count("getUserUsageLimits")
		if writes && (set < 2 || set > 50) || !writes && set > 0 || read > 2 {
			t.Errorf("%s: %d requests to set limits and %d to read them", what, set, read)
		}
	}
	run("creation", true, "apply", "-auto-approve")
	mustHold(t, e, limited(2_000_000, emails...))
	run("empty plan", false, "plan", "-detailed-exitcode")
	cli.Write("main.tf", limitsFor(3_000_000, emails...))
	run("update", true, "apply", "-auto-approve")
	mustHold(t, e, limited(3_000_000, emails...))
	run("destruction", true, "destroy", "-auto-approve")
	mustHold(t, e, limits{})
}

// An address without a member does not affect the other limits. The next apply sets its limit after the member has joined.
func TestAccUserUsageLimit_oneOfThreeIsNoMember(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery, blake)
	cli := acctest.NewCLI(t, e, limitsFor(2_000_000, avery, blake, casey))
	r := cli.Run("apply", "-auto-approve", "-input=false")
	text := acctest.OneLine(r.Output)
	if r.ExitCode != 1 || strings.Count(text, "Error: ") != 1 || !strings.Contains(text, `each["casey@agentyard.example"]`) || !strings.Contains(text, "email = each.key") || !strings.Contains(text, "no member") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	mustHold(t, e, limited(2_000_000, avery, blake))
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "1 to add, 0 to change, 0 to destroy")
	haveJoined(t, e, casey)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	mustHold(t, e, limited(2_000_000, avery, blake, casey))
	cli.MustPlanEmpty()
}

// takesOnlyOne makes the service reject every request that sets several limits.
func takesOnlyOne(status int) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if r.Method == http.MethodPut && bytes.Count(body, []byte(`"email"`)) > 1 {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set(emulator.FaultHeader, "only-one") // The contract has no rule for it.
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, `{"title": "Bad Request", "status": %d, "detail": "One entry is at fault."}`, status)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// If the service rejects a shared request as a whole, each entry is sent separately.
func TestAccUserUsageLimit_refusedBatch(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, takesOnlyOne(status))
			emails := membersOf(10)
			haveJoined(t, e, emails...)
			cli := acctest.NewCLI(t, e, limitsFor(2_000_000, emails...))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			mustHold(t, e, limited(2_000_000, emails...))
			if n := e.Journal().Count("setUserUsageLimits"); n <= len(emails) {
				t.Errorf("%d requests to set limits, of which none was refused", n)
			}
			cli.MustPlanEmpty()
		})
	}
}

// A value that the service rejects fails alone, at its attribute.
func TestAccUserUsageLimit_oneRefusedValue(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery, blake, casey)
	cli := acctest.NewCLI(t, e, limitsFor(2_000_000, avery, blake)+limitNamed("test", casey, 9_007_199_254_740_992))
	r := cli.Run("apply", "-auto-approve", "-input=false")
	text := acctest.OneLine(r.Output)
	if r.ExitCode != 1 || strings.Count(text, "Error: ") != 1 || !strings.Contains(text, "limit = 9007199254740992") || !strings.Contains(text, "at most 9007199254740991") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	mustHold(t, e, limited(2_000_000, avery, blake))
}

// After a lost response, the limits are read again. With shared requests too, nothing is lost or set twice unnecessarily.
func TestAccUserUsageLimit_lostAnswers(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"once": 1, "always": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery, blake)
			fault := emulator.Fault{Operation: "setUserUsageLimits", Kind: emulator.FaultDropAfterCommit, Times: times}
			e.Faults().Add(fault)
			cli := acctest.NewCLI(t, e, "provider \"agentyard\" {\n  max_retries = 1\n}\n"+limitsFor(2_000_000, avery, blake, casey))
			r := cli.Run("apply", "-auto-approve", "-input=false")
			if text := acctest.OneLine(r.Output); r.ExitCode != 1 || strings.Count(text, "Error: ") != 1 || !strings.Contains(text, `each["casey@agentyard.example"]`) {
				t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
			}
			mustHold(t, e, limited(2_000_000, avery, blake))
			haveJoined(t, e, casey)
			cli.MustRun("apply", "-auto-approve", "-input=false")
			mustHold(t, e, limited(2_000_000, avery, blake, casey))
			cli.MustPlanEmpty()
			e.Faults().Clear()
			e.Faults().Add(fault)
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, limits{})
		})
	}
}

// A member who leaves between plan and apply fails alone.
func TestAccUserUsageLimit_leavesBetweenPlanAndApply(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery, blake, casey)
	cli := acctest.NewCLI(t, e, limitsFor(2_000_000, avery, blake))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", limitsFor(3_000_000, avery, blake, casey))
	cli.MustRun("plan", "-input=false", "-out=saved")
	leaves(e, avery)
	leaves(e, casey)
	r := cli.Run("apply", "-input=false", "saved")
	text := acctest.OneLine(r.Output)
	if r.ExitCode != 1 || strings.Count(text, "Error: Cannot update user usage limit") != 1 || strings.Count(text, "Error: Cannot create user usage limit") != 1 || strings.Count(text, "no member with this email") != 2 {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	mustHold(t, e, limited(3_000_000, blake))
	// The plan reports a member who has left, and does not change other limits.
	text = acctest.OneLine(cli.MustRun("plan", "-input=false").Output)
	acctest.Says(t, text, "User Usage Limit Not Found", "2 to add, 0 to change, 0 to destroy")
	cli.Write("main.tf", limitsFor(3_000_000, blake))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	mustHold(t, e, limited(3_000_000, blake))
}

// A renamed resource removes and sets the limit at about the same time. If the remove request comes much later, the next
// apply sets the limit again.
func TestAccUserUsageLimit_renamed(t *testing.T) {
	t.Parallel()
	for _, createFirst := range []bool{false, true} {
		t.Run(fmt.Sprintf("create before destroy %t", createFirst), func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery)
			cli := acctest.NewCLI(t, e, "")
			for _, step := range []struct {
				key, email string
				limit      int64
			}{{"m", avery, 2_000_000}, {"a", "Avery@agentyard.example", 2_000_000}, {"z", avery, 3_000_000}} {
				cli.Write("main.tf", fmt.Sprintf("resource \"agentyard_user_usage_limit\" \"each\" {\n  for_each = { %q = %q }\n  email = each.value\n  limit = %d\n  lifecycle {\n    create_before_destroy = %t\n  }\n}\n", step.key, step.email, step.limit, createFirst))
				for range 2 {
					cli.MustRun("apply", "-auto-approve", "-input=false")
				}
				mustHold(t, e, limits{avery: step.limit})
				cli.MustPlanEmpty()
			}
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			mustHold(t, e, limits{})
		})
	}
}

// Two users who swap resources are two replacements. After the next apply at the latest, the limits and the state match.
func TestAccUserUsageLimit_twoChangePlaces(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery, blake)
	cli := acctest.NewCLI(t, e, limitNamed("a", avery, 2_000_000)+limitNamed("b", blake, 3_000_000))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", limitNamed("a", blake, 2_000_000)+limitNamed("b", avery, 3_000_000))
	for range 2 {
		cli.MustRun("apply", "-auto-approve", "-input=false")
	}
	mustHold(t, e, limits{avery: 3_000_000, blake: 2_000_000})
	cli.MustPlanEmpty()
}
