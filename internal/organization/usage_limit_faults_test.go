package organization_test

import (
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	userLimitType   = "agentyard_user_usage_limit"
	globalLimitType = "agentyard_global_usage_limit"
)

// people are the members whose limits these tests set.
var people = []string{"ada@people.example", "bob@people.example", "cleo@people.example"}

// atService returns the users' limits in the emulator, as "address=limit".
func atService(e *acctest.Env) []string {
	var held []string
	for email, limit := range liveLimits(e) {
		held = append(held, fmt.Sprintf("%s=%d", email, limit))
	}
	slices.Sort(held)
	return held
}

// globalAtService returns the emulator's global limit in the same format.
func globalAtService(e *acctest.Env) []string {
	if limit := liveGlobalLimit(e); limit > 0 {
		return []string{fmt.Sprintf("organization=%d", limit)}
	}
	return nil
}

// inState returns the limit in a state in the same format.
func inState(i *acctest.Instance) []string {
	var attributes map[string]tftypes.Value
	var limit big.Float
	if i.State.IsNull() || i.State.As(&attributes) != nil || attributes["limit"].As(&limit) != nil {
		return nil
	}
	n, _ := limit.Int64()
	return []string{fmt.Sprintf("%s=%d", i.ID(), n)}
}

func TestUsageLimits_faultMatrixOfAUser(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: userLimitType,
		Setup: func(e *acctest.Env) []acctest.Values {
			haveJoined(t, e, people...)
			return []acctest.Values{
				{"email": people[0], "limit": 2_000_000},
				{"email": people[0], "limit": 3_000_000},
				{"email": people[1], "limit": 3_000_000},
			}
		},
		Live: atService,
		IDs:  inState,
	}.Run(t)
}

func TestUsageLimits_faultMatrixOfEverybody(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: globalLimitType,
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{{"limit": 2_000_000}, {"limit": 3_000_000}}
		},
		Live: globalAtService,
		IDs:  inState,
	}.Run(t)
}

// sharedFaults returns faults for the request that several users share, or for the read after it.
func sharedFaults() map[string][]emulator.Fault {
	const write, read = "setUserUsageLimits", "getUserUsageLimits"
	faults := map[string][]emulator.Fault{"none": nil}
	for suffix, times := range map[string]int{"once": 1, "always": -1} {
		for _, f := range []emulator.Fault{
			{Kind: emulator.FaultStatusBeforeCommit, Status: 400},
			{Kind: emulator.FaultStatusBeforeCommit, Status: 503},
			{Kind: emulator.FaultStatusAfterCommit, Status: 500},
			{Kind: emulator.FaultDropBeforeCommit},
			{Kind: emulator.FaultDropAfterCommit},
			{Kind: emulator.FaultTruncatedBody},
			{Kind: emulator.FaultNonJSON},
			{Kind: emulator.FaultOtherResponse, Body: `{"updated":[],"errors":[]}`},
		} {
			f.Operation, f.Times = write, times
			faults[fmt.Sprintf("%s %d %s", f.Kind, f.Status, suffix)] = []emulator.Fault{f}
		}
	}
	faults["rate-limited once"] = []emulator.Fault{{Operation: write, Kind: emulator.FaultRateLimited}}
	faults["timeout before commit"] = []emulator.Fault{{Operation: write, Kind: emulator.FaultDelayBeforeCommit, Delay: time.Minute}}
	faults["timeout after commit"] = []emulator.Fault{{Operation: write, Kind: emulator.FaultDelayAfterCommit, Delay: time.Minute}}
	for name, f := range map[string]emulator.Fault{
		"lost, and unreadable after it":    {Operation: write, Kind: emulator.FaultDropAfterCommit, Times: -1},
		"refused, and unreadable after it": {Operation: write, Kind: emulator.FaultDropBeforeCommit, Times: -1},
	} {
		// The plans of all three share the one list request that succeeds.
		faults[name] = []emulator.Fault{f, {Operation: read, Kind: emulator.FaultStatusBeforeCommit, Status: 503, After: 1, Times: -1}}
	}
	return faults
}

