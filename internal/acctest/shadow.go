package acctest

import (
	"reflect"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// shadowed returns the options of every provider in a test: what it answers without the framework must be what the framework
// answers. Answered is called for each such answer and may be nil.
func shadowed(t testing.TB, clk clock.Clock, answered func(typeName string)) []provider.Option {
	return []provider.Option{provider.WithClock(clk), provider.WithShadow(func(typeName string, answer, framework any, err error) {
		if answered != nil {
			answered(typeName)
		}
		own, other := parts(t, answer), parts(t, framework)
		if err != nil || !reflect.DeepEqual(own, other) {
			t.Errorf("%s: answered without the framework: %v\nthe framework answers (%v): %v", typeName, own, err, other)
		}
	})}
}

// parts returns all parts of a response. The order in a map means nothing, and the framework's is random.
func parts(t testing.TB, response any) []any {
	switch r := response.(type) {
	case *tfprotov6.ReadResourceResponse:
		return []any{decoded(t, r.NewState), identityOf(t, r.NewIdentity), string(r.Private), len(r.Diagnostics), r.Deferred}
	case *tfprotov6.PlanResourceChangeResponse:
		return []any{decoded(t, r.PlannedState), identityOf(t, r.PlannedIdentity), string(r.PlannedPrivate), len(r.Diagnostics), r.Deferred, len(r.RequiresReplace)}
	}
	t.Errorf("unexpected response %T", response)
	return nil
}

func identityOf(t testing.TB, identity *tfprotov6.ResourceIdentityData) any {
	if identity == nil {
		return nil
	}
	return decoded(t, identity.IdentityData)
}

func decoded(t testing.TB, value *tfprotov6.DynamicValue) (v any) {
	if value == nil {
		return nil
	}
	if err := msgpack.Unmarshal(value.MsgPack, &v); err != nil {
		t.Error(err)
	}
	return v
}

// answers counts the reads and plans by type that were answered without the framework.
type answers struct {
	mu sync.Mutex
	of map[string]int
}

func (a *answers) add(typeName string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.of[typeName]++
}

// Answered returns how many reads and plans of a type were answered without the framework.
func (p *Process) Answered(typeName string) int {
	p.answered.mu.Lock()
	defer p.answered.mu.Unlock()
	return p.answered.of[typeName]
}
