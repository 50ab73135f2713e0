package provider_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A state from an earlier commit plans no changes. Its configuration is applied to create the same objects, and the new IDs
// replace the old IDs in the state.
func TestAccUpgrade_planFromAnEarlierStateIsEmpty_everyCLI(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"02f80ff", "b20631d"} {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, func(o *emulator.Options) {
				o.Provisioning.Step, o.BuildPhase, o.SessionDelay, o.SessionListDelay = time.Millisecond, time.Millisecond, -1, -1
			})
			cli := acctest.NewCLI(t, e, readFile(t, "testdata/upgrade/"+commit+".tf"))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			created := stateIDs(t, readFile(t, filepath.Join(cli.Dir, "terraform.tfstate")))

			earlier := readFile(t, "testdata/upgrade/"+commit+".json")
			var pairs []string
			for object, id := range stateIDs(t, earlier) {
				if created[object] == "" {
					t.Fatalf("the configuration does not create %s", object)
				}
				pairs = append(pairs, id, created[object])
			}
			cli.Write("terraform.tfstate", strings.NewReplacer(pairs...).Replace(earlier))
			cli.MustPlanEmpty()
		})
	}
}

// stateIDs returns the ID of each resource in a state by its address, and the IDs of fleet computers by their names.
func stateIDs(t *testing.T, state string) map[string]string {
	t.Helper()
	var content struct {
		Resources []struct {
			Type, Name string
			Instances  []struct {
				Attributes struct {
					ID        string
					Computers json.RawMessage
				}
			}
		}
	}
	acctest.Must(t, json.Unmarshal([]byte(state), &content))
	ids := map[string]string{}
	for _, r := range content.Resources {
		object := r.Instances[0].Attributes
		if r.Type != "agentyard_computer_fleet" { // Its ID is not from the service.
			ids[r.Type+"."+r.Name] = object.ID
			continue
		}
		maps.Copy(ids, memberIDs(t, object.Computers))
	}
	return ids
}

// memberIDs returns the IDs of a fleet's computers, from a map by name or from an older list.
func memberIDs(t *testing.T, computers json.RawMessage) map[string]string {
	t.Helper()
	type computer struct{ ID, Name string }
	var byName map[string]computer
	var list []computer
	if json.Unmarshal(computers, &byName) != nil && json.Unmarshal(computers, &list) != nil {
		t.Fatalf("neither a map nor a list: %s", computers)
	}
	ids := map[string]string{}
	for name, c := range byName {
		ids[name] = c.ID
	}
	for _, c := range list {
		ids[c.Name] = c.ID
	}
	return ids
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	acctest.Must(t, err)
	return string(text)
}
