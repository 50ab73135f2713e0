package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// Every attribute of every timeouts block rejects zero and negative durations.
func TestProvider_timeouts(t *testing.T) {
	t.Parallel()
	p := acctest.NewProcess(t, acctest.New(t), nil)
	blocks := 0
	try := func(schema *tfprotov6.Schema, validate func(acctest.Values) acctest.Outcome) {
		block, ok := schema.ValueType().(tftypes.Object).AttributeTypes["timeouts"].(tftypes.Object)
		if !ok {
			return
		}
		blocks++
		for attribute := range block.AttributeTypes {
			for _, given := range []string{"0s", "-1m"} {
				out := validate(acctest.Values{"timeouts": map[string]any{attribute: given}})
				out.MustInclude(t, "timeouts."+attribute, "timeouts."+attribute+" must be longer than 0s")
			}
		}
	}
	for name, schema := range p.Schemas().ResourceSchemas {
		try(schema, func(config acctest.Values) acctest.Outcome { return p.Plan(p.NewInstance(name), config) })
	}
	for name, schema := range p.Schemas().ActionSchemas {
		try(schema.Schema, func(config acctest.Values) acctest.Outcome {
			_, out := p.Invoke(name, config)
			return out
		})
	}
	if blocks < 6 {
		t.Errorf("%d timeouts blocks", blocks)
	}
}
