package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

const readProviders = `data "agentyard_computer_providers" "x" {}`

func TestAccProvider_settings(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	address, key := `base_url = "`+e.URL()+`"`, `api_key = "`+e.BootstrapKey()+`"`
	for name, tc := range map[string]struct{ block, want string }{
		"no base_url":          {key, `base_url(.|\n)*AGENTYARD_BASE_URL|Missing Base URL`},
		"no api_key":           {address, `Missing API Key(.|\n)*AGENTYARD_API_KEY`},
		"malformed base_url":   {"base_url = \"agentyard\"\n" + key, `Invalid Base URL`},
		"path in base_url":     {"base_url = \"https://x.example/api/v0\"\n" + key, `Invalid Base URL(.|\n)*must\s+not\s+include`},
		"plain http":           {"base_url = \"http://agentyard.example\"\n" + key, `Invalid Base URL(.|\n)*allow_insecure_http`},
		"key with a blank":     {address + "\napi_key = \"fk-a b\"", `Invalid API Key`},
		"wrong key":            {address + "\napi_key = \"fk-wrong\"", `401(.|\n)*AGENTYARD_API_KEY`},
		"request_timeout":      {address + "\n" + key + "\nrequest_timeout = \"soon\"", `request_timeout(.|\n)*must\s+be\s+a\s+duration\s+of\s+at\s+least\s+1s,\s+such\s+as\s+"30s",\s+"2m",\s+got:\s+"soon"`},
		"request_timeout zero": {address + "\n" + key + "\nrequest_timeout = \"0s\"", `request_timeout(.|\n)*at\s+least\s+1s`},
		"max_retries":          {address + "\n" + key + "\nmax_retries = -1", `max_retries(.|\n)*between\s+0\s+and\s+20`},
		"requests_per_second":  {address + "\n" + key + "\nrequests_per_second = 0", `requests_per_second(.|\n)*at\s+least`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: "provider \"agentyard\" {\n" + tc.block + "\n}\n" + readProviders, PlanOnly: true, ExpectError: regexp.MustCompile(tc.want)}},
			})
		})
	}
}

// If base_url points to another server, the error names base_url, whatever that server returns.
func TestAccProvider_somethingElseAtBaseURL(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for name, tc := range map[string]struct {
		status     int
		body, want string
	}{
		"another web server":      {http.StatusNotFound, "<html>404 Not Found</html>", `listComputerProviders(.|\n)*404(.|\n)*not\s+in\s+the\s+service's\s+format(.|\n)*base_url`},
		"a login page":            {http.StatusForbidden, "<html>Log in</html>", `listComputerProviders(.|\n)*403(.|\n)*login\s+page(.|\n)*base_url`},
		"a path of the service's": {http.StatusNotFound, `{"detail": "No such route.", "status": 404, "title": "Not Found"}`, `listComputerProviders(.|\n)*404(.|\n)*the\s+path\s+in\s+base_url`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(server.Close)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{{
					Config:      fmt.Sprintf("provider \"agentyard\" {\n  base_url = %q\n  api_key = \"fk-x\"\n}\n", server.URL) + readProviders,
					PlanOnly:    true,
					ExpectError: regexp.MustCompile(tc.want),
				}},
			})
		})
	}
}

func TestAccProvider_allSettings(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps:                    []resource.TestStep{{Config: e.ConfigWith("request_timeout = \"1m30s\"\nmax_retries = 0\nrequests_per_second = 100\nallow_insecure_http = true", readProviders)}},
	})
}

func TestAccProvider_settingsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, acctest.Example(t, "data-sources/agentyard_computer_providers/data-source.tf"))
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "managed-a")
	cli.Write("provider.tf", acctest.Example(t, "provider/provider.tf"))
	cli.MustRun("plan", "-input=false")
	for _, entry := range e.Journal().Entries() {
		if entry.Status != 200 {
			t.Errorf("%+v", entry)
		}
	}
}

// The value of base_url may be unknown during a plan: creates are planned, and reads say what to do.
func TestAccProvider_unknownSettings(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	with := func(body string) string {
		return "resource \"terraform_data\" \"address\" {\n  input = \"" + e.URL() + "\"\n}\nprovider \"agentyard\" {\n  base_url = terraform_data.address.output\n  api_key = \"" + e.BootstrapKey() + "\"\n}\n" + body
	}
	computer := "resource \"agentyard_computer\" \"x\" {\n  name = \"x\"\n}\n"
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{
			{Config: with(readProviders), ExpectError: regexp.MustCompile(`base_url\s+is\s+not\s+known\s+yet(.|\n)*terraform\s+apply\s+-target=ADDRESS`)},
		},
	})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps:                    []resource.TestStep{{Config: with(computer), ConfigPlanChecks: acctest.ThenEmpty}},
	})
}

func TestAccProvider_unknownSettingsKeepTheState(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	hcl := func(trigger string) string {
		return "resource \"terraform_data\" \"address\" {\n  input = \"" + e.URL() + "\"\n  triggers_replace = \"" + trigger + "\"\n}\nprovider \"agentyard\" {\n  base_url = terraform_data.address.output\n}\n" +
			"resource \"agentyard_computer\" \"x\" {\n  count = 3\n  name = \"x${count.index}\"\n  provider_type = \"byom\"\n}\n"
	}
	cli := acctest.NewCLI(t, e, hcl("one"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", hcl("two"))
	r := cli.MustRun("plan", "-input=false")
	if strings.Count(r.Output, "State Not Refreshed") != 1 || !strings.Contains(r.Output, "1 to add, 0 to change, 1 to destroy") {
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
	acctest.Must(t, err)
	resp, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	acctest.Must(t, err)
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
