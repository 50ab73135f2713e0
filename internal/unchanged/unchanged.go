// Package unchanged answers the plan of an object that nothing changes. Nearly all plans of a large configuration are
// such plans, and the framework works for each through every attribute of the schema, only to return the prior state.
package unchanged

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/agentyard/terraform-provider-agentyard/internal/quiet"
)

// Resource is a resource whose plan is empty wherever nobody asks for a change: its ModifyPlan and its plan modifiers
// look neither at the clock nor at the service, change nothing and warn of nothing while the plan is the prior state.
type Resource interface {
	resource.Resource
	// UnchangedDefaults returns every attribute to which the schema gives a default, with that default. Without them a
	// removal from the configuration would be missed: Terraform proposes the prior state, and the framework the default.
	UnchangedDefaults() map[string]attr.Value
}

// Conditional is a Resource whose plan is empty in that way only as long as the object is well.
type Conditional interface {
	Resource
	// UnchangedWhile returns the values that attributes must have in the prior state, and the keys of the private state
	// under which nothing may be left.
	UnchangedWhile() (values map[string]attr.Value, private []string)
}

// Server answers the plans of unchanged objects of declared types. All other calls go to the server inside.
type Server struct {
	quiet.Server
	types map[string]declared
}

type declared struct {
	// defaults are encoded as they are in a state.
	defaults map[string][]byte
	// values are what attributes must be in the prior state, encoded too, and private the keys that must hold nothing.
	values  map[string][]byte
	private []string
	// noIdentity is what the framework plans for an object without an identity.
	noIdentity *tfprotov6.ResourceIdentityData
}

var null = []byte{msgpcode.Nil}

// New returns a server in front of inner, which serves a provider of the given name and resources.
func New(ctx context.Context, inner quiet.Server, providerName string, resources []func() resource.Resource) (*Server, error) {
	s := &Server{Server: inner, types: map[string]declared{}}
	for _, construct := range resources {
		r, ok := construct().(Resource)
		if !ok {
			continue
		}
		var metadata resource.MetadataResponse
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: providerName}, &metadata)
		var d declared
		var err error
		if d.defaults, err = encodeAll(ctx, r.UnchangedDefaults()); err != nil {
			return nil, fmt.Errorf("the defaults of %s: %w", metadata.TypeName, err)
		}
		if c, ok := r.(Conditional); ok {
			values, private := c.UnchangedWhile()
			if d.values, err = encodeAll(ctx, values); err != nil {
				return nil, fmt.Errorf("the conditions of %s: %w", metadata.TypeName, err)
			}
			d.private = private
		}
		if _, ok := r.(resource.ResourceWithIdentity); ok {
			d.noIdentity = &tfprotov6.ResourceIdentityData{IdentityData: &tfprotov6.DynamicValue{MsgPack: null}}
		}
		s.types[metadata.TypeName] = d
	}
	return s, nil
}

func encodeAll(ctx context.Context, values map[string]attr.Value) (map[string][]byte, error) {
	encoded := make(map[string][]byte, len(values))
	for name, value := range values {
		v, err := value.ToTerraformValue(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		dynamic, err := tfprotov6.NewDynamicValue(v.Type(), v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		encoded[name] = dynamic.MsgPack
	}
	return encoded, nil
}

// PlanResourceChange asks the framework wherever there is something to plan.
func (s *Server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if resp := s.Unchanged(req); resp != nil {
		return resp, nil
	}
	return s.Server.PlanResourceChange(ctx, req)
}

// Unchanged returns the plan of an object that nothing changes, and nil where that is for the framework to find out:
// creations, destructions, differences, undeclared types, and clients to which the provider may answer "not yet".
func (s *Server) Unchanged(req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.PlanResourceChangeResponse {
	d, ok := s.types[req.TypeName]
	if !ok || req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed {
		return nil
	}
	prior := encoded(req.PriorState)
	if len(prior) <= len(null) || !bytes.Equal(encoded(req.ProposedNewState), prior) || !d.asConfigured(encoded(req.Config), prior) || d.leaves(req.PriorPrivate) {
		return nil
	}
	identity := req.PriorIdentity
	if identity == nil || identity.IdentityData == nil {
		identity = d.noIdentity
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: identity}
}

// asConfigured reports that each attribute with a default has its configured value or else its default, and each with a
// condition the value that this demands.
func (d declared) asConfigured(config, prior []byte) bool {
	if len(d.defaults) == 0 && len(d.values) == 0 {
		return true
	}
	configured, state := attributes(config), attributes(prior)
	for name, wanted := range d.values {
		if !bytes.Equal(state[name], wanted) {
			return false
		}
	}
	for name, wanted := range d.defaults {
		if value := configured[name]; len(value) > 0 {
			wanted = value
		}
		if !bytes.Equal(state[name], wanted) {
			return false
		}
	}
	return configured != nil
}

// leaves reports that the private state holds something under one of the keys that must hold nothing.
func (d declared) leaves(private []byte) bool {
	if len(d.private) == 0 || len(private) == 0 {
		return false
	}
	var values map[string][]byte
	if json.Unmarshal(private, &values) != nil {
		return true
	}
	return slices.ContainsFunc(d.private, func(key string) bool { return len(values[key]) > 0 })
}

// attributes returns the encoded attributes of an encoded object, empty where they are null, and nil of anything else.
func attributes(object []byte) map[string]msgpack.RawMessage {
	var values map[string]msgpack.RawMessage
	if msgpack.Unmarshal(object, &values) != nil {
		return nil
	}
	return values
}

func encoded(value *tfprotov6.DynamicValue) []byte {
	if value == nil {
		return nil
	}
	return value.MsgPack
}