// applyTogether applies a configuration to each instance concurrently, in one process.
func applyTogether(t *testing.T, e *acctest.Env, settings acctest.Values, instances []*acctest.Instance, configs []acctest.Values) []acctest.Outcome {
	t.Helper()
	p := acctest.NewProcess(t, e, settings)
	outcomes := make([]acctest.Outcome, len(instances))
	var all sync.WaitGroup
	for k := range instances {
		all.Go(func() { outcomes[k] = p.Apply(instances[k], configs[k]) })
	}
	all.Wait()
	return outcomes
}

// Whatever happens to a request that three users share, the next apply makes each state match the service.
func TestUsageLimits_faultsOfASharedRequest(t *testing.T) {
	t.Parallel()
	set := func(limit int) []acctest.Values {
		var configs []acctest.Values
		for k, email := range people {
			configs = append(configs, acctest.Values{"email": email, "limit": limit + k})
		}
		return configs
	}
	nothing := make([]acctest.Values, len(people))
	for step, configs := range map[string][][]acctest.Values{
		"create":  {set(2_000_000)},
		"update":  {set(2_000_000), set(3_000_000)},
		"destroy": {set(2_000_000), nothing},
		"mixed":   {{nil, set(2_000_000)[1], set(2_000_000)[2]}, {set(3_000_000)[0], set(3_000_000)[1], nil}},
	} {
		for name, faults := range sharedFaults() {
			t.Run(step+"/"+name, func(t *testing.T) {
				t.Parallel()
				e := acctest.NewRealTime(t)
				haveJoined(t, e, people...)
				var instances []*acctest.Instance
				for range people {
					instances = append(instances, acctest.NewProcess(t, e, nil).NewInstance(userLimitType))
				}
				mustApply := func(configs []acctest.Values) {
					t.Helper()
					for _, out := range applyTogether(t, e, acctest.Values{"max_retries": 1}, instances, configs) {
						out.MustSucceed(t)
					}
				}
				for _, before := range configs[:len(configs)-1] {
					mustApply(before)
				}
				last := configs[len(configs)-1]

				settings := acctest.Values{"max_retries": 1}
				if len(faults) > 0 && faults[0].Delay > 0 {
					settings["request_timeout"] = "1s"
				}
				e.Faults().Add(faults...)
				for k, out := range applyTogether(t, e, settings, instances, last) {
					for _, d := range out.Errors {
						// The operation and the remedy.
						if !strings.Contains(d.Detail, "UserUsageLimits") || !strings.Contains(d.Detail, "\n\n") {
							t.Errorf("%s: %s: %s", people[k], d.Summary, d.Detail)
						}
					}
					if len(out.Errors) > 0 && faults == nil {
						t.Errorf("%s: %s", people[k], out)
					}
				}
				e.Faults().Clear()

				mustApply(last)
				var held, known []string
				for k, i := range instances {
					known = append(known, inState(i)...)
					if last[k] != nil {
						held = append(held, fmt.Sprintf("%s=%d", people[k], last[k]["limit"]))
					}
				}
				if at := atService(e); !slices.Equal(at, held) || !slices.Equal(known, held) {
					t.Errorf("the emulator holds %v, the states %v, want %v", at, known, held)
				}
				for k, i := range instances {
					acctest.NewProcess(t, e, nil).Plan(i, last[k]).MustDo(t, acctest.ActionNone)
				}
			})
		}
	}
}

