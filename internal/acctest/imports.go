package acctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Import imports an object by its import ID, as `terraform import` does, and refreshes it.
func (p *Process) Import(i *Instance, id string) Outcome {
	p.t.Helper()
	return p.importObject(i, &tfprotov6.ImportResourceStateRequest{TypeName: i.Type, ID: id})
}

// ImportByIdentity imports an object by its identity, as an import block does, and refreshes it.
func (p *Process) ImportByIdentity(i *Instance, identity Values) Outcome {
	p.t.Helper()
	schemas, err := p.server.GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	typ := schemas.IdentitySchemas[i.Type].ValueType()
	data := &tfprotov6.ResourceIdentityData{IdentityData: dynamic(p.t, typ, valueOf(p.t, typ, map[string]any(identity)))}
	return p.importObject(i, &tfprotov6.ImportResourceStateRequest{TypeName: i.Type, Identity: data})
}

func (p *Process) importObject(i *Instance, request *tfprotov6.ImportResourceStateRequest) Outcome {
	p.t.Helper()
	var out Outcome
	resp, err := p.server.ImportResourceState(context.Background(), request)
	if err != nil {
		p.collect(&out, nil, err)
		return out
	}
	p.collect(&out, resp.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return out
	}
	imported := resp.ImportedResources[0]
	i.State, i.private, i.identity, i.Tainted = p.value(p.schemas[i.Type].ValueType(), imported.State), imported.Private, imported.Identity, false
	p.refresh(i, &out)
	if i.State.IsNull() && len(out.Errors) == 0 {
		p.t.Fatalf("%s %+v does not exist", i.Type, request)
	}
	return out
}
