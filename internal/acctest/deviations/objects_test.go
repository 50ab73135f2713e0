// Package deviations tests what the provider makes of responses that differ from the contract as those of a real service may, and
// that each field of the contract reaches an attribute. Both are derived from the contract, so a new field is tested by itself.
package deviations

import (
	"strconv"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

type values = acctest.Values

// organization has at least two objects of each kind, and a service that varies responses in front of it.
type organization struct {
	*acctest.Organization
	*service
}

func newOrganization(t testing.TB, pageSize int) organization {
	t.Helper()
	s := &service{}
	o := acctest.NewOrganization(t, acctest.New(t, acctest.Wrap(s.layer), func(o *emulator.Options) {
		o.SessionDelay, o.SessionListDelay, o.MessageDelay, o.MaxPageSize = -1, -1, -1, pageSize
	}))
	o.Furnish()
	return organization{o, s}
}

// flatten returns the leaves of a value by path.
func flatten(into map[string]string, path string, v tftypes.Value) {
	attributes := map[string]tftypes.Value{}
	var elements []tftypes.Value
	switch {
	case v.IsNull() || !v.IsKnown():
		into[path] = "null"
	case v.As(&attributes) == nil:
		for name, inner := range attributes {
			flatten(into, path+"."+name, inner)
		}
	case !v.Type().Is(tftypes.Set{}) && v.As(&elements) == nil:
		into[path] = "list"
		for n, inner := range elements {
			flatten(into, path+"["+strconv.Itoa(n)+"]", inner)
		}
	default:
		into[path] = v.String()
	}
}
