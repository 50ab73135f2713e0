package organization_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// brokenType is a type of limit as the runs of a CLI use it that something breaks.
type brokenType struct {
	hcl   func(limit int) string
	write string
	// want is what the emulator holds with such a limit.
	want func(limit int) []string
	live func(*acctest.Env) []string
}

func brokenTypes() map[string]brokenType {
	return map[string]brokenType{
		userLimitType: {
			func(limit int) string {
				return fmt.Sprintf("resource %q \"test\" {\n  email = %q\n  limit = %d\n}\n", userLimitType, people[0], limit)
			},
			"setUserUsageLimits",
			func(limit int) []string { return []string{fmt.Sprintf("%s=%d", people[0], limit)} },
			atService,
		},
		globalLimitType: {
			func(limit int) string {
				return fmt.Sprintf("resource %q \"test\" {\n  limit = %d\n}\n", globalLimitType, limit)
			},
			"setGlobalUsageLimit",
			func(limit int) []string { return []string{fmt.Sprintf("organization=%d", limit)} },
			globalAtService,
		},
	}
}

// changeRuns are the runs that each break in turn: a creation, an update and a destruction, by what is applied last.
var changeRuns = map[string][]int{"create": {2_000_000}, "update": {2_000_000, 3_000_000}, "destroy": {2_000_000, 0}}

func TestAccUsageLimits_noAnswerEver_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	for typeName, of := range brokenTypes() {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := withPeople(t, acctest.NewRealTime(t))
			e.Faults().Add(emulator.Fault{Operation: of.write, Kind: emulator.FaultDropAfterCommit, Times: -1})
			cli := acctest.NewCLI(t, e, "")
			for _, limit := range []int{2_000_000, 3_000_000} {
				cli.Write("main.tf", "provider \"agentyard\" {\n  max_retries = 1\n}\n"+of.hcl(limit))
				cli.MustRun("apply", "-auto-approve", "-input=false")
				if live := of.live(e); !slices.Equal(live, of.want(limit)) {
					t.Errorf("the emulator holds %v", live)
				}
				cli.MustPlanEmpty()
			}
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			if live := of.live(e); len(live) > 0 {
				t.Errorf("the emulator still holds %v", live)
			}
		})
	}
}

// trap meets the next PUT once it is armed: it carries it out or not, calls hit and never answers.
type trap struct {
	armed       atomic.Bool
	afterCommit bool
	hit         func(r *http.Request)
}

func (p *trap) option(o *emulator.Options) {
	o.Wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut || !p.armed.CompareAndSwap(true, false) {
				next.ServeHTTP(w, r)
				return
			}
			// A server sees that a client hangs up only when it has read the body.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if p.afterCommit {
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
			p.hit(r)
			panic(http.ErrAbortHandler)
		})
	}
}

// breakLastRun applies limits in turn, and 0 for none, and calls look when the run of the last one was trapped. Then it
// applies that again, and demands that nothing is left to do and that nothing is left after a destruction.
func breakLastRun(t *testing.T, of brokenType, limits []int, afterCommit bool, hit func(*acctest.Running, *http.Request), look func(e *acctest.Env, cli *acctest.CLI, r acctest.Result)) {
	t.Helper()
	running := make(chan *acctest.Running, 1)
	p := &trap{afterCommit: afterCommit, hit: func(r *http.Request) { hit(<-running, r) }}
	e := withPeople(t, acctest.NewRealTime(t, p.option))
	cli := acctest.NewCLI(t, e, "")
	write := func(limit int) {
		hcl := ""
		if limit > 0 {
			hcl = of.hcl(limit)
		}
		cli.Write("main.tf", hcl)
	}
	last := len(limits) - 1
	for _, limit := range limits[:last] {
		write(limit)
		cli.MustRun("apply", "-auto-approve", "-input=false")
	}
	write(limits[last])
	p.armed.Store(true)
	// A request whose time is over before the interruption arrives is sent again.
	cli.Write("provider_settings.tf", "provider \"agentyard\" {\n  request_timeout = \"10s\"\n}\n")
	run := cli.Start("apply", "-auto-approve", "-input=false")
	running <- run
	r := run.Wait()
	cli.Write("provider_settings.tf", "")
	if p.armed.Load() {
		t.Fatalf("the run sent nothing: %s", r.Output)
	}
	look(e, cli, r)

	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	cli.MustPlanEmpty()
	if live := of.live(e); limits[last] > 0 && !slices.Equal(live, of.want(limits[last])) || limits[last] == 0 && len(live) > 0 {
		t.Errorf("the emulator holds %v", live)
	}
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false")
	if live := of.live(e); len(live) > 0 {
		t.Errorf("the emulator still holds %v", live)
	}
}

// A killed run has stored nothing. The next one does the same again, and nothing stands in its way.
func TestAccUsageLimits_killed(t *testing.T) {
	t.Parallel()
	for typeName, of := range brokenTypes() {
		for run, limits := range changeRuns {
			for when, afterCommit := range map[string]bool{"before commit": false, "after commit": true} {
				t.Run(typeName+"/"+run+"/"+when, func(t *testing.T) {
					t.Parallel()
					kill := func(running *acctest.Running, _ *http.Request) { running.Kill() }
					breakLastRun(t, of, limits, afterCommit, kill, func(_ *acctest.Env, _ *acctest.CLI, r acctest.Result) {
						if r.ExitCode == 0 {
							t.Errorf("the run was not killed: %s", r.Output)
						}
					})
				})
			}
		}
	}
}

// Ctrl-C while a request hangs: it is not sent again, and what it did is in the state.
func TestAccUsageLimits_interruptedWhileARequestHangs(t *testing.T) {
	t.Parallel()
	for typeName, of := range brokenTypes() {
		for run, limits := range changeRuns {
			for when, afterCommit := range map[string]bool{"before commit": false, "after commit": true} {
				t.Run(typeName+"/"+run+"/"+when, func(t *testing.T) {
					t.Parallel()
					interrupt := func(running *acctest.Running, r *http.Request) {
						running.Interrupt()
						<-r.Context().Done() // The client's timeout.
					}
					breakLastRun(t, of, limits, afterCommit, interrupt, func(e *acctest.Env, cli *acctest.CLI, r acctest.Result) {
						if n := e.Journal().Count(of.write); n != len(limits) {
							t.Errorf("%d requests to write were sent: %s", n, r.Output)
						}
						// Only some CLIs put blanks into it.
						state := strings.ReplaceAll(cli.MustRun("state", "pull").Output, " ", "")
						if strings.Contains(state, `"status":"tainted"`) {
							t.Errorf("the limit is tainted: %s", state)
						}
						live := of.live(e)
						for _, limit := range limits {
							isLive := limit > 0 && slices.Equal(live, of.want(limit))
							if isStored := limit > 0 && strings.Contains(state, fmt.Sprintf(`"limit":%d`, limit)); isStored != isLive {
								t.Errorf("the emulator holds %v, the state %s", live, state)
							}
						}
						if !afterCommit && !strings.Contains(r.Output, of.write) {
							t.Errorf("the error does not name the operation: %s", r.Output)
						}
					})
				})
			}
		}
	}
}
