package provider_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
)

// Every type that declares its plans to be empty where nothing changes keeps its word, whatever of its schema is set,
// removed or null, and whatever comes with it. What the framework is asked for is its own answer anyway.
func TestServer_declaredTypesPlanAsTheFrameworkDoes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	servers := map[string]*unchanged.Server{
		"configured":       newServer(t, e.URL(), false),
		"unknown settings": newServer(t, tftypes.UnknownValue, false),
		"deferred":         newServer(t, tftypes.UnknownValue, true),
	}
	schemas, err := servers["configured"].GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	identities, err := servers["configured"].GetResourceIdentitySchemas(context.Background(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for typeName, well := range declaredTypes(t) {
		for server, served := range servers {
			t.Run(typeName+"/"+server, func(t *testing.T) {
				t.Parallel()
				answered := 0
				for _, c := range planCases(t, schemas.ResourceSchemas[typeName], well) {
					req := acctest.PlanRequest(t, typeName, schemas.ResourceSchemas[typeName], c.prior, c.config)
					for _, around := range circumstances(t, identities.IdentitySchemas[typeName].ValueType()) {
						req.PriorPrivate, req.PriorIdentity, req.ClientCapabilities = around.private, around.identity, nil
						if server == "deferred" || around.deferral {
							req.ClientCapabilities = &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: true}
						}
						asked := acctest.ComparePlans(t.Context(), t, served, req)
						if !asked {
							answered++
						}
						switch {
						case req.ClientCapabilities != nil || c.differs:
							if !asked {
								t.Errorf("%s: the framework was not asked", c.name)
							}
						case c.name == "unchanged" && asked:
							t.Errorf("%s: the framework was asked", c.name)
						}
						if t.Failed() {
							t.Fatalf("%s, with %s", c.name, around.name)
						}
					}
				}
				if answered == 0 && server != "deferred" {
					t.Error("every plan went to the framework")
				}
			})
		}
	}
}

