// Package lifecycle tests the life cycle and every form of import of each resource. All CLIs run the tests that end in
// _everyCLI; see internal/tools/testall.
package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// life describes the test of one resource. In its arguments, $account, $computer, $first, and $second are IDs of a service
// account, a registered machine, and two environments that were created outside Terraform.
type life struct {
	typeName string
	// create and change are the resource's arguments at first, and after an update in place.
	create, change string
	// identity contains the attributes of the identity.
	identity []string
	// importID is the import ID as a pattern of attributes. Empty for "{id}".
	importID string
	// notImported contains the attributes that the service does not return.
	notImported []string
	// importPlansAnUpdate means that the plan after an import by identity sets what could not be imported.
	importPlansAnUpdate bool
	// noImport contains import IDs and the errors that they cause.
	noImport map[string]string
	// noIdentity contains the arguments of an invalid identity.
	noIdentity string
	// The response to a GET of path contains text while the object exists. Empty if a destroy leaves it unchanged.
	path, text string
}

const (
	nonExistent = `Cannot Import(.|\n)*No\s+[\w\s]+\s+with\s+the\s+ID(.|\n)*exists`
	unset       = `Cannot Import(.|\n)*is\s+set(.|\n)*apply\s+without\s+the\s+import`
	fleetID     = `Invalid Import ID(.|\n)*ACCOUNT_ID/build(.|\n)*`
	keyID       = `(?s)Invalid Import ID.*service_account_id/key_id`
)

