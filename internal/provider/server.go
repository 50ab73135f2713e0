package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// NewServer returns the framework's server, behind one that spaces out the responses to failed creates.
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
	unchanged, err := newUnchangedServer(context.Background(), inner, p)
	if err != nil {
		return nil, err
	}
	checked, err := newConfigServer(context.Background(), unchanged)
	if err != nil {
		return nil, err
	}
	return newPacedServer(recoveryServer{planServer{checked}}, p.clock), nil
}
