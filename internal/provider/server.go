package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/agentyard/terraform-provider-agentyard/internal/apart"
)

// NewServer returns the framework's server, behind one that spaces out the responses to failed creates.
func NewServer(version string, options ...Option) (apart.Server, error) {
	p := newProvider(version, options)
	framework, err := providerserver.NewProtocol6WithError(p)()
	if err != nil {
		return nil, err
	}
	inner, ok := framework.(apart.Server)
	if !ok {
		return nil, fmt.Errorf("the framework's server %T serves neither lists nor actions", framework)
	}
	return apart.New(inner, p.clock), nil
}
