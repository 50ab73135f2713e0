package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/agentyard/terraform-provider-agentyard/internal/apart"
	"github.com/agentyard/terraform-provider-agentyard/internal/quiet"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
)

// NewServer returns a provider as Terraform and the tests talk to it: the framework's server, behind one that keeps the
// answers to failed creations apart, and one that answers the plans of unchanged objects.
func NewServer(ctx context.Context, version string, options ...Option) (*unchanged.Server, error) {
	p := newProvider(version, options)
	framework, err := providerserver.NewProtocol6WithError(p)()
	if err != nil {
		return nil, err
	}
	inner, ok := framework.(quiet.Server)
	if !ok {
		return nil, fmt.Errorf("the framework's server %T serves neither lists nor actions", framework)
	}
	return unchanged.New(ctx, apart.New(inner, p.clock), typeName, p.Resources(ctx))
}
