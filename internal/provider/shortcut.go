package provider

import (
	"bytes"
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// shortcutServer answers reads and plans of unchanged objects itself. The framework converts each object several times, which
// takes most of the time of a plan of thousands of objects. Whatever is unusual goes to the framework.
type shortcutServer struct {
	Server
	provider  *agentyardProvider
	shortcuts map[string]shortcutType
}

// shortcutType is a type of resource whose unchanged objects are answered here.
type shortcutType struct {
	new      func() resource.Resource
	defaults map[string]tftypes.Value
}

// shortcuts returns the types with a shortcut by name. A type has one if the framework takes more than 2 ms for an object, and organizations
// have thousands of them. There are none if a user has switched the shortcuts off.
func (p *agentyardProvider) shortcuts(ctx context.Context) map[string]shortcutType {
	types := map[string]shortcutType{}
	if os.Getenv(EnvNoShortcut) != "" {
		return types
	}
	for _, construct := range p.Resources(ctx) {
		r := construct()
		if _, ok := r.(crud.Shortcut); !ok {
			continue
		}
		var metadata resource.MetadataResponse
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: typeName}, &metadata)
		var described resource.SchemaResponse
		r.Schema(ctx, resource.SchemaRequest{}, &described)
		types[metadata.TypeName] = shortcutType{construct, crud.Defaults(ctx, described.Schema)}
	}
	return types
}

// shortcutObject is an object of the state that may be answered here.
type shortcutObject struct {
	crud.Shortcut
	shortcutType
	state *crud.RawObject
}

// find returns nil if the framework must answer: the type does not take part, the provider has no client, the object is not in the
// usual encoding, or a read would change its identity or the key that last read it.
func (s *shortcutServer) find(ctx context.Context, typeName string, object *tfprotov6.DynamicValue, private []byte, identity *tfprotov6.ResourceIdentityData) *shortcutObject {
	typ, ok := s.shortcuts[typeName]
	c := s.provider.client.Load()
	if !ok || c == nil || c.Conn.Configured() != nil || identity == nil {
		return nil
	}
	state, id := crud.DecodeRaw(object, private), crud.DecodeRaw(identity.IdentityData, nil)
	if state == nil || id == nil || !id.IsContainedIn(state) || !state.WasReadBy(ctx, c) {
		return nil
	}
	r, ok := typ.new().(crud.Shortcut)
	if !ok {
		return nil
	}
	var configured resource.ConfigureResponse
	r.Configure(ctx, resource.ConfigureRequest{ProviderData: c}, &configured)
	return &shortcutObject{r, typ, state}
}

func (s *shortcutServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	o := s.find(ctx, req.TypeName, req.CurrentState, req.Private, req.CurrentIdentity)
	if o == nil || o.lacksDefault() || !o.ReadIsUnchanged(ctx, o.state) {
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
func (o *shortcutObject) lacksDefault() bool {
	for name := range o.defaults {
		if o.state.IsNull(name) {
			return true
		}
	}
	return false
}

func (s *shortcutServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.PriorState == nil || req.ProposedNewState == nil || !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return s.Server.PlanResourceChange(ctx, req)
	}
	o := s.find(ctx, req.TypeName, req.PriorState, req.PriorPrivate, req.PriorIdentity)
	config := crud.DecodeRaw(req.Config, nil)
	if o == nil || config == nil || o.changesDefault(config) || !o.PlanIsUnchanged(o.state, config) {
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
func (o *shortcutObject) changesDefault(config *crud.RawObject) bool {
	for name, value := range o.defaults {
		if config.IsNull(name) && !o.state.Equals(name, value) {
			return true
		}
	}
	return false
}
