package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The new computer can be created before the old computer with the same name is deleted, because their owners differ.
func TestAccComputer_movesUnderAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Provisioning.Step = time.Millisecond })
	config := func(more string) string {
		return "resource \"agentyard_service_account\" \"team\" {\n  name = \"team\"\n}\n" +
			"resource \"agentyard_computer\" \"moved\" {\n  name = \"build-1\"\n" + more + "  lifecycle {\n    create_before_destroy = true\n  }\n}\n"
	}
	cli := acctest.NewCLI(t, e, config(""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if own := computers(e); len(own) != 1 {
		t.Fatalf("before: %+v", own)
	}
	cli.Write("main.tf", config("  service_account_id = agentyard_service_account.team.id\n"))
	cli.MustRun("apply", "-auto-approve", "-input=false", "-replace=agentyard_computer.moved")
	cli.MustPlanEmpty()
	if own := computers(e); len(own) != 0 {
		t.Errorf("left of the old owner: %+v", own)
	}
	e.WantRequests(t, "createComputer", 2)
}