var lives = map[string]life{
	"api_key": {
		typeName: "agentyard_api_key",
		create:   "service_account_id = \"$account\"\nname = \"ci\"",
		change:   "service_account_id = \"$account\"\nname = \"ci\"\nrotation = { triggers = { v = \"1\" } }", // A rotation changes the identity.
		identity: []string{"id", "service_account_id"}, importID: "{service_account_id}/{id}",
		notImported: []string{"key", "rotation", "previous_key_id", "rotated_at"}, importPlansAnUpdate: true,
		noImport: map[string]string{
			"key_1": keyID, "/key_1": keyID, "a/b/c": keyID,
			"$account/key_absent": nonExistent, "sa_absent/key_absent": nonExistent,
		},
		path: "/api/v0/service-accounts/$account/api-keys", text: `"isRevoked":false`,
	},
	"computer": {
		typeName: "agentyard_computer",
		create:   `name = "least"`, change: `name = "renamed"`, identity: []string{"id"},
		noImport: map[string]string{
			"a/b":                                  `Invalid Import ID(.|\n)*its ID at the service(.|\n)*1b4e28ba-(.|\n)*"a/b"`,
			"00000000-0000-4000-8000-000000000000": nonExistent,
		},
		path: "/api/v0/computers?includeUnlisted=true", text: `"name":"renamed"`,
	},
	"computer_fleet": {
		typeName: "agentyard_computer_fleet",
		create:   "name_prefix = \"web\"\nquantity = 1", change: "name_prefix = \"web\"\nquantity = 2", identity: []string{"name_prefix", "service_account_id"},
		noImport: map[string]string{
			"a/b/c": fleetID + `"a/b/c"`, "/web": fleetID + `"/web"`, "a/": fleetID + `"a/"`, "we b": fleetID + `"we b"`,
			"web": nonExistent, "unknown/web": nonExistent,
		},
		path: "/api/v0/computers?includeUnlisted=true", text: `"name":"web-2"`,
	},
	"computer_fleet of an account": {
		typeName: "agentyard_computer_fleet",
		create:   "name_prefix = \"web\"\nquantity = 1\nservice_account_id = \"$account\"", change: "name_prefix = \"web\"\nquantity = 2\nservice_account_id = \"$account\"",
		identity: []string{"name_prefix", "service_account_id"},
		path:     "/api/v0/computers?serviceAccountId=$account", text: `"name":"web-2"`,
	},
	"default_environment": {
		typeName: "agentyard_default_environment",
		create:   `environment_id = "$first"`, change: `environment_id = "$second"`, identity: []string{"id"},
		noImport: map[string]string{
			"env_01hzy3v7k2m4n6p8q0r2s4t6v8": `Invalid Import ID(.|\n)*always\s+"organization"(.|\n)*agentyard_environment`,
			"organization":                   unset,
		},
		noIdentity: `id = "acme"`,
	},
	"environment": {
		typeName: "agentyard_environment",
		create:   "name = \"dev\"\nrepositories = [{ url = \"https://git.example/acme/app\", script = \"make\" }]",
		change:   "name = \"renamed\"\nrepositories = [{ url = \"https://git.example/acme/app\", script = \"make\" }]",
		identity: []string{"id"},
		noImport: map[string]string{
			"a/b":                            `Invalid Import ID(.|\n)*its ID at the service(.|\n)*env_01(.|\n)*"a/b"`,
			"env_00000000000000000000000000": nonExistent,
		},
		path: "/api/v0/environments", text: `"name":"renamed"`,
	},
	"global_usage_limit": {
		typeName: "agentyard_global_usage_limit",
		create:   "limit = 1000000", change: "limit = 9007199254740991", identity: []string{"id"},
		noImport: map[string]string{
			"acme":         `Invalid Import ID(.|\n)*import\s+ID(.|\n)*always\s+"organization",\s+got:\s+"acme"`,
			"organization": unset,
		},
		noIdentity: `id = "acme"`,
		path:       "/api/v0/organization/usage/limits/global", text: `9007199254740991`,
	},
	"member_invitation": {
		typeName: "agentyard_member_invitation",
		create:   `email = "avery@agentyard.example"`, change: "email = \"avery@agentyard.example\"\nrole = \"manager\"",
		identity: []string{"email"}, notImported: []string{"role", "status"}, importPlansAnUpdate: true,
		noImport: map[string]string{
			"nobody@agentyard.example": `Nobody\s+has\s+joined(.|\n)*cannot\s+be\s+imported`,
			"avery":                    `Invalid Import ID(.|\n)*user's\s+email\s+address(.|\n)*"avery"`,
		},
		noIdentity: `email = "avery"`,
	},
	"service_account": {
		typeName: "agentyard_service_account",
		create:   `name = "ci"`, change: "name = \"ci\"\ndescription = \"builds\"", identity: []string{"id"},
		noImport: map[string]string{
			"a/b":        `Invalid Import ID(.|\n)*service\s+account\s+is\s+its\s+ID\s+at\s+the\s+service(.|\n)*such\s+as\s+sa_(.|\n)*"a/b"`,
			"sa_unknown": nonExistent,
		},
		path: "/api/v0/service-accounts", text: `"description":"builds"`,
	},
	"session": {
		typeName: "agentyard_session",
		create:   "computer_id = \"$computer\"\nsession_settings = { model = \"model-light\", tags = [{ name = \"a\" }] }",
		change:   "computer_id = \"$computer\"\nsession_settings = { model = \"model-standard\", tags = [{ name = \"a\" }] }",
		identity: []string{"id", "computer_id"},
		noImport: map[string]string{
			"0b2f7f6e-0000-4000-8000-000000000000": nonExistent,
			"../computers":                         `Invalid Import ID(.|\n)*its\s+ID\s+at\s+the\s+service,\s+such\s+as\s+7f9c2ba4`,
			"a b":                                  `Invalid Import ID`,
			"..":                                   `Invalid Import ID(.|\n)*".."\s+cannot\s+be\s+part(.|\n)*such\s+as\s+7f9c2ba4`,
			"a%2fb":                                nonExistent,
		},
		path: "/api/v0/sessions?computerId=$computer", text: `"computerId"`,
	},
	"user_usage_limit": {
		typeName: "agentyard_user_usage_limit",
		create:   "email = \"avery@agentyard.example\"\nlimit = 1000000", change: "email = \"avery@agentyard.example\"\nlimit = 9007199254740991",
		identity: []string{"email"},
		noImport: map[string]string{
			"nobody@agentyard.example": nonExistent,
			"avery@agentyard.example":  nonExistent, // Only the global limit applies to this member.
			"avery":                    `Invalid Import ID(.|\n)*user's\s+email\s+address,\s+such\s+as\s+avery@(.|\n)*"avery"`,
			"@agentyard.example":       `Invalid Import ID(.|\n)*user's\s+email\s+address`,
			"avery@agentyard.example,blake@agentyard.example": `Invalid Import ID(.|\n)*user's\s+email\s+address`,
		},
		noIdentity: `email = "avery"`,
		path:       "/api/v0/organization/usage/limits/users", text: `9007199254740991`,
	},
	"wiki_run": {
		typeName: "agentyard_wiki_run",
		create:   `repo_url = "https://code.example/acme/api"`, change: "repo_url = \"https://code.example/acme/api\"\nprivacy_level = \"private\"",
		identity: []string{"id"},
		noImport: map[string]string{
			"a/b":          `Invalid Import ID(.|\n)*wiki\s+run\s+is\s+its\s+ID\s+at\s+the\s+service(.|\n)*such\s+as\s+wiki_(.|\n)*"a/b"`,
			"wiki_unknown": nonExistent,
			"..":           `cannot be part of a request's path`,
			"%2e%2e":       nonExistent,
		},
		path: "/api/v0/wiki", text: `https://code.example/acme/api`,
	},
}

