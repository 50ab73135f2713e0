package crud

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// Shortcut is a resource whose unchanged objects are read and planned without decoding them: a plan of thousands of objects spends
// most of its time on that. False always means that the framework answers, so anything unusual is false, such as private state
// that asks for work (IsAtRest).
type Shortcut interface {
	resource.ResourceWithConfigure
	// ReadIsUnchanged reports whether the object in a listing that reads already share equals the state. It sends no request.
	ReadIsUnchanged(ctx context.Context, state *RawObject) bool
	// PlanIsUnchanged reports whether the plan of the object is its state if Terraform proposes that.
	PlanIsUnchanged(state, config *RawObject) bool
}

// RawObject is an object or a configuration as Terraform sends it.
type RawObject struct {
	attributes map[string][]byte
	private    map[string][]byte
}

// null is how Terraform encodes a null value.
var null = []byte{0xc0}

// DecodeRaw splits an object and its private state. It returns nil if Terraform sends another encoding, or no object.
func DecodeRaw(object *tfprotov6.DynamicValue, private []byte) *RawObject {
	if object == nil {
		return nil
	}
	decoder := msgpack.NewDecoder(bytes.NewReader(object.MsgPack))
	n, err := decoder.DecodeMapLen()
	if err != nil || n < 0 {
		return nil
	}
	s := &RawObject{attributes: make(map[string][]byte, n)}
	for range n {
		name, err := decoder.DecodeString()
		if err != nil {
			return nil
		}
		if s.attributes[name], err = decoder.DecodeRaw(); err != nil {
			return nil
		}
	}
	if len(private) > 0 && json.Unmarshal(private, &s.private) != nil {
		return nil
	}
	return s
}

// GetKey returns a value of the private state, as the framework's does.
func (s *RawObject) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) {
	return s.private[key], nil
}

// IsNull reports whether an attribute is null.
func (s *RawObject) IsNull(name string) bool { return bytes.Equal(s.attributes[name], null) }

// String returns a string attribute; empty if it is null or of another type.
func (s *RawObject) String(name string) (text string) {
	_ = msgpack.Unmarshal(s.attributes[name], &text)
	return text
}

// Bool reports whether an attribute is true.
func (s *RawObject) Bool(name string) bool { return bytes.Equal(s.attributes[name], []byte{0xc3}) }

// Time returns an attribute with a time; the zero time if it is null.
func (s *RawObject) Time(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, s.String(name))
	return at
}

// Equals reports whether an attribute has a value.
func (s *RawObject) Equals(name string, value tftypes.Value) bool {
	encoded, err := tfprotov6.NewDynamicValue(value.Type(), value)
	return err == nil && bytes.Equal(encoded.MsgPack, s.attributes[name])
}

// HasValuesOf reports whether the state has the values of a record. It does not compare the fields that the caller compares itself.
func HasValuesOf[R any](ctx context.Context, s *RawObject, fields results.Fields[R], record R, compared ...string) bool {
	for name, field := range fields {
		if slices.Contains(compared, name) {
			continue
		}
		value, err := field.Value(record).ToTerraformValue(ctx)
		if err != nil || !s.Equals(name, value) {
			return false
		}
	}
	return true
}

// IsAtRest reports whether the private state asks for nothing.
func (s *RawObject) IsAtRest(alsoAtRest ...string) bool {
	return privatestate.IsAtRest(s.private, alsoAtRest...)
}

// WasReadBy reports whether the provider's API key, or its key_owner, last read the object.
func (s *RawObject) WasReadBy(ctx context.Context, c *client.Client) bool {
	by, ok := privatestate.ReaderOf(ctx, s)
	return ok && by.Hash == c.Conn.KeyFingerprint(by.Salt)
}

// IsContainedIn reports whether another object has the same values of all its attributes.
func (s *RawObject) IsContainedIn(other *RawObject) bool {
	for name := range s.attributes {
		if !bytes.Equal(s.attributes[name], other.attributes[name]) {
			return false
		}
	}
	return true
}
