package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var buildEmulator = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agentyard-emulator-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "agentyard-emulator")
	return binary, exec.Command("go", "build", "-o", binary, "../../emulator/cmd/agentyard-emulator").Run()
})

// emulatorBinary returns the path of the emulator as a program.
func emulatorBinary(t *testing.T) string {
	t.Helper()
	binary, err := buildEmulator()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// The emulator of the page keeps its objects from one command to the next. The last apply is for the organization.
func gettingStarted(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.expect(g.step(), "2 added, 0 changed, 0 destroyed", `"agent-2"`)
	g.expect(g.step(), "0 added, 1 changed, 0 destroyed", `"agent-3"`)
	g.expect(g.step(), "2 destroyed")
	g.expect(g.step(), "2 added, 0 changed, 0 destroyed")
	if all := accounts(g.e); len(all) != 1 || all[0].Name != "agents" {
		g.t.Errorf("the accounts of the organization are %v", all)
	}
}

func testingModules(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.expect(g.step(), "Success! 5 passed, 0 failed.")
	g.expect(g.step(), "ok example.com/team/terratest")
	for _, b := range g.blocks { // They name what TestDockerfile starts.
		for _, want := range []string{"http://emulator:8787", "fk-emulator", "terraform init && terraform test"} {
			if !strings.Contains(b.text, want) {
				g.t.Errorf("%s does not contain %q", b.file, want)
			}
		}
	}
	g.blocks = nil
}
