// Package quiet keeps the plugin libraries from preparing log lines that nobody reads.
package quiet

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Server is what a provider of this project serves.
type Server interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// Without returns a server whose heavy calls see no logger. For every value of a state the framework derives a logger
// that names the value's path, at any log level, and holds all of them until the call ends. That costs a sixth of the
// processor time of a plan, and a good part of the memory where a state holds thousands of nested objects.
func Without(server Server) Server { return &unlogged{server} }

type unlogged struct{ Server }

// noValues is a context that ends with its parent and has none of its values, of which the loggers are the only ones.
type noValues struct{ context.Context }

func (noValues) Value(any) any { return nil }

func withoutValues(ctx context.Context) context.Context { return noValues{ctx} }

func (s *unlogged) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return s.Server.ValidateResourceConfig(withoutValues(ctx), req)
}

func (s *unlogged) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return s.Server.UpgradeResourceState(withoutValues(ctx), req)
}

func (s *unlogged) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return s.Server.ReadResource(withoutValues(ctx), req)
}

func (s *unlogged) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return s.Server.PlanResourceChange(withoutValues(ctx), req)
}

func (s *unlogged) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return s.Server.ApplyResourceChange(withoutValues(ctx), req)
}

func (s *unlogged) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return s.Server.ImportResourceState(withoutValues(ctx), req)
}

func (s *unlogged) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return s.Server.ReadDataSource(withoutValues(ctx), req)
}
