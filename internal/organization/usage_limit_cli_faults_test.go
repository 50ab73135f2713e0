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

// brokenType is a type of limit in CLI runs with faults.
type brokenType struct {
	hcl   func(limit int) string
	write string
	// want returns the emulator's content with such a limit.
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

// changeRuns contains the limits to apply in order: the last one is the create, update, or destroy with the fault.
var changeRuns = map[string][]int{"create": {2_000_000}, "update": {2_000_000, 3_000_000}, "destroy": {2_000_000, 0}}

// trap catches the next PUT once it is armed. It forwards the request or not, calls hit, and never responds.
type trap struct {
	armed       atomic.Bool
	afterCommit bool
	hit         func()
}

func (p *trap) option(o *emulator.Options) {
	acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut || !p.armed.CompareAndSwap(true, false) {
				next.ServeHTTP(w, r)
				return
			}
			// A server notices a disconnect only after it has read the body.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if p.afterCommit {
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
			p.hit()
			<-r.Context().Done() // The client's timeout.
			panic(http.ErrAbortHandler)
		})
	})(o)
}

// After Ctrl-C during a request, the request is not sent again, and its result is in the state. The next apply converges.
func TestAccUsageLimits_interruptedWhileARequestHangs(t *testing.T) {
	t.Parallel()
	for typeName, of := range brokenTypes() {
		for run, limits := range changeRuns {
			for when, afterCommit := range map[string]bool{"before commit": false, "after commit": true} {
				t.Run(typeName+"/"+run+"/"+when, func(t *testing.T) {
					t.Parallel()
					interruptLastRun(t, of, limits, afterCommit)
				})
			}
		}
	}
}

// interruptLastRun applies limits in order; 0 removes the limit. It interrupts the last run and repeats it.
func interruptLastRun(t *testing.T, of brokenType, limits []int, afterCommit bool) {
	t.Helper()
	running := make(chan *acctest.Running, 1)
	p := &trap{afterCommit: afterCommit, hit: func() { (<-running).Interrupt() }}
	e := acctest.NewRealTime(t, p.option)
	haveJoined(t, e, people...)
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
	// A request that timed out before the interrupt is sent again.
	cli.Write("provider_settings.tf", "provider \"agentyard\" {\n  request_timeout = \"10s\"\n}\n")
	run := cli.Start("apply", "-auto-approve", "-input=false")
	running <- run
	r := run.Wait()
	cli.Write("provider_settings.tf", "")
	e.WantRequests(t, of.write, len(limits))
	// Only some CLIs add spaces.
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

	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	cli.MustPlanEmpty()
	if live := of.live(e); limits[last] > 0 && !slices.Equal(live, of.want(limits[last])) || limits[last] == 0 && len(live) > 0 {
		t.Errorf("the emulator holds %v", live)
	}
}
