package guides

import "testing"

// The whole of a policy: what it allows, and each rule that a plan may break.
func policies(g *reader) {
	g.expect(g.step(), "4 resources follow the policy.", "4 added, 0 changed, 0 destroyed")
	g.expect(g.refused(), "Limit expires_in to 90d: agentyard_api_key.ci.")
	good := g.read("main.tf")
	key := func(expiry string) string {
		return "resource \"agentyard_api_key\" \"x\" {\n  service_account_id = agentyard_service_account.ci.id\n  name = \"x\"\n" + expiry + "}\n"
	}
	for name, tc := range map[string]struct{ more, want string }{
		"no expiry":         {key(""), "agentyard_api_key.ci, agentyard_api_key.x."},
		"hours":             {key("  expires_in = \"2160.5h\"\n"), "agentyard_api_key.ci, agentyard_api_key.x."},
		"several units":     {key("  expires_in = \"12w6d1m\"\n"), "agentyard_api_key.ci, agentyard_api_key.x."},
		"nobody's computer": {"resource \"agentyard_computer\" \"x\" {\n  name = \"x\"\n}\n", "Set service_account_id: agentyard_computer.x."},
		"high limit":        {"resource \"agentyard_user_usage_limit\" \"x\" {\n  email = \"manager@agentyard.example\"\n  limit = 100000001\n}\n", "agentyard_user_usage_limit.x."},
	} {
		g.t.Run(name, func(t *testing.T) {
			g.cli.Write("main.tf", good+tc.more)
			r := g.cli.Shell("terraform plan -out=tfplan\nterraform show -json tfplan >plan.json\nterraform -chdir=policy plan")
			if r.ExitCode == 0 {
				t.Error("the policy is not broken")
			}
			g.expect(r.Output, tc.want)
		})
	}
	g.cli.Write("main.tf", "terraform {\n  required_providers {\n    agentyard = {\n      source = \"agentyard/agentyard\"\n    }\n  }\n}\n")
	g.expect(g.run("terraform plan -out=tfplan\nterraform show -json tfplan >plan.json\nterraform -chdir=policy plan"), "0 resources follow the policy.")
}
