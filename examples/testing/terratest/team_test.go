// Package test tests the module in the folder above with Terratest. It needs an
// emulator: agentyard-emulator -- go test ./...
package test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gruntwork-io/terratest/modules/terraform"
)

func TestTeam(t *testing.T) {
	ctx := t.Context()
	options := &terraform.Options{
		TerraformDir: "..",
		Vars: map[string]any{
			"name":   "builders",
			"agents": []string{"ada", "grace"},
		},
	}
	defer terraform.DestroyContext(t, ctx, options)

	// The first response is lost. The apply still creates each computer once.
	control(t, "POST", "faults",
		`{"operation": "createComputer", "kind": "drop-after-commit"}`)
	terraform.InitAndApplyContext(t, ctx, options)
	if left := control(t, "GET", "faults"); strings.Contains(left, "drop") {
		t.Errorf("No response was lost: %s", left)
	}
	agents := terraform.OutputMapContext(t, ctx, options, "computer_ids")
	if len(agents) != 2 {
		t.Errorf("computers: %v", agents)
	}

	// A month later, the key is due.
	first := terraform.OutputContext(t, ctx, options, "key_id")
	control(t, "POST", "clock", `{"advance": "30d"}`)
	terraform.ApplyAndIdempotentContext(t, ctx, options)
	if terraform.OutputContext(t, ctx, options, "key_id") == first {
		t.Error("The key was not rotated.")
	}
}

// control sends a request to the control API, and returns the answer.
func control(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"control"}, args...)
	out, err := exec.CommandContext(t.Context(), "agentyard-emulator", args...).
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}
