package guides

import "strings"

// The host ID is set in place, once.
func registeredMachines(g *reader) {
	g.expect(g.step(), "1 added, 0 changed, 0 destroyed")
	g.cli.MustPlanEmpty()
	g.expect(g.step(), "0 added, 1 changed, 0 destroyed")
	if out := g.run("terraform plan -var host_id=9b4e28ba-2fa1-41d2-883f-0016d3cca427"); !strings.Contains(out, "must be replaced") {
		g.t.Errorf("another host ID: %s", out)
	}
	g.expect(g.step(), `"active"`, `"wss://`, `/client"`)
	g.cli.MustPlanEmpty()
	g.run("terraform destroy")
}
