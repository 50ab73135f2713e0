package guides

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// copyPolicies copies the rules in Rego to the folder of the guide, and gives it OPA.
func copyPolicies(g *reader) {
	g.t.Helper()
	opa := os.Getenv("AGENTYARD_OPA")
	if opa == "" {
		g.t.Fatal("AGENTYARD_OPA is not set; run the tests with `make test-clis`, which builds OPA")
	}
	link := filepath.Join(g.t.TempDir(), "opa")
	check.Must(g.t, os.Symlink(opa, link))
	g.programs = append(g.programs, link)
	check.Must(g.t, os.CopyFS(filepath.Join(g.cli.Dir, "policies"), os.DirFS(filepath.Join("..", "..", "..", "examples", "policies"))))
}

// evaluate is the command of the guide, which fails if a rule is broken.
const evaluate = "opa eval --fail-defined --format raw -d policies -i plan.json 'data.agentyard.deny[_]'"

// The whole of a policy: what it allows, and each rule that a plan may break, as a configuration and in Rego.
func policies(g *reader) {
	const plan = "terraform plan -out=tfplan\nterraform show -json tfplan >plan.json\n"
	g.expect(g.step(), "4 resources follow the policy.", "4 added, 0 changed, 0 destroyed")
	copyPolicies(g)
	if out := g.step(); !strings.HasPrefix(out, "PASS: ") || strings.Count(out, "\n") != 1 {
		g.t.Errorf("OPA says: %s", out)
	}
	// denied says what the rules in Rego say about a configuration.
	denied := func(t *testing.T, more string, wants ...string) {
		t.Helper()
		r := g.cli.Shell(plan+evaluate+" 2>&1 >denied && exit 1 || cat denied", g.programs...)
		if r.ExitCode != 0 {
			t.Errorf("the rules in Rego are not broken by %s: %s", more, r.Output)
		}
		g.expect(r.Output, wants...)
		check.Is(t, "lines that are denied", strings.Count(g.read("denied"), "\n"), len(wants))
	}
	good := g.read("main.tf")
	g.expect(g.refused(), "Limit expires_in to 90d: agentyard_api_key.ci.")
	denied(g.t, "the diff", "Limit expires_in to 90d: agentyard_api_key.ci.")
	key := func(expiry string) string {
		return "resource \"agentyard_api_key\" \"x\" {\n  service_account_id = agentyard_service_account.ci.id\n  name = \"x\"\n" + expiry + "}\n"
	}
	for name, tc := range map[string]struct{ more, want string }{
		"no expiry":         {key(""), "Limit expires_in to 90d: agentyard_api_key.x."},
		"hours":             {key("  expires_in = \"2160.5h\"\n"), "Limit expires_in to 90d: agentyard_api_key.x."},
		"several units":     {key("  expires_in = \"12w6d1m\"\n"), "Limit expires_in to 90d: agentyard_api_key.x."},
		"nobody's computer": {"resource \"agentyard_computer\" \"x\" {\n  name = \"x\"\n}\n", "Set service_account_id: agentyard_computer.x."},
		"nobody's fleet":    {"resource \"agentyard_computer_fleet\" \"x\" {\n  name_prefix = \"x\"\n  quantity = 2\n}\n", "Set service_account_id: agentyard_computer_fleet.x."},
		"high limits":       {"resource \"agentyard_user_usage_limits\" \"x\" {\n  limits = {\n    \"manager@agentyard.example\" = 100000001\n  }\n}\n", "agentyard_user_usage_limits.x."},
		"removed member":    {"resource \"agentyard_member_remove\" \"x\" {\n  email = \"manager@agentyard.example\"\n}\n", "agentyard_member_remove.x."},
		"revoked key":       {"resource \"agentyard_api_key_revoke\" \"x\" {\n  service_account_id = agentyard_service_account.ci.id\n  key_id = agentyard_api_key.ci.id\n}\n", "agentyard_api_key_revoke.x."},
		"high limit":        {"resource \"agentyard_user_usage_limit\" \"x\" {\n  email = \"manager@agentyard.example\"\n  limit = 100000001\n}\n", "agentyard_user_usage_limit.x."},
	} {
		g.t.Run(name, func(t *testing.T) {
			g.cli.Write("main.tf", good+tc.more)
			denied(t, tc.more, tc.want)
			r := g.cli.Shell("terraform -chdir=policy plan")
			if r.ExitCode == 0 {
				t.Error("the policy is not broken")
			}
			g.expect(r.Output, tc.want)
		})
	}
	g.cli.Write("main.tf", good)
	refused := func(what, plan, want string) {
		if r := g.cli.Shell(plan+"terraform -chdir=policy plan", g.programs...); r.ExitCode == 0 || !strings.Contains(r.Output, want) {
			g.t.Errorf("%s passes: %s", what, r.Output)
		}
		if r := g.cli.Shell(evaluate, g.programs...); r.ExitCode == 0 || !strings.Contains(r.Output, want) {
			g.t.Errorf("%s passes in Rego: %s", what, r.Output)
		}
	}
	refused("the state", "terraform show -json >plan.json\n", "not a plan.")
	refused("the state, if none", "cd policy && rm -f terraform.tfstate && terraform show -json >../plan.json && cd ..\n", "not a plan.")
	if acctest.HasActions(g.t) {
		g.cli.Write("main.tf", good+"action \"agentyard_member_remove\" \"x\" {\n  config {\n    email = \"manager@agentyard.example\"\n  }\n}\n")
		refused("an invoked action", "terraform plan -out=tfplan -invoke=action.agentyard_member_remove.x\nterraform show -json tfplan >plan.json\n", "action.agentyard_member_remove.x.")
	}
	settings := g.read("policies/settings.rego")
	g.cli.Write("main.tf", good)
	g.cli.Write("policies/settings.rego", strings.Replace(settings, "\"production\": false", "\"production\": true", 1))
	denied(g.t, "a plan for production", "Set deletion_protection: agentyard_computer.ci.", "Set deletion_protection: agentyard_service_account.ci.")
	g.cli.Write("policies/settings.rego", settings)
	controls := g.read("controls.tf")
	g.cli.Write("controls.tf", strings.Replace(controls, "== true", "== false", 1))
	denied(g.t, "a loosened control", "Failed: check.controls.")
	if r := g.cli.Shell("terraform -chdir=policy plan"); r.ExitCode == 0 || !strings.Contains(r.Output, "Failed: check.controls.") {
		g.t.Errorf("a loosened control passes: %s", r.Output)
	}
	g.cli.Write("controls.tf", controls)
	g.cli.Write("main.tf", "terraform {\n  required_providers {\n    agentyard = {\n      source = \"agentyard/agentyard\"\n    }\n  }\n}\n")
	g.expect(g.run(plan+"terraform -chdir=policy plan"), "0 resources follow the policy.")
	denied(g.t, "an empty configuration", "Not in allow_destroy: agentyard_computer.ci.", "Not in allow_destroy: agentyard_global_usage_limit.all.", "Not in allow_destroy: agentyard_service_account.ci.")
	g.cli.Write("policies/settings.rego", strings.Replace(settings, "\"allow_destroy\": []", "\"allow_destroy\": [\n\"agentyard_computer.ci\", \"agentyard_global_usage_limit.all\", \"agentyard_service_account.ci\"]", 1))
	if out := g.run(evaluate); out != "" {
		g.t.Errorf("OPA says: %s", out)
	}
}
