package provider_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

func TestProvider_settings(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for name, tc := range map[string]struct {
		settings acctest.Values
		at       string
		want     []string
	}{
		"no base_url":          {acctest.Values{"base_url": nil}, "base_url", []string{"Missing base URL", "AGENTYARD_BASE_URL"}},
		"no api_key":           {acctest.Values{"api_key": nil}, "api_key", []string{"Missing API key", "AGENTYARD_API_KEY"}},
		"malformed base_url":   {acctest.Values{"base_url": "agentyard"}, "base_url", []string{"Invalid base URL"}},
		"path in base_url":     {acctest.Values{"base_url": "https://x.example/api/v0"}, "base_url", []string{"Invalid base URL", "must not include"}},
		"plain http":           {acctest.Values{"base_url": "http://agentyard.example"}, "base_url", []string{"Invalid base URL", "allow_insecure_http"}},
		"key with a blank":     {acctest.Values{"api_key": "fk-a b"}, "api_key", []string{"Invalid API key"}},
		"key in quotes":        {acctest.Values{"api_key": `"fk-a"`}, "api_key", []string{"Invalid API key", "without quotes"}},
		"request_timeout":      {acctest.Values{"request_timeout": "soon"}, "request_timeout", []string{`must be a duration of at least 1s, such as "30s", "2m", not "soon"`}},
		"request_timeout zero": {acctest.Values{"request_timeout": "0s"}, "request_timeout", []string{"at least 1s"}},
		"max_retries":          {acctest.Values{"max_retries": -1}, "max_retries", []string{"must be from 0 to 20, not -1."}},
		"requests_per_second":  {acctest.Values{"requests_per_second": 0}, "requests_per_second", []string{"requests_per_second must be at least 0.01, not 0."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := acctest.Values{"base_url": e.URL(), "api_key": e.BootstrapKey()}
			maps.Copy(settings, tc.settings)
			acctest.NewProcess(t, e, nil).Configure(settings).MustFail(t, tc.at, tc.want...)
		})
	}
	e.MustNotRead(t, acctest.Values{"base_url": "http://127.0.0.1:1", "max_retries": 0}, providersType, nil, "", "connection refused", "If it is an emulator, start it")
	e.MustRead(t, acctest.Values{"request_timeout": "1m30s", "max_retries": 0, "requests_per_second": 100, "allow_insecure_http": true}, providersType, nil)
}

const providersType = "agentyard_computer_providers"

// If base_url points to another server, the error names base_url, whatever that server returns.
func TestProvider_somethingElseAtBaseURL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		body   string
		want   []string
	}{
		{http.StatusNotFound, "<html>404 Not Found</html>", []string{"404", "not in the service's format", "base_url"}},
		{http.StatusForbidden, "<html>Log in</html>", []string{"403", "login page", "base_url"}},
		{http.StatusNotFound, `{"detail": "No such route.", "status": 404, "title": "Not Found"}`, []string{"404", "the path in base_url"}},
		{http.StatusUnauthorized, `{"detail": "No such key.", "status": 401, "title": "Unauthorized"}`, []string{"401", "AGENTYARD_API_KEY", "sent to 127.0.0.1:"}},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		}))
		t.Cleanup(server.Close)
		acctest.New(t).MustNotRead(t, acctest.Values{"base_url": server.URL}, providersType, nil, "", append(tc.want, "listComputerProviders")...)
	}
}

func TestAccProvider_settingsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, acctest.Example(t, "data-sources/agentyard_computer_providers/data-source.tf"))
	check.Says(t, cli.MustRun("plan", "-input=false").Output, "managed-a")
	cli.Write("provider.tf", acctest.Example(t, "provider/provider.tf"))
	cli.MustRun("plan", "-input=false")
	for _, entry := range e.Journal().Entries() {
		check.Is(t, "the status of "+entry.Path, entry.Status, 200)
	}
}

