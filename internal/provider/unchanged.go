package provider

import (
	"bytes"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// unchangedServer answers reads and plans of unchanged objects itself. The framework converts each object several times, which
// takes most of the time of a plan of thousands of objects. Whatever is unusual goes to the framework.
type unchangedServer struct {
	Server
	provider *agentyardProvider
	steady   map[string]steadyType
}

// steadyType is a type of resource whose unchanged objects are answered here.
type steadyType struct {
	new      func() resource.Resource
	defaults map[string]tftypes.Value
}

func newUnchangedServer(ctx context.Context, inner Server, p *agentyardProvider) (Server, error) {
	s := &unchangedServer{Server: inner, provider: p, steady: map[string]steadyType{}}
	for _, construct := range p.Resources(ctx) {
		r := construct()
		if _, ok := r.(crud.Steady); !ok {
			continue
		}
		var metadata resource.MetadataResponse
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: typeName}, &metadata)
		var described resource.SchemaResponse
		r.Schema(ctx, resource.SchemaRequest{}, &described)
		defaults, err := crud.Defaults(ctx, described.Schema)
		if err != nil {
			return nil, fmt.Errorf("defaults of %s: %w", metadata.TypeName, err)
		}
		s.steady[metadata.TypeName] = steadyType{construct, defaults}
	}
	return s, nil
}

// steadyObject is an object of the state that may be answered here.
type steadyObject struct {
	crud.Steady
	steadyType
	state *crud.Stored
}

// find returns nil if the framework must answer: the type does not take part, the provider has no client, the object is not in the
// usual encoding, or a read would change its identity or the key that last read it.
func (s *unchangedServer) find(ctx context.Context, typeName string, object *tfprotov6.DynamicValue, private []byte, identity *tfprotov6.ResourceIdentityData) *steadyObject {
	typ, ok := s.steady[typeName]
	c := s.provider.client.Load()
	if !ok || c == nil || c.Conn.Configured() != nil || identity == nil {
		return nil
	}
	state, id := crud.NewStored(object, private), crud.NewStored(identity.IdentityData, nil)
	if state == nil || id == nil || !id.IsPartOf(state) || !state.WasSeenBy(ctx, c) {
		return nil
	}
	r, ok := typ.new().(crud.Steady)
	if !ok {
		return nil
	}
	var configured resource.ConfigureResponse
	r.Configure(ctx, resource.ConfigureRequest{ProviderData: c}, &configured)
	return &steadyObject{r, typ, state}
}

func (s *unchangedServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	o := s.find(ctx, req.TypeName, req.CurrentState, req.Private, req.CurrentIdentity)
	if o == nil || o.lacksDefault() || !o.IsCurrent(ctx, o.state) {
		return s.Server.ReadResource(ctx, req)
	}
	answer := &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity}
	if s.provider.shadow != nil {
		framework, err := s.Server.ReadResource(ctx, req)
		s.provider.shadow(req.TypeName, answer, framework, err)
	}
	return answer, nil
}

// lacksDefault reports whether an attribute is null that a read sets to its default.
func (o *steadyObject) lacksDefault() bool {
	for name := range o.defaults {
		if o.state.IsNull(name) {
			return true
		}
	}
	return false
}

func (s *unchangedServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.PriorState == nil || req.ProposedNewState == nil || !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return s.Server.PlanResourceChange(ctx, req)
	}
	o := s.find(ctx, req.TypeName, req.PriorState, req.PriorPrivate, req.PriorIdentity)
	config := crud.NewStored(req.Config, nil)
	if o == nil || config == nil || o.changesDefault(config) || !o.IsSettled(o.state, config) {
		return s.Server.PlanResourceChange(ctx, req)
	}
	answer := &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity}
	if s.provider.shadow != nil {
		framework, err := s.Server.PlanResourceChange(ctx, req)
		s.provider.shadow(req.TypeName, answer, framework, err)
	}
	return answer, nil
}

// changesDefault reports whether a plan sets an omitted argument to its default.
func (o *steadyObject) changesDefault(config *crud.Stored) bool {
	for name, value := range o.defaults {
		if config.IsNull(name) && !o.state.Is(name, value) {
			return true
		}
	}
	return false
}
