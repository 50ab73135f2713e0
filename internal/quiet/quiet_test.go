package quiet

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

type key struct{}

// recorder is a server that remembers the context of its last call.
type recorder struct {
	Server
	ctx context.Context
}

func (r *recorder) ValidateResourceConfig(ctx context.Context, _ *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) UpgradeResourceState(ctx context.Context, _ *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) ReadResource(ctx context.Context, _ *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) PlanResourceChange(ctx context.Context, _ *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) ApplyResourceChange(ctx context.Context, _ *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) ImportResourceState(ctx context.Context, _ *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	r.ctx = ctx
	return nil, nil
}

func (r *recorder) ReadDataSource(ctx context.Context, _ *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	r.ctx = ctx
	return nil, nil
}

// A call sees no logger, and still ends when Terraform ends it.
func TestWithout(t *testing.T) {
	t.Parallel()
	inner := &recorder{}
	server := Without(inner)
	for name, call := range map[string]func(context.Context) error{
		"validate": func(ctx context.Context) error { _, err := server.ValidateResourceConfig(ctx, nil); return err },
		"upgrade":  func(ctx context.Context) error { _, err := server.UpgradeResourceState(ctx, nil); return err },
		"read":     func(ctx context.Context) error { _, err := server.ReadResource(ctx, nil); return err },
		"plan":     func(ctx context.Context) error { _, err := server.PlanResourceChange(ctx, nil); return err },
		"apply":    func(ctx context.Context) error { _, err := server.ApplyResourceChange(ctx, nil); return err },
		"import":   func(ctx context.Context) error { _, err := server.ImportResourceState(ctx, nil); return err },
		"data":     func(ctx context.Context) error { _, err := server.ReadDataSource(ctx, nil); return err },
	} {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "a logger"))
		if err := call(ctx); err != nil {
			t.Fatal(err)
		}
		if inner.ctx.Value(key{}) != nil {
			t.Errorf("%s sees the values of the call", name)
		}
		cancel()
		if !errors.Is(inner.ctx.Err(), context.Canceled) {
			t.Errorf("%s does not end with the call", name)
		}
	}
}