// The value of base_url may be unknown during a plan: creates are planned, and reads say what to do.
func TestAccProvider_unknownSettingsKeepTheState(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	hcl := func(trigger string) string {
		return "resource \"terraform_data\" \"address\" {\n  input = \"" + e.URL() + "\"\n  triggers_replace = \"" + trigger + "\"\n}\nprovider \"agentyard\" {\n  base_url = terraform_data.address.output\n}\n" +
			"resource \"agentyard_computer\" \"x\" {\n  count = 3\n  name = \"x${count.index}\"\n  provider_type = \"byom\"\n}\n"
	}
	e.MustNotRead(t, acctest.Values{"base_url": tftypes.UnknownValue}, providersType, nil, "", "base_url is not known yet", "terraform apply -target=ADDRESS")
	cli := acctest.NewCLI(t, e, hcl("one"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", hcl("two"))
	r := cli.MustRun("plan", "-input=false")
	if strings.Count(r.Output, "State not refreshed") != 1 || !strings.Contains(r.Output, "1 to add, 0 to change, 1 to destroy") {
		t.Errorf("the plan: %s", r.Output)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
}

// Every schema is valid, every attribute has a description, and known secrets are sensitive.
func TestProvider_schemas(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	check.Must(t, err)
	resp, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	check.Must(t, err)
	for _, d := range resp.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	checkBlock(t, "provider", resp.Provider.Block)
	groups := map[string]map[string]*tfprotov6.Schema{
		"resource": resp.ResourceSchemas, "data": resp.DataSourceSchemas, "ephemeral": resp.EphemeralResourceSchemas, "list": resp.ListResourceSchemas,
	}
	if len(resp.ResourceSchemas) == 0 || len(resp.DataSourceSchemas) == 0 {
		t.Fatal("the provider offers nothing")
	}
	for group, schemas := range groups {
		for name, schema := range schemas {
			if schema.Block.Description == "" && group != "list" {
				t.Errorf("%s %s has no description", group, name)
			}
			checkBlock(t, group+" "+name, schema.Block)
			if group == "list" {
				for _, attribute := range schema.Block.Attributes {
					if attribute.Sensitive {
						t.Errorf("list %s asks for a secret: %s", name, attribute.Name)
					}
				}
			}
		}
	}
	for name, schema := range resp.ActionSchemas {
		checkBlock(t, "action "+name, schema.Schema.Block)
	}
}

var secrets = regexp.MustCompile(`^(key|api_key|secret|password)$`)

func checkBlock(t *testing.T, where string, block *tfprotov6.SchemaBlock) {
	t.Helper()
	checkAttributes(t, where, block.Attributes)
	for _, nested := range block.BlockTypes {
		if nested.Block.Description == "" {
			t.Errorf("%s.%s has no description", where, nested.TypeName)
		}
		checkBlock(t, where+"."+nested.TypeName, nested.Block)
	}
}

func checkAttributes(t *testing.T, where string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, attribute := range attributes {
		path := where + "." + attribute.Name
		if attribute.Description == "" || !strings.HasSuffix(attribute.Description, ".") && !strings.Contains(path, ".timeouts.") {
			t.Errorf("%s: the description is missing or no sentence: %q", path, attribute.Description)
		}
		if secrets.MatchString(attribute.Name) && !attribute.Sensitive {
			t.Errorf("%s is not sensitive", path)
		}
		if attribute.NestedType != nil {
			checkAttributes(t, path, attribute.NestedType.Attributes)
		}
	}
}

func TestMain(m *testing.M) {
	// The tests set their own settings. The shell's variables must not replace a missing one.
	for _, name := range []string{provider.EnvBaseURL, provider.EnvAPIKey} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The provider answers for unchanged objects without the framework, so it has to know each default.
func TestDefaults_areAllKnown(t *testing.T) {
	t.Parallel()
	for _, construct := range provider.New("test")().Resources(t.Context()) {
		var meta resource.MetadataResponse
		var resp resource.SchemaResponse
		r := construct()
		r.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "agentyard"}, &meta)
		r.Schema(t.Context(), resource.SchemaRequest{}, &resp)
		known := crud.Defaults(t.Context(), resp.Schema)
		for name, attribute := range resp.Schema.Attributes {
			field := reflect.ValueOf(attribute).FieldByName("Default") // The arguments of an operation have none.
			if _, isKnown := known[name]; field.IsValid() && !field.IsNil() && !isKnown {
				t.Errorf("%s.%s has a default, which crud.Defaults has to know first", meta.TypeName, name)
			}
		}
	}
}

// Every attribute of every timeouts block rejects zero and negative durations, and what is none.
func TestProvider_timeouts(t *testing.T) {
	t.Parallel()
	p := acctest.NewProcess(t, acctest.New(t), nil)
	blocks := 0
	try := func(schema *tfprotov6.Schema, validate func(acctest.Values) acctest.Outcome) {
		block, ok := schema.ValueType().(tftypes.Object).AttributeTypes["timeouts"].(tftypes.Object)
		if !ok {
			return
		}
		blocks++
		for attribute := range block.AttributeTypes {
			for given, rule := range map[string]string{"0s": "must be longer than 0s", "-1m": "must be longer than 0s", "5": "must be a number with a unit, such as 90s"} {
				out := validate(acctest.Values{"timeouts": map[string]any{attribute: given}})
				out.MustInclude(t, "timeouts."+attribute, "timeouts."+attribute+" "+rule)
			}
		}
	}
	for name, schema := range p.Schemas().ResourceSchemas {
		try(schema, func(config acctest.Values) acctest.Outcome { return p.Plan(p.NewInstance(name), config) })
	}
	for name, schema := range p.Schemas().ActionSchemas {
		try(schema.Schema, func(config acctest.Values) acctest.Outcome {
			_, out := p.Invoke(name, config)
			return out
		})
	}
	if blocks < 6 {
		t.Errorf("%d timeouts blocks", blocks)
	}
}
