package emulator_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// process is a client with connections of its own, as a provider's process has them.
type process struct {
	*env
	*http.Transport
}

func (v *env) process() process {
	p := process{v, &http.Transport{}}
	v.t.Cleanup(p.CloseIdleConnections)
	return p
}

// send sends a request as the provider does. A cut connection is status 0.
func (p process) send(method, path, body string) int {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL()+path, strings.NewReader(body))
	must(p.t, err)
	req.Header.Set("User-Agent", "terraform-provider-agentyard/1.2.3 Terraform/1.16.4")
	req.Header.Set("Authorization", "Bearer "+p.BootstrapKey())
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.RoundTrip(req)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body) // Otherwise the connection could not be used again.
	must(p.t, errors.Join(err, resp.Body.Close()))
	return resp.StatusCode
}

func TestJournal_runs(t *testing.T) {
	v := startParallel(t)
	plan, apply := v.process(), v.process()
	same(t, "plan", plan.send("GET", computers, ""), 200)
	same(t, "plan", plan.send("GET", members, ""), 200)
	plan.CloseIdleConnections()
	for { // The emulator notices it a moment later.
		same(t, "apply", apply.send("GET", computers, ""), 200)
		entries := v.Journal().Entries()
		if entries[len(entries)-1].Run > 1 {
			break
		}
		apply.CloseIdleConnections()
	}
	v.Journal().Reset()
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultDropBeforeCommit, Operation: "createComputer"})
	same(t, "apply", apply.send("POST", computers, `{"name":"a"}`), 0)
	same(t, "apply", apply.send("POST", computers, `{"name":"a"}`), 201)
	same(t, "apply", apply.send("POST", computers, `{"name":"b"}`), 201)
	got := v.Journal().Entries()
	same(t, "requests", len(got), 3)
	same(t, "one process is one run", []int{got[1].Run, got[2].Run}, []int{got[0].Run, got[0].Run})
	for _, e := range got {
		if e.UserAgent != "terraform-provider-agentyard/1.2.3 Terraform/1.16.4" || e.Started.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if got[0].BodyHash != got[1].BodyHash || got[0].BodyHash == got[2].BodyHash {
		t.Errorf("hashes of bodies: %d, %d, %d", got[0].BodyHash, got[1].BodyHash, got[2].BodyHash)
	}
}
