package acctest

import (
	"bytes"
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
)

// compared is the provider as main serves it, but for one thing: it demands of every plan that was answered without the
// framework that the framework answers the same.
type compared struct {
	*unchanged.Server
	t testing.TB
}

func newServer(t testing.TB, version string, options ...provider.Option) (tfprotov6.ProviderServer, error) {
	server, err := provider.NewServer(context.Background(), version, options...)
	return compared{server, t}, err
}

func (c compared) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	ComparePlans(ctx, c.t, c.Server, req)
	return c.Server.PlanResourceChange(ctx, req)
}

// ComparePlans fails the test where a plan is answered without the framework and the framework answers something else.
// It reports whether the framework was needed.
func ComparePlans(ctx context.Context, t testing.TB, server *unchanged.Server, req *tfprotov6.PlanResourceChangeRequest) (asked bool) {
	t.Helper()
	got := server.Unchanged(req)
	if got == nil {
		return true
	}
	want, err := server.Server.PlanResourceChange(ctx, req)
	if err != nil {
		t.Errorf("%s: the framework fails: %v", req.TypeName, err)
		return false
	}
	for _, d := range want.Diagnostics {
		t.Errorf("%s: the framework says: %s: %s", req.TypeName, d.Summary, d.Detail)
	}
	for _, path := range want.RequiresReplace {
		t.Errorf("%s: the framework replaces because of %s", req.TypeName, path)
	}
	if want.Deferred != nil {
		t.Errorf("%s: the framework defers", req.TypeName)
	}
	if !bytes.Equal(got.PlannedState.MsgPack, want.PlannedState.MsgPack) && !sameState(ctx, t, server, req.TypeName, got.PlannedState, want.PlannedState) {
		t.Errorf("%s: the state is planned to be %q, by the framework %q", req.TypeName, got.PlannedState.MsgPack, want.PlannedState.MsgPack)
	}
	if !bytes.Equal(got.PlannedPrivate, want.PlannedPrivate) {
		t.Errorf("%s: the private state is planned to be %q, by the framework %q", req.TypeName, got.PlannedPrivate, want.PlannedPrivate)
	}
	if !bytes.Equal(identityOf(got), identityOf(want)) {
		t.Errorf("%s: the identity is planned to be %q, by the framework %q", req.TypeName, identityOf(got), identityOf(want))
	}
	return false
}

// sameState compares what may be encoded otherwise: the keys of a map come in any order.
func sameState(ctx context.Context, t testing.TB, server *unchanged.Server, typeName string, a, b *tfprotov6.DynamicValue) bool {
	t.Helper()
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Errorf("%s: the schema: %v", typeName, err)
		return false
	}
	typ := schemas.ResourceSchemas[typeName].ValueType()
	x, errX := a.Unmarshal(typ)
	y, errY := b.Unmarshal(typ)
	return errX == nil && errY == nil && x.Equal(y)
}

func identityOf(resp *tfprotov6.PlanResourceChangeResponse) []byte {
	if resp.PlannedIdentity == nil || resp.PlannedIdentity.IdentityData == nil {
		return nil
	}
	return resp.PlannedIdentity.IdentityData.MsgPack
}