// newOrganization returns an emulator with objects that were created outside Terraform.
func newOrganization(t *testing.T) (*acctest.Env, *strings.Replacer) {
	t.Helper()
	e := acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay = -1, -1 })
	for _, email := range []string{"avery@agentyard.example", "blake@agentyard.example"} {
		if _, _, err := e.AddHuman(emulator.Human{Email: email}); err != nil {
			t.Fatal(err)
		}
	}
	var account, computer, first, second struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robot"}, &account)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "workstation", "provider": "byom", "hostId": "1b4e28ba-2fa1-41d2-883f-0016d3cca427"}, &computer)
	environment := map[string]any{"name": "first", "scope": "organization", "repositories": []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}}}
	e.API(http.MethodPost, "/api/v0/environments", environment, &first)
	environment["name"] = "second"
	e.API(http.MethodPost, "/api/v0/environments", environment, &second)
	e.Clock.Advance(time.Hour) // All builds have ended.
	return e, strings.NewReplacer("$account", account.ID, "$computer", computer.ID, "$first", first.ID, "$second", second.ID)
}

func (l life) address() string { return l.typeName + ".test" }

func (l life) config(arguments string) string {
	return "resource \"" + l.typeName + "\" \"test\" {\n" + arguments + "\n}\n"
}

// exists reports whether the object exists in the emulator.
func (l life) exists(e *acctest.Env, ids *strings.Replacer) bool {
	var answer json.RawMessage
	e.API(http.MethodGet, ids.Replace(l.path), nil, &answer)
	return bytes.Contains(answer, []byte(l.text))
}

func (l life) importIDOf(s *terraform.State) (string, error) {
	attributes := s.RootModule().Resources[l.address()].Primary.Attributes
	if l.importID == "" {
		return attributes["id"], nil
	}
	id := l.importID
	for name, value := range attributes {
		id = strings.ReplaceAll(id, "{"+name+"}", value)
	}
	return id, nil
}

func forEach(t *testing.T, test func(t *testing.T, l life, e *acctest.Env, ids *strings.Replacer)) {
	t.Helper()
	for name, l := range lives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ids := newOrganization(t)
			test(t, l, e, ids)
		})
	}
}

// Create, update in place, import by ID, and destroy. The plan after each step is empty.
func TestAccResource_lifeCycle_everyCLI(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l life, e *acctest.Env, ids *strings.Replacer) {
		step := func(arguments string, action plancheck.ResourceActionType) resource.TestStep {
			return resource.TestStep{
				Config: e.Config(l.config(ids.Replace(arguments))),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(l.address(), action)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
			}
		}
		changed := step(l.change, plancheck.ResourceActionUpdate)
		changed.Check = func(*terraform.State) error {
			if l.path != "" && !l.exists(e, ids) {
				return fmt.Errorf("%s does not show %s", l.path, l.text)
			}
			return nil
		}
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: e.Factories,
			Steps: []resource.TestStep{
				step(l.create, plancheck.ResourceActionCreate),
				changed,
				{ResourceName: l.address(), ImportState: true, ImportStateIdFunc: l.importIDOf, ImportStateVerify: true, ImportStateVerifyIgnore: l.notImported},
			},
		})
		if l.path != "" && l.exists(e, ids) {
			t.Errorf("%s still shows %s after the destruction", l.path, l.text)
		}
	})
}

// The identity is in the state after a create and an update, and an import block with it imports the object.
func TestAccResource_importByIdentity_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsIdentity(t)
	forEach(t, func(t *testing.T, l life, e *acctest.Env, ids *strings.Replacer) {
		var matches []statecheck.StateCheck
		for _, name := range l.identity {
			matches = append(matches, statecheck.ExpectIdentityValueMatchesState(l.address(), tfjsonpath.New(name)))
		}
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: e.Factories,
			Steps: []resource.TestStep{
				{Config: e.Config(l.config(ids.Replace(l.create))), ConfigStateChecks: matches},
				{Config: e.Config(l.config(ids.Replace(l.change))), ConfigStateChecks: matches},
				{ResourceName: l.address(), ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity, ExpectNonEmptyPlan: l.importPlansAnUpdate},
			},
		})
	})
}

func TestAccResource_importErrors(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l life, e *acctest.Env, ids *strings.Replacer) {
		for id, want := range l.noImport {
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{{
					Config:       e.Config(l.config(ids.Replace(l.create))),
					ResourceName: l.address(), ImportState: true, ImportStateId: ids.Replace(id), ExpectError: regexp.MustCompile(want),
				}},
			})
		}
		if l.noIdentity != "" {
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{{
					Config:      e.Config(l.config(ids.Replace(l.create)) + "import {\n  to = " + l.address() + "\n  identity = {\n    " + l.noIdentity + "\n  }\n}\n"),
					PlanOnly:    true,
					ExpectError: regexp.MustCompile("Invalid Import ID"),
				}},
			})
		}
	})
}

// A resource without a row would be tested only on the newest Terraform.
func TestResource_everyOneHasALife(t *testing.T) {
	t.Parallel()
	server, err := acctest.New(t).Factories["agentyard"]()
	acctest.Must(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	acctest.Must(t, err)
	for name := range schemas.ResourceSchemas {
		if _, ok := lives[strings.TrimPrefix(name, "agentyard_")]; !ok {
			t.Errorf("%s has no row: add it to lives in internal/acctest/lifecycle/lifecycle_test.go", name)
		}
	}
}
