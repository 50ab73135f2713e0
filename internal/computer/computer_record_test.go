package computer

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// Steps, and the session that some services put on a step, are kept where an answer has no steps.
func TestComputerRecord_keepsWhatOnlyStepsTell(t *testing.T) {
	t.Parallel()
	plain := client.Computer{ID: "c1", Name: "a", ProviderType: "managed-a"}
	onStep, onComputer, without := plain, plain, plain
	onStep.ProvisioningSteps = []client.ProvisioningStep{{ID: "install", InstallSessionID: "s1"}}
	onComputer.InstallSessionID = "s2"
	without.ProvisioningSteps = []client.ProvisioningStep{}
	var m computerRecord
	for n, step := range []struct {
		answer *client.Computer
		want   string
		steps  int
	}{
		{&plain, "", 0}, {&onStep, "s1", 1}, {&plain, "s1", 1}, {&onComputer, "s2", 1}, {&plain, "s2", 1}, {&without, "", 0},
	} {
		if diags := m.FromAPI(t.Context(), step.answer); diags.HasError() {
			t.Fatal(diags)
		}
		if m.InstallSessionID.ValueString() != step.want || len(m.ProvisioningSteps.Elements()) != step.steps {
			t.Errorf("answer %d: session %s and %d steps, want %q and %d", n, m.InstallSessionID, len(m.ProvisioningSteps.Elements()), step.want, step.steps)
		}
	}
}