// If both the response and the read are lost, the limit is set but in no state. An apply sets it again. If it is no longer
// configured, it stays; the error has said that it may exist.
func TestUsageLimits_setWithoutAWord(t *testing.T) {
	t.Parallel()
	for typeName, tc := range map[string]struct {
		read, write string
		config      acctest.Values
		live        func(*acctest.Env) []string
	}{
		userLimitType:   {"getUserUsageLimits", "setUserUsageLimits", acctest.Values{"email": people[0], "limit": 2_000_000}, atService},
		globalLimitType: {"getGlobalUsageLimit", "setGlobalUsageLimit", acctest.Values{"limit": 2_000_000}, globalAtService},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, people...)
			// The plan's read succeeds.
			e.Faults().Add(emulator.Fault{Operation: tc.write, Kind: emulator.FaultDropAfterCommit, Times: -1}, emulator.Fault{Operation: tc.read, Kind: emulator.FaultDropBeforeCommit, After: 1, Times: -1})
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(typeName)
			out := p.Apply(i, tc.config)
			e.Faults().Clear()
			t.Log(out)
			if len(out.Errors) != 1 || !i.State.IsNull() || len(tc.live(e)) != 1 || !strings.Contains(out.Text(), tc.write) || !strings.Contains(out.Text(), "may") {
				t.Fatalf("the state holds %v, the emulator %v: %s", inState(i), tc.live(e), out)
			}
			tc.config["limit"] = 3_000_000
			if out := acctest.NewProcess(t, e, nil).Apply(i, tc.config); len(out.Errors) > 0 || len(out.Warnings) != 1 || !strings.Contains(out.String(), "2000000") {
				t.Errorf("the next apply: %s", out)
			}
			if !slices.Equal(tc.live(e), inState(i)) {
				t.Errorf("the emulator holds %v, the state %v", tc.live(e), inState(i))
			}
		})
	}
}

// limitOperation is how a type of limit is set, and what the emulator holds.
type limitOperation struct {
	write string
	live  func(*acctest.Env) []string
}

var limitOperations = map[string]limitOperation{
	userLimitType:   {"setUserUsageLimits", atService},
	globalLimitType: {"setGlobalUsageLimit", globalAtService},
}

// A run that is interrupted during a request does not repeat it, and keeps what the service has done. The next apply converges.
func TestUsageLimits_interrupted(t *testing.T) {
	t.Parallel()
	for typeName, config := range limitConfigs() {
		for change, limits := range map[string][]int{"create": {2_000_000}, "update": {2_000_000, 3_000_000}, "destroy": {2_000_000, 0}} {
			for when, tc := range map[string]struct{ isDone, isAnswered bool }{"before commit": {}, "after commit": {isDone: true}, "answered": {true, true}} {
				t.Run(typeName+"/"+change+"/"+when, func(t *testing.T) {
					t.Parallel()
					var armed atomic.Pointer[acctest.Process]
					e := acctest.New(t, acctest.Wrap(func(next http.Handler) http.Handler {
						return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							stopped := armed.Load()
							if r.Method != http.MethodPut || stopped == nil {
								next.ServeHTTP(w, r)
								return
							}
							armed.Store(nil)
							answer := httptest.NewRecorder()
							if tc.isDone {
								next.ServeHTTP(answer, r)
							}
							stopped.Stop()
							if !tc.isAnswered {
								panic(http.ErrAbortHandler)
							}
							maps.Copy(w.Header(), answer.Header())
							w.WriteHeader(answer.Code)
							_, _ = w.Write(answer.Body.Bytes())
						})
					}))
					haveJoined(t, e, avery)
					i := acctest.NewProcess(t, e, nil).NewInstance(typeName)
					apply := func(p *acctest.Process, limit int) acctest.Outcome {
						wanted := maps.Clone(config)
						if wanted["limit"] = limit; limit == 0 {
							wanted = nil
						}
						return p.Apply(i, wanted)
					}
					last := len(limits) - 1
					for _, limit := range limits[:last] {
						apply(acctest.NewProcess(t, e, nil), limit).MustSucceed(t)
					}
					process := acctest.NewProcess(t, e, nil)
					armed.Store(process)
					out := apply(process, limits[last])
					operation := limitOperations[typeName]
					if held := operation.live(e); i.Tainted || !slices.Equal(inState(i), held) || (len(out.Errors) == 0) != tc.isDone {
						t.Errorf("the emulator holds %v, the state %s: %s", held, i.State, out)
					}
					if !tc.isDone {
						acctest.Says(t, out.Text(), operation.write)
					}
					e.WantRequests(t, operation.write, len(limits))
					apply(acctest.NewProcess(t, e, nil), limits[last]).MustSucceed(t)
					if held := operation.live(e); !slices.Equal(inState(i), held) || len(held) != min(limits[last], 1) {
						t.Errorf("the emulator holds %v in the end, the state %s", held, i.State)
					}
				})
			}
		}
	}
}
