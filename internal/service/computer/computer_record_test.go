package computer

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// The session that some services return only in a step is kept if a response has no steps.
func TestComputerRecord_keepsTheSessionOfAStep(t *testing.T) {
	t.Parallel()
	plain := computers.Computer{ID: "c1", Name: "a", ProviderType: "managed-a"}
	onStep, onComputer, without := plain, plain, plain
	onStep.ProvisioningSteps = []computers.ProvisioningStep{{ID: "install", InstallSessionID: "s1"}}
	onComputer.InstallSessionID = "s2"
	without.ProvisioningSteps = []computers.ProvisioningStep{}
	var m computerRecord
	for n, step := range []struct {
		answer *computers.Computer
		want   string
	}{
		{&plain, ""}, {&onStep, "s1"}, {&plain, "s1"}, {&onComputer, "s2"}, {&plain, "s2"}, {&without, ""},
	} {
		if diags := m.FromAPI(t.Context(), step.answer); diags.HasError() {
			t.Fatal(diags)
		}
		check.Is(t, fmt.Sprint("the session of answer ", n), m.InstallSessionID.ValueString(), step.want)
	}
}

// The next apply waits for a computer whose set-up has not ended. One with a status that nobody knows may be asleep.
func TestLife_isUnfinished(t *testing.T) {
	t.Parallel()
	for status, isUnfinished := range map[string]bool{"provisioning": true, "": true, "asleep": false, "error": false, statusMissing: false} {
		if (life{neverActive: true}).isUnfinished(status) != isUnfinished || (life{}).isUnfinished(status) {
			t.Errorf("%q: want %v", status, isUnfinished)
		}
	}
}

// Only of such a computer, an error says that provisioning continues, and that the next apply waits for it. More time also helps a replacement.
func TestComputer_theNextApplyWaits(t *testing.T) {
	t.Parallel()
	m := &computerModel{computerRecord: computerRecord{ID: types.StringValue("c1"), Name: types.StringValue("a")}}
	for _, status := range []string{"provisioning", "", "asleep"} {
		for _, err := range []error{&wait.TimeoutError{Status: status}, context.Canceled, &transport.APIError{Status: http.StatusForbidden}} {
			last, isUnfinished := &computers.Computer{Status: status}, status != "asleep"
			for n, diags := range []diag.Diagnostics{m.newNotActive(last, err), m.stillNotActive(last, err)} {
				text := diags[len(diags)-1].Detail()
				waits := strings.Contains(text, "next apply waits") || strings.Contains(text, "then waits")
				moreTime := strings.Contains(text, "To allow more time")
				isUnknown := transport.StatusOf(err) != 0
				if waits != isUnfinished || strings.Contains(text, goesOn) != (isUnfinished && !isUnknown) || moreTime != (wait.IsTimeout(err) && (isUnfinished || n == 0)) {
					t.Errorf("%q after %v: %s", status, err, text)
				}
			}
		}
	}
}

// A run that is stopped beside a failure reports an error.
func TestFleet_stoppedBesideAFailure(t *testing.T) {
	t.Parallel()
	seen := &computers.Computer{}
	failed, stopped := memberWait{last: seen, err: &wait.FailedError{}}, memberWait{last: seen, err: context.Canceled}
	for _, waits := range [][]memberWait{{failed, stopped}, {stopped, failed}} {
		check.Is(t, "it is an error", (&fleetModel{}).membersNotActive(make([]fleetMember, 2), waits).HasError(), true)
	}
}

// A refused creation names the rule for prefixes only if the prefix breaks it.
func TestFleet_refusedPrefix(t *testing.T) {
	t.Parallel()
	refused := &transport.APIError{Status: http.StatusBadRequest, Detail: "no", FromService: true}
	for prefix, isAtFault := range map[string]bool{"web": false, "w": false, "Web_App": true, "web-": true, "1web": true, strings.Repeat("w", 59): true} {
		m := fleetModel{NamePrefix: types.StringValue(prefix)}
		remedy := apierror.Remedy("create", "computer fleet", refused, m.options(""))
		if got := strings.Contains(remedy, "name_prefix: it should be 1–58 lowercase letters, digits, and hyphens"); got != isAtFault {
			t.Errorf("%s: %s", prefix, remedy)
		}
	}
}
