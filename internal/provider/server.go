package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the framework's server, behind the servers for what concerns all objects.
func NewServer(version string, options ...Option) (Server, error) {
	p := newProvider(version, options)
	framework, err := providerserver.NewProtocol6WithError(p)()
	if err != nil {
		return nil, err
	}
	inner, ok := framework.(Server)
	if !ok {
		return nil, fmt.Errorf("the framework's server %T serves neither lists nor actions", framework)
	}
	if p.schemas == nil {
		if p.schemas, err = inner.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
			return nil, err
		}
	}
	unchanged, err := newUnchangedServer(context.Background(), referenceServer{inner, p, p.schemas}, p)
	if err != nil {
		return nil, err
	}
	return newPacedServer(planServer{configServer{unchanged, p.schemas}}, p.clock), nil
}
