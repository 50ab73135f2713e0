package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var (
	tableRow = regexp.MustCompile(`(?m)^\| .*$`)
	codeSpan = regexp.MustCompile("`([A-Z][^`]* [^`]+)`")
	// A summary in the code: several words without punctuation that are no object's name and no line of progress. A name or a count may be among them.
	summaryText = regexp.MustCompile(`(?:Report\()?"([A-Z]\w+(?: (?:\w+|%q))+(?: %s)?)"`)
	noSummary   = regexp.MustCompile(`^Report|^"(?:API keys?|CI \w+(?: owners)?)"$`)
	titleCase   = regexp.MustCompile(` [A-Z][a-z]+\b`)
	atRunTime   = strings.NewReplacer("%q", `"builds"`, "%s", "2 computers")
)

// The page has each summary of the provider, and no other.
func TestTroubleshooting_summaries(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if entry.IsDir() && slices.Contains([]string{"acctest", "client", "contract", "emulator", "evidence", "tools"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	check.Must(t, err)
	guide := page(t, "troubleshooting")
	inCode := summaryText.FindAllStringSubmatch(code.String(), -1)
	if len(inCode) < 100 {
		t.Fatalf("the code has %d summaries", len(inCode))
	}
	// The code puts these together at run time, for several objects.
	known := map[string]bool{"Cannot import computer": true, "Cannot import computer yet": true, "Service account is ambiguous": true, "Service account not found": true, "Cannot destroy protected computer": true, "Global usage limit is not set": true}
	for _, found := range inCode {
		summary := atRunTime.Replace(found[1])
		if noSummary.MatchString(found[0]) {
			continue
		}
		if titleCase.MatchString(summary) {
			t.Errorf("%q is not in sentence case", summary)
		}
		known[summary] = true
		if !strings.Contains(guide, summary) {
			t.Errorf("templates/guides/troubleshooting.md.tmpl does not explain %q", summary)
		}
	}
	for _, row := range tableRow.FindAllString(guide, -1) {
		for _, found := range codeSpan.FindAllStringSubmatch(row, -1) {
			if !known[found[1]] {
				t.Errorf("no error has the summary %q", found[1])
			}
		}
	}
}

// What the page says of some errors is what happens.
func troubleshooting(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.step()
	if page := g.read("run-report.html"); !strings.Contains(page, "listComputerProviders") || strings.Contains(page, g.e.BootstrapKey()) {
		g.t.Errorf("the report of the run is\n%s", page)
	}
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
	main := g.read("main.tf")
	for body, summary := range map[string]string{
		"data \"agentyard_computer\" \"a\" {}":                                                                "Not exactly one argument",
		"resource \"agentyard_computer\" \"a\" {}":                                                            "Missing required argument",
		"resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n  cpu = 2\n}":                           "Unsupported argument",
		"resource \"agentyard_computer\" \"a\" {\n  name = [\"build\"]\n}":                                    "Incorrect attribute value type",
		"resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n  id = \"x\"\n}":                        "Invalid Configuration for Read-Only Attribute",
		"data \"agentyard_session_messages\" \"a\" {\n  session_id = \"x\"\n  roles = []\n}":                  "Invalid Attribute Value",
		"resource \"agentyard_wiki_run\" \"a\" {\n  repo_url = \"https://a.example/b/c\"\n  pages = \"[\"\n}": "Invalid JSON String Value",
	} {
		g.cli.Write("main.tf", main+body+"\n")
		fails("terraform plan -no-color", "Error: "+summary)
	}
	g.cli.Write("main.tf", strings.Replace(main, "provider \"agentyard\" {}", "", 1))
	fails("AGENTYARD_BASE_URL= terraform plan", "explicit configuration", "Missing base URL")
	g.cli.Write("main.tf", main)
	fails("AGENTYARD_BASE_URL= terraform plan", "Missing base URL")
	fails("AGENTYARD_API_KEY= terraform plan", "Missing API key")
	fails("AGENTYARD_API_KEY='fk x' terraform plan", "Invalid provider setting")
	fails("AGENTYARD_API_KEY=fk-wrong terraform plan", "API key rejected", "401", "127.0.0.1")
	g.e.Faults().Add(emulator.Fault{Operation: "listComputerProviders", Kind: emulator.FaultRateLimited, RetryAfter: "9999", Times: 1})
	fails("terraform plan", "Cannot list computer providers", "429")
	g.cli.Write("main.tf", g.read("main.tf")+"resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n}\n")
	g.run("terraform apply")
	made := g.read("terraform.tfstate")
	fails("rm terraform.tfstate\nterraform apply", "Cannot create computer", "already exists", "terraform import ADDRESS")
	g.e.API("POST", "/_emulator/reset", nil, nil)
	g.cli.Write("terraform.tfstate", made)
	g.expect(g.run("terraform plan"), "Warning: Computer not found", "1 to add")
	g.cli.Write("main.tf", "resource \"agentyard_computer\" \"a\" {\n  name = \"build\"\n}\n")
	fails("rm -r .terraform*\nterraform init", "hashicorp/agentyard")
}
