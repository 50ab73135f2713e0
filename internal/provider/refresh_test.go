package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// Whatever is in a state, its refresh tells a plan from an apply, which alone may not call anything a leftover.
func TestResources_noteTheRefresh(t *testing.T) {
	t.Parallel()
	resources := provider.New("test")().Resources(t.Context())
	if len(resources) < 10 {
		t.Fatalf("%d resources", len(resources))
	}
	for _, newResource := range append(resources, nil) {
		name := "none"
		var r resource.Resource
		if newResource != nil {
			var meta resource.MetadataResponse
			r = newResource()
			r.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "agentyard"}, &meta)
			name = meta.TypeName
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientWithLeftover(t)
			if r != nil {
				readNothing(t, r, c)
			}
			err := c.ForeseeSession(t.Context(), client.CreateSessionRequest{ComputerID: "7"})
			var left *client.LeftoverError
			if !errors.As(err, &left) || left.MayBeHeld != (r == nil) {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// clientWithLeftover is a client that has listed a session, which somebody has made just now. The service has nothing else.
func clientWithLeftover(t *testing.T) *client.Client {
	t.Helper()
	session := fmt.Sprintf(`{"sessionId":"s1","status":"idle","messageCount":0,"computerId":"7","createdAt":%d,"sessionSettings":{"model":"some"}}`, time.Now().UnixMilli())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v0/sessions" {
			_, _ = io.WriteString(w, `{"sessions":[`+session+`],"pagination":{"hasMore":false}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"none","status":404,"title":"Not Found"}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL, APIKey: "fk-x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ForeseeSession(t.Context(), client.CreateSessionRequest{ComputerID: "7", Settings: &client.SessionSettings{Model: new("other")}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// readNothing reads a resource whose state has nothing but nulls.
func readNothing(t *testing.T, r resource.Resource, c *client.Client) {
	t.Helper()
	var configured resource.ConfigureResponse
	r.(resource.ResourceWithConfigure).Configure(t.Context(), resource.ConfigureRequest{ProviderData: c}, &configured)
	var schema resource.SchemaResponse
	r.Schema(t.Context(), resource.SchemaRequest{}, &schema)
	object := schema.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
	nulls := map[string]tftypes.Value{}
	for name, typ := range object.AttributeTypes {
		nulls[name] = tftypes.NewValue(typ, nil)
	}
	state := tfsdk.State{Schema: schema.Schema, Raw: tftypes.NewValue(object, nulls)}
	resp := resource.ReadResponse{State: state}
	resp.Private = empty(resp.Private)
	r.Read(t.Context(), resource.ReadRequest{State: state, Private: resp.Private}, &resp)
}

// empty is an empty private state, whose type cannot be named here.
func empty[T any](*T) *T { return new(T) }
