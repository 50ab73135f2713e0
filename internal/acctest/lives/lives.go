// Package lives contains the life of each resource: what a test creates, changes, imports, and destroys. It knows no server, so
// that tests against the emulator and tests against a real service share it.
package lives

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// Life describes the test of one resource. Its texts contain placeholders for what depends on the organization:
//
//	$name             a name that is free, of at most 50 characters
//	$account          the ID of a service account
//	$computer         the ID of a computer that can run sessions
//	$first, $second   the IDs of two environments that can be the default
//	$member           the email address of a member without a usage limit
//	$lower, $higher   two usage limits
//	$repositories     the repositories of an environment, as a list
//	$wiki_repository  the URL of a repository that can have wikis
//	$machine          more arguments of a computer; may be empty
//	$environment      more arguments of an environment; may be empty
type Life struct {
	TypeName string
	// Create and Change are the resource's arguments at first, and after an update in place.
	Create, Change string
	// Identity contains the attributes of the identity.
	Identity []string
	// ImportID is the import ID as a pattern of attributes. Empty for "{id}".
	ImportID string
	// NotImported contains the attributes that the service does not return.
	NotImported []string
	// ImportPlansAnUpdate means that the plan after an import by identity sets what could not be imported.
	ImportPlansAnUpdate bool
	// NoImport contains import IDs and the errors that they cause.
	NoImport map[string]string
	// NoIdentity contains the arguments of an invalid identity.
	NoIdentity string
	// The response to a GET of Path contains Text while the object exists. Empty if a destroy leaves it unchanged.
	Path, Text string
}

const (
	nonExistent = `Cannot import(.|\n)*No\s+[\w\s]+\s+with\s+the\s+ID(.|\n)*exists`
	unset       = `Cannot import(.|\n)*is\s+set(.|\n)*apply\s+without\s+the\s+import`
	fleetID     = `Invalid import ID(.|\n)*ACCOUNT_ID/build(.|\n)*`
	keyID       = `(?s)Invalid import ID.*service_account_id/key_id`
)

