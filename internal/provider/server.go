package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the framework's server behind layers for what concerns all objects. A request passes the layers from top to bottom, and
// its response from bottom to top.
func NewServer(version string, options ...Option) (Server, error) {
	p := newProvider(version, options)
	framework, err := providerserver.NewProtocol6WithError(p)()
	if err != nil {
		return nil, err
	}
	server, ok := framework.(Server)
	if !ok {
		return nil, fmt.Errorf("the framework's server %T serves neither lists nor actions", framework)
	}
	if p.schemas == nil {
		if p.schemas, err = server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
			return nil, err
		}
	}
	layers := []func(Server) Server{
		// Responses to failed creates keep a distance from all others: otherwise, Terraform 1.16.4 may crash and lose its state.
		func(inner Server) Server { return &failedCreatePacer{Server: inner, clock: p.clock} },
		// An object with deletion_protection is neither destroyed nor replaced.
		func(inner Server) Server { return protectionServer{inner} },
		// Null elements, and numbers that JSON cannot carry, are errors.
		func(inner Server) Server { return valueServer{inner, p.schemas} },
		// What is unchanged is read and planned here, because the framework takes milliseconds for each object.
		func(inner Server) Server { return &shortcutServer{inner, p, p.shortcuts(context.Background())} },
		// A name in place of an ID fails the plan, and not only the apply.
		func(inner Server) Server { return idServer{inner, p, p.schemas} },
	}
	for _, layer := range slices.Backward(layers) {
		server = layer(server)
	}
	return server, nil
}
