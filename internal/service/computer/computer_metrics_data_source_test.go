package computer_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func metricsConfig(computer, more string) string {
	return "data \"agentyard_computer_metrics\" \"x\" {\n  computer_id = \"" + computer + "\"\n" + more + "\n}\n"
}

func samples(check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.agentyard_computer_metrics.x", tfjsonpath.New("samples"), check)
}

func TestAccComputerMetrics(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	e.Run(t, e.ReadStep(metricsConfig(c.ID, ""), samples(knownvalue.ListSizeExact(0))))
	e.Clock.Advance(19*time.Minute + 30*time.Second)
	number := knownvalue.Float64Func(func(v float64) error { return nil })
	e.Run(t,
		e.ReadStep(metricsConfig(c.ID, ""), samples(knownvalue.ListSizeExact(3)),
			statecheck.ExpectKnownValue("data.agentyard_computer_metrics.x", tfjsonpath.New("samples").AtSliceIndex(0), knownvalue.ObjectExact(map[string]knownvalue.Check{
				"timestamp": knownvalue.StringExact("2026-03-01T12:05:00Z"), "cpu_used_pct": number, "cpu_count": knownvalue.Float64Exact(4),
				"mem_used": number, "mem_total": knownvalue.Float64Exact(8 << 30), "disk_used": number, "disk_total": knownvalue.Float64Exact(64 << 30),
			}))),
		// The same time in another time zone.
		e.ReadStep(metricsConfig(c.ID, `start = "2026-03-01T14:15:00+02:00"`), samples(knownvalue.ListSizeExact(1))),
		e.ReadStep(metricsConfig(c.ID, `start = "2026-03-02T12:00:00Z"`), samples(knownvalue.ListExact(nil))),
	)
	// A sleeping computer has no recent samples.
	e.Clock.Advance(12 * time.Hour)
	e.Run(t, e.ReadStep(metricsConfig(c.ID, ""), samples(knownvalue.ListExact(nil))))
}

func TestAccComputerMetrics_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own := makeComputer(e, ownMachine("own"))
	for hcl, want := range map[string]string{
		metricsConfig(own.ID, ""):                     `(?s)Cannot read metrics of the computer.*computer_id\s+=.*getComputerMetrics.*not\s+supported\s+for\s+BYOM.*must\s+be\s+a\s+managed\s+computer\s+and\s+active`,
		metricsConfig(nobody, ""):                     `(?s)Cannot read metrics of the computer.*No\s+computer\s+with\s+the\s+ID`,
		metricsConfig(own.ID, `start = "yesterday"`):  `Invalid RFC3339 String Value`,
		metricsConfig(own.ID, `start = "2026-03-01"`): `Invalid RFC3339 String Value`,
		metricsConfig("", ""):                         `must not be empty`,
		`data "agentyard_computer_metrics" "x" {}`:    `The argument "computer_id" is required`,
	} {
		e.Run(t, resource.TestStep{Config: e.Config(hcl), ExpectError: regexp.MustCompile(want)})
	}
}