// declaredTypes are the names of the types that declare it, each with the values on whose condition it does.
func declaredTypes(t *testing.T) map[string]map[string]tftypes.Value {
	t.Helper()
	declared := map[string]map[string]tftypes.Value{}
	for _, construct := range provider.New("test")().Resources(context.Background()) {
		r, ok := construct().(unchanged.Resource)
		if !ok {
			continue
		}
		var metadata resource.MetadataResponse
		r.Metadata(context.Background(), resource.MetadataRequest{ProviderTypeName: "agentyard"}, &metadata)
		well := map[string]tftypes.Value{}
		if c, ok := r.(unchanged.Conditional); ok {
			values, _ := c.UnchangedWhile()
			for name, value := range values {
				v, err := value.ToTerraformValue(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				well[name] = v
			}
		}
		declared[metadata.TypeName] = well
	}
	if declared["agentyard_api_key"] != nil {
		t.Error("keys become due by the clock, so their plans may not be declared empty")
	}
	return declared
}

// newServer is the provider as it is served. Its base_url is known or not.
func newServer(t *testing.T, baseURL any, deferral bool) *unchanged.Server {
	t.Helper()
	ctx := context.Background()
	server, err := provider.NewServer(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	object := schemas.Provider.ValueType().(tftypes.Object)
	settings := map[string]tftypes.Value{}
	for name, typ := range object.AttributeTypes {
		settings[name] = tftypes.NewValue(typ, nil)
	}
	settings["base_url"], settings["api_key"] = tftypes.NewValue(tftypes.String, baseURL), tftypes.NewValue(tftypes.String, "fk-x")
	config, err := tfprotov6.NewDynamicValue(object, tftypes.NewValue(object, settings))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.16.4", Config: &config, ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: deferral},
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("configuring the provider: %v, %v", err, resp)
	}
	return server
}

// planCase is a state and a configuration.
type planCase struct {
	name          string
	prior, config tftypes.Value
	// differs is set where the configuration asks for something else than what the state holds.
	differs bool
}

// planCases are an object of which everything is set, some of it to given values, and each way in which one attribute differs from that.
func planCases(t *testing.T, schema *tfprotov6.Schema, given map[string]tftypes.Value) []planCase {
	t.Helper()
	typ := schema.ValueType().(tftypes.Object)
	null := tftypes.NewValue(typ, nil)
	var cases []planCase
	for variant := range 2 {
		prior, others := attributesOf(t, sample(t, typ, variant)), attributesOf(t, sample(t, typ, 1-variant))
		maps.Copy(prior, given)
		config := map[string]tftypes.Value{}
		for name, v := range prior {
			config[name] = v
		}
		for _, attribute := range schema.Block.Attributes {
			if !attribute.Optional && !attribute.Required {
				config[attribute.Name] = tftypes.NewValue(attribute.ValueType(), nil)
			}
		}
		add := func(name string, prior, config map[string]tftypes.Value, differs bool) {
			cases = append(cases, planCase{fmt.Sprintf("%s (%d)", name, variant), tftypes.NewValue(typ, prior), tftypes.NewValue(typ, config), differs})
		}
		cases = append(cases,
			planCase{name: "unchanged", prior: tftypes.NewValue(typ, prior), config: tftypes.NewValue(typ, config)},
			planCase{name: "created", prior: null, config: tftypes.NewValue(typ, config), differs: true},
			planCase{name: "destroyed", prior: tftypes.NewValue(typ, prior), config: null, differs: true},
		)
		least := config
		for _, attribute := range schema.Block.Attributes {
			name, none := attribute.Name, tftypes.NewValue(attribute.ValueType(), nil)
			add(name+" is null", with(prior, name, none), with(config, name, none), false)
			if !attribute.Optional && !attribute.Required {
				continue
			}
			add(name+" is changed", prior, with(config, name, others[name]), true)
			add(name+" is set", with(prior, name, none), config, true)
			add(name+" is unknown", prior, with(config, name, tftypes.NewValue(attribute.ValueType(), tftypes.UnknownValue)), true)
			if attribute.Optional {
				add(name+" is removed", prior, with(config, name, none), !attribute.Computed)
				least = with(least, name, none)
			}
		}
		add("all that is optional is removed", prior, least, false)
		for _, block := range schema.Block.BlockTypes {
			add(block.TypeName+" is changed", prior, with(config, block.TypeName, others[block.TypeName]), true)
		}
	}
	return cases
}

func with(values map[string]tftypes.Value, name string, v tftypes.Value) map[string]tftypes.Value {
	changed := map[string]tftypes.Value{name: v}
	for other, v := range values {
		if other != name {
			changed[other] = v
		}
	}
	return changed
}

func attributesOf(t *testing.T, v tftypes.Value) map[string]tftypes.Value {
	t.Helper()
	var attributes map[string]tftypes.Value
	if err := v.As(&attributes); err != nil {
		t.Fatal(err)
	}
	return attributes
}

// sample is a value of a type in which everything is set, in one of two variants.
func sample(t *testing.T, typ tftypes.Type, variant int) tftypes.Value {
	t.Helper()
	switch typ := typ.(type) {
	case tftypes.Object:
		attributes := map[string]tftypes.Value{}
		for name, attribute := range typ.AttributeTypes {
			attributes[name] = sample(t, attribute, variant)
		}
		return tftypes.NewValue(typ, attributes)
	case tftypes.List:
		return tftypes.NewValue(typ, []tftypes.Value{sample(t, typ.ElementType, variant)})
	case tftypes.Set:
		return tftypes.NewValue(typ, []tftypes.Value{sample(t, typ.ElementType, variant)})
	case tftypes.Map:
		return tftypes.NewValue(typ, map[string]tftypes.Value{"a": sample(t, typ.ElementType, variant)})
	}
	switch {
	case typ.Is(tftypes.String):
		return tftypes.NewValue(typ, []string{"1", "2"}[variant]) // JSON, for the strings that hold some.
	case typ.Is(tftypes.Bool):
		return tftypes.NewValue(typ, variant == 0)
	case typ.Is(tftypes.Number):
		return tftypes.NewValue(typ, big.NewFloat(float64(variant)))
	}
	t.Fatalf("no sample of %s", typ)
	return tftypes.Value{}
}

type circumstance struct {
	name     string
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	deferral bool
}

// circumstances are what comes with a state. Terraform 1.5 knows no identity, and an imported object has marks.
func circumstances(t *testing.T, typ tftypes.Type) []circumstance {
	t.Helper()
	id, err := tfprotov6.NewDynamicValue(typ, sample(t, typ, 0))
	if err != nil {
		t.Fatal(err)
	}
	none, err := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, nil))
	if err != nil {
		t.Fatal(err)
	}
	return []circumstance{
		{name: "nothing"},
		{name: "an identity", identity: &tfprotov6.ResourceIdentityData{IdentityData: &id}},
		{name: "a null identity", identity: &tfprotov6.ResourceIdentityData{IdentityData: &none}},
		{name: "an empty identity", identity: &tfprotov6.ResourceIdentityData{}},
		{name: "the mark of an import", private: []byte(`{"imported":"InVucmVhZCI="}`), identity: &tfprotov6.ResourceIdentityData{IdentityData: &id}},
		{name: "the time of an import", private: []byte(`{"imported":"IjIwMjYtMDMtMDFUMTI6MDA6MDBaIg=="}`), identity: &tfprotov6.ResourceIdentityData{IdentityData: &id}},
		{name: "marks of others", private: []byte(`{".frameworkKey":"e30=","another":"dHJ1ZQ=="}`)},
		{name: "deferral allowed", deferral: true},
	}
}

// What the proposed state hides, and what only a refresh shows, is planned as ever.
func TestAccServer_plansWhatIsNotUnchanged(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	hcl := func(arguments string) string {
		return "resource \"agentyard_computer\" \"x\" {\n  name = \"x\"\n  provider_type = \"byom\"\n" + arguments + "}\n"
	}
	cli := acctest.NewCLI(t, e, hcl("  wait_for_active = false\n"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()

	plan := func(want string, args ...string) {
		t.Helper()
		r := cli.MustRun(append([]string{"plan", "-input=false"}, args...)...)
		if !strings.Contains(r.Output, want) {
			t.Errorf("plan %v does not say %q: %s", args, want, r.Output)
		}
	}
	cli.Write("main.tf", hcl(""))
	plan("= false -> true")
	plan("= false -> true", "-refresh=false")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	plan("No changes", "-refresh=false")
	plan("replaced, as requested", "-replace=agentyard_computer.x")
	plan("1 to destroy", "-destroy")

	var found struct{ Computers []struct{ ID string } }
	e.API(http.MethodGet, "/api/v0/computers", nil, &found)
	if len(found.Computers) != 1 {
		t.Fatalf("there are %+v", found)
	}
	e.API(http.MethodPatch, "/api/v0/computers/"+found.Computers[0].ID, map[string]any{"name": "y"}, nil)
	plan(`"y" -> "x"`)
	plan("No changes", "-refresh=false")
	plan(`"x" -> "y"`, "-refresh-only")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}
