package lifecycle

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var refusals = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// A refused request is an error that names the operation and the status, and the next apply succeeds.
func TestResource_refused(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		i := o.NewInstance(t, r.Type)
		for n, config := range []acctest.Values{o.In(r.Least), o.In(r.Changed), nil} {
			o.Journal().Reset()
			o.MustApply(t, i, config)
			var operations []string
			for _, entry := range o.Journal().Entries() {
				operations = append(operations, entry.Operation)
			}
			for k, operation := range slices.Compact(slices.Sorted(slices.Values(operations))) {
				testRefusal(t, r, n, operation, refusals[(n+k)%len(refusals)])
			}
		}
	})
}

func testRefusal(t *testing.T, r specimens.Resource, step int, operation string, status int) {
	t.Helper()
	o := newOrganization(t)
	steps := []acctest.Values{o.In(r.Least), o.In(r.Changed), nil}
	i := o.NewInstance(t, r.Type)
	for _, config := range steps[:step] {
		o.MustApply(t, i, config)
	}
	o.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
	out := o.Apply(t, i, steps[step])
	o.Faults().Clear()
	if isRead := strings.HasPrefix(operation, "get") || strings.HasPrefix(operation, "list"); len(out.Errors) == 0 && !isRead {
		t.Errorf("step %d: %d of %s is no error", step, status, operation) // What another request also shows may be refused.
	}
	for _, d := range out.Errors {
		check.Says(t, d.Summary+": "+d.Detail, operation, strconv.Itoa(status))
	}
	o.MustApply(t, i, steps[step])
}

// A timeout is not only a response that was lost after the commit: the service may commit afterwards. What it makes then is found, and
// made once; the value of a key that nobody has is replaced.
func TestResource_commitsLate(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		late := map[string]acctest.Values{r.Creates: o.In(r.Least)}
		if r.Type == "agentyard_api_key" {
			late["rotateApiKey"] = o.In(r.Changed)
		}
		i := o.NewInstance(t, r.Type)
		for _, operation := range []string{r.Creates, "rotateApiKey"} {
			if late[operation] == nil || operation == "" {
				continue
			}
			o.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultCommitsLate, Delay: time.Second})
			if out := o.Apply(t, i, late[operation]); len(out.Errors) > 0 || i.ID() == "" {
				t.Errorf("%s: %s", operation, out)
			}
			check.Is(t, operation+": objects", len(o.Find(r.Listing)), 1)
		}
	})
}

// What an apply found after a lost response may be another run's, so it is a warning, which an ordinary apply never shows.
func TestResource_foundAfterALostResponse(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		for _, isLost := range []bool{true, false} {
			if r.Creates == "" {
				return
			}
			if isLost {
				o.Faults().Add(emulator.Fault{Operation: r.Creates, Kind: emulator.FaultDropAfterCommit})
			}
			p := acctest.NewProcess(t, o.Env, acctest.Values{"max_retries": 0})
			i := p.NewInstance(r.Type)
			out := p.Apply(i, o.In(r.Least))
			out.MustSucceed(t)
			text := out.WarningText()
			check.Is(t, "the loss is reported: "+text, strings.Contains(text, "Found after a lost response"), isLost)
			if isLost {
				check.Says(t, text, "If another run created")
			}
			if named := strings.Contains(text, i.ID()); isLost && !named && r.Type != "agentyard_computer_fleet" && r.Type != "agentyard_api_key" {
				t.Errorf("%q lacks %s", text, i.ID())
			}
			p.Destroy(i).MustSucceed(t)
		}
	})
}
