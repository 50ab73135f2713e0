package deviations

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Actions report the same progress, or an error that names the operation and the field.
func testActions(t *testing.T, document *contract.Document) {
	for _, row := range specimens.Operations {
		if row.IsNoAction {
			continue
		}
		t.Run(row.Title(), func(t *testing.T) {
			t.Parallel()
			invoke := func(v *variation) (organization, string, acctest.Outcome) {
				o := newOrganization(t, 0) // Most actions work once.
				p := acctest.NewProcess(t, o.Env, nil)
				config := o.In(row.Values)
				o.vary(v, false)
				progress, out := p.Invoke(row.Type, config)
				return o, masked(progress, out), out
			}
			o, plain, out := invoke(nil)
			if len(out.Errors) > 0 {
				t.Fatalf("the plain action fails: %s", out)
			}
			for _, v := range o.variations(document, o.seen()) {
				_, progress, out := invoke(&v)
				v.checkErrors(t, out)
				v.hasEffect(len(out.Errors) > 0 || progress != plain)
			}
		})
	}
}
