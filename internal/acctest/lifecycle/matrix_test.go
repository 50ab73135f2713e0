package lifecycle

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Every fault at every request of a resource's life, with the fewest arguments and with all. The matrix of a key is in
// internal/service/serviceaccount, because only its value shows that it works.
func TestResource_faultMatrix(t *testing.T) {
	t.Parallel()
	for _, r := range specimens.Resources {
		if r.Name != "" || r.Type == "agentyard_api_key" {
			continue
		}
		t.Run(r.Type, func(t *testing.T) {
			t.Parallel()
			o := acctest.NewOrganization(t, acctest.New(t, func(o *emulator.Options) { o.BuildPhase, o.Provisioning.Step = time.Millisecond, time.Millisecond }))
			m := acctest.Matrix{Type: r.Type, Env: o.Env, Nameless: r.Nameless}
			waits := briefly(t, o, r.Type)
			configs := []specimens.Values{r.Least, r.Changed, r.Full, r.FullChanged}
			if r.Type == "agentyard_computer_fleet" {
				configs = append(configs, r.Full) // It shrinks.
			}
			for _, config := range configs {
				if config = o.In(config); config != nil {
					maps.Copy(config, waits)
					m.Steps = append(m.Steps, config)
				}
			}
			if r.Listing.Path != "" {
				m.Live = func(e *acctest.Env) []string { return listed(o, e, r.Listing) }
			}
			if r.Creates != "" && len(waits) == 0 { // Only what is not ready in time is replaced.
				others := len(m.Live(o.Env))
				m.Verify = func(t *testing.T, e *acctest.Env, _ *acctest.Instance) {
					if made, live := e.CarriedOut(r.Creates), len(m.Live(e))-others; made > live {
						t.Errorf("%d were created, and %d are left", made, live)
					}
				}
			}
			m.Run(t)
		})
	}
}

// briefly returns the argument that ends each wait of a resource after ten seconds. It is empty if the resource does not wait.
func briefly(t *testing.T, o *acctest.Organization, typeName string) acctest.Values {
	t.Helper()
	all := acctest.Values{}
	for _, block := range acctest.NewProcess(t, o.Env, nil).Schemas().ResourceSchemas[typeName].Block.BlockTypes {
		timeouts := map[string]any{}
		for _, a := range block.Block.Attributes {
			timeouts[a.Name] = "10s"
		}
		all[block.TypeName] = timeouts
	}
	return all
}

// listed returns the IDs of all objects of a listing in a copy of an organization.
func listed(o *acctest.Organization, e *acctest.Env, l specimens.Listing) (ids []string) {
	e.Clock.Advance(10 * time.Second) // A new session is listed late.
	inPath := specimens.Fill(func(place string) any { return url.PathEscape(fmt.Sprint(o.Fill(place))) })
	for _, path := range []string{l.Path, l.Also} {
		if l.Path = inPath.Text(path); path != "" {
			ids = append(ids, e.Listed(l)...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