// All are the lives of all resources, by name.
var All = map[string]Life{
	"api_key": {
		TypeName: "agentyard_api_key",
		Create:   "service_account_id = \"$account\"\nname = \"$name\"",
		Change:   "service_account_id = \"$account\"\nname = \"$name\"\nrotation = { triggers = { v = \"1\" } }", // A rotation changes the identity.
		Identity: []string{"id", "service_account_id"}, ImportID: "{service_account_id}/{id}",
		NotImported: []string{"key", "rotation", "previous_key_id", "rotated_at"}, ImportPlansAnUpdate: true,
		NoImport: map[string]string{
			"": keyID, "../key_1": keyID, "key_1": keyID, "/key_1": keyID, "a/b/c": keyID,
			"$account/key_absent": nonExistent, "sa_absent/key_absent": nonExistent,
		},
		Path: "/api/v0/service-accounts/$account/api-keys", Text: `"isRevoked":false`,
	},
	"computer": {
		TypeName: "agentyard_computer",
		Create:   "name = \"$name\"\n$machine", Change: "name = \"$name-b\"\n$machine", Identity: []string{"id"},
		NoImport: map[string]string{
			"a/b":                                  `Invalid import ID(.|\n)*its ID at the service(.|\n)*1b4e28ba-(.|\n)*"a/b"`,
			"00000000-0000-4000-8000-000000000000": nonExistent,
			"":                                     `Invalid import ID(.|\n)*its ID at the service(.|\n)*""`,
		},
		Path: "/api/v0/computers?includeUnlisted=true", Text: `"name":"$name-b"`,
	},
	"computer_fleet": {
		TypeName: "agentyard_computer_fleet",
		Create:   "name_prefix = \"$name\"\nquantity = 1", Change: "name_prefix = \"$name\"\nquantity = 2", Identity: []string{"name_prefix", "service_account_id"},
		NoImport: map[string]string{
			"": fleetID + `""`, "../web": fleetID + `"../web"`, "a/b/c": fleetID + `"a/b/c"`, "/web": fleetID + `"/web"`, "a/": fleetID + `"a/"`, "we b": fleetID + `"we b"`,
			"web": nonExistent, "unknown/web": nonExistent,
		},
		Path: "/api/v0/computers?includeUnlisted=true", Text: `"name":"$name-2"`,
	},
	"computer_fleet of an account": {
		TypeName: "agentyard_computer_fleet",
		Create:   "name_prefix = \"$name\"\nquantity = 1\nservice_account_id = \"$account\"", Change: "name_prefix = \"$name\"\nquantity = 2\nservice_account_id = \"$account\"",
		Identity: []string{"name_prefix", "service_account_id"},
		Path:     "/api/v0/computers?serviceAccountId=$account", Text: `"name":"$name-2"`,
	},
	"default_environment": {
		TypeName: "agentyard_default_environment",
		Create:   `environment_id = "$first"`, Change: `environment_id = "$second"`, Identity: []string{"id"},
		NoImport: map[string]string{
			"env_01hzy3v7k2m4n6p8q0r2s4t6v8": `Invalid import ID(.|\n)*always\s+"organization"(.|\n)*agentyard_environment`,
			"organization":                   unset,
		},
		NoIdentity: `id = "acme"`,
	},
	"environment": {
		TypeName: "agentyard_environment",
		Create:   "name = \"$name\"\nrepositories = $repositories\n$environment",
		Change:   "name = \"$name-b\"\nrepositories = $repositories\n$environment",
		Identity: []string{"id"},
		NoImport: map[string]string{
			"a/b":                            `Invalid import ID(.|\n)*its ID at the service(.|\n)*env_01(.|\n)*"a/b"`,
			"env_00000000000000000000000000": nonExistent,
		},
		Path: "/api/v0/environments", Text: `"name":"$name-b"`,
	},
	"global_usage_limit": {
		TypeName: "agentyard_global_usage_limit",
		Create:   "limit = $lower", Change: "limit = $higher", Identity: []string{"id"},
		NoImport: map[string]string{
			"acme":         `Invalid import ID(.|\n)*import\s+ID(.|\n)*always\s+"organization",\s+not\s+"acme"`,
			"organization": unset,
		},
		NoIdentity: `id = "acme"`,
		Path:       "/api/v0/organization/usage/limits/global", Text: `$higher`,
	},
	"member_invitation": {
		TypeName: "agentyard_member_invitation",
		Create:   `email = "$member"`, Change: "email = \"$member\"\nrole = \"manager\"",
		Identity: []string{"email"}, NotImported: []string{"role", "status"}, ImportPlansAnUpdate: true,
		NoImport: map[string]string{
			"nobody@agentyard.example": `Nobody\s+has\s+joined(.|\n)*cannot\s+be\s+imported`,
			"avery":                    `Invalid import ID(.|\n)*member's\s+email\s+address(.|\n)*"avery"`,
		},
		NoIdentity: `email = "avery"`,
	},
	"service_account": {
		TypeName: "agentyard_service_account",
		Create:   `name = "$name"`, Change: "name = \"$name\"\ndescription = \"builds\"", Identity: []string{"id"},
		NoImport: map[string]string{
			"a/b":        `Invalid import ID(.|\n)*service\s+account\s+is\s+its\s+ID\s+at\s+the\s+service(.|\n)*such\s+as\s+sa_(.|\n)*"a/b"`,
			"sa_unknown": nonExistent,
		},
		Path: "/api/v0/service-accounts", Text: `"name":"$name"`,
	},
	"session": {
		TypeName: "agentyard_session",
		Create:   "computer_id = \"$computer\"\nsession_settings = { tags = [{ name = \"$name\" }] }",
		Change:   "computer_id = \"$computer\"\nsession_settings = { tags = [{ name = \"$name\" }, { name = \"b\" }] }",
		Identity: []string{"id", "computer_id"},
		NoImport: map[string]string{
			"":                                     `Invalid import ID(.|\n)*such\s+as\s+7f9c2ba4(.|\n)*""`,
			"0b2f7f6e-0000-4000-8000-000000000000": nonExistent,
			"../computers":                         `Invalid import ID(.|\n)*its\s+ID\s+at\s+the\s+service,\s+such\s+as\s+7f9c2ba4`,
			"a b":                                  `Invalid import ID`,
			"..":                                   `Invalid import ID(.|\n)*such\s+as\s+7f9c2ba4(.|\n)*"\.\."`,
			"a%2fb":                                nonExistent,
		},
		Path: "/api/v0/sessions?computerId=$computer", Text: `"name":"$name"`,
	},
	"user_usage_limit": {
		TypeName: "agentyard_user_usage_limit",
		Create:   "email = \"$member\"\nlimit = $lower", Change: "email = \"$member\"\nlimit = $higher",
		Identity: []string{"email"},
		NoImport: map[string]string{
			"nobody@agentyard.example": nonExistent,
			"avery@agentyard.example":  nonExistent, // Only the global limit applies to this member.
			"avery":                    `Invalid import ID(.|\n)*member's\s+email\s+address,\s+such\s+as\s+avery@(.|\n)*"avery"`,
			"@agentyard.example":       `Invalid import ID(.|\n)*member's\s+email\s+address`,
			"avery@agentyard.example,blake@agentyard.example": `Invalid import ID(.|\n)*member's\s+email\s+address`,
		},
		NoIdentity: `email = "avery"`,
		Path:       "/api/v0/organization/usage/limits/users", Text: `$higher`,
	},
	"user_usage_limits": {
		TypeName: "agentyard_user_usage_limits",
		Create:   `limits = { "$member" = $lower }`, Change: `limits = { "$member" = $higher }`, Identity: []string{"id"},
		NoImport:   map[string]string{"acme": `Invalid import ID(.|\n)*import\s+ID(.|\n)*always\s+"organization",\s+not\s+"acme"`},
		NoIdentity: `id = "acme"`,
		Path:       "/api/v0/organization/usage/limits/users", Text: `$higher`,
	},
	"wiki_run": {
		TypeName: "agentyard_wiki_run",
		Create:   "repo_url = \"$wiki_repository\"\nbranch = \"$name\"", Change: "repo_url = \"$wiki_repository\"\nbranch = \"$name\"\nprivacy_level = \"private\"",
		Identity: []string{"id"},
		NoImport: map[string]string{
			"a/b":          `Invalid import ID(.|\n)*wiki\s+run\s+is\s+its\s+ID\s+at\s+the\s+service(.|\n)*such\s+as\s+wiki_(.|\n)*"a/b"`,
			"wiki_unknown": nonExistent,
			"..":           `Invalid import ID`,
			"%2e%2e":       nonExistent,
		},
		Path: "/api/v0/wiki", Text: `"branch":"$name"`,
	},
}

// Address returns the address of the resource in its configuration.
func (l *Life) Address() string { return l.TypeName + ".test" }

// Config returns a configuration with these arguments.
func (l *Life) Config(arguments string) string {
	return "resource \"" + l.TypeName + "\" \"test\" {\n" + arguments + "\n}\n"
}

// ImportIDOf returns the import ID of the resource in a state.
func (l *Life) ImportIDOf(s *terraform.State) (string, error) {
	attributes := s.RootModule().Resources[l.Address()].Primary.Attributes
	if l.ImportID == "" {
		return attributes["id"], nil
	}
	id := l.ImportID
	for name, value := range attributes {
		id = strings.ReplaceAll(id, "{"+name+"}", value)
	}
	return id, nil
}
