package computer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
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
