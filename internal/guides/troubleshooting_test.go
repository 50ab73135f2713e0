package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var (
	tableRow = regexp.MustCompile("(?m)^\\| `.*$")
	summary  = regexp.MustCompile("`([^`]+)`")
)

// Every summary on the page is in the code, and what the page says of some errors is what happens.
func troubleshooting(g *reader) {
	var code strings.Builder
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	rows := tableRow.FindAllString(page(g.t, g.page), -1)
	if len(rows) < 20 {
		g.t.Errorf("%d summaries", len(rows))
	}
	for _, row := range rows {
		for _, found := range summary.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			// The object of an import is put in at run time.
			if want := strings.Replace(found[1], "Import Computer Yet", `Import "+title(object)+" Yet`, 1); !strings.Contains(code.String(), `"`+want+`"`) {
				g.t.Errorf("no error has the summary %q", found[1])
			}
		}
	}

	g.step()
	if log := g.read("agentyard.log"); !strings.Contains(log, "operation=listComputerProviders") || !strings.Contains(log, "status=200") || strings.Contains(log, g.e.BootstrapKey()) {
		g.t.Errorf("the log is\n%s", log)
	}
	fails := func(script string, wants ...string) {
		g.t.Helper()
		r := g.cli.Shell(script)
		if r.ExitCode == 0 {
			g.t.Errorf("%s succeeds", script)
		}
		g.expect(r.Output, wants...)
	}
	fails("AGENTYARD_BASE_URL= terraform plan", "Missing Base URL")
	fails("AGENTYARD_API_KEY= terraform plan", "Missing API Key")
	fails("AGENTYARD_API_KEY='fk x' terraform plan", "Invalid Provider Setting")
	fails("AGENTYARD_API_KEY=fk-wrong terraform plan", "Cannot list computer providers", "401")
	g.e.Faults().Add(emulator.Fault{Operation: "listComputerProviders", Kind: emulator.FaultRateLimited, RetryAfter: "9999", Times: 1})
	fails("terraform plan", "Cannot list computer providers", "429")
	g.cli.Write("main.tf", g.read("main.tf")+"resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n}\n")
	g.run("terraform apply")
	made := g.read("terraform.tfstate")
	fails("rm terraform.tfstate\nterraform apply", "Cannot create computer", "already exists", "terraform import ADDRESS")
	g.e.API("POST", "/_emulator/reset", nil, nil)
	g.cli.Write("terraform.tfstate", made)
	g.expect(g.run("terraform plan"), "Warning: Computer Not Found", "1 to add")
	g.cli.Write("main.tf", "resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n}\n")
	fails("rm -r .terraform*\nterraform init", "hashicorp/agentyard")
}
