package emulator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// readSeed reads a seed of a text.
func readSeed(t *testing.T, text string) (*emulator.Seed, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "organization.json")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return emulator.ReadSeed(file)
}

// exampleSeed is the seed that the README shows.
func exampleSeed(t *testing.T) *emulator.Seed {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	must(t, err)
	_, text, _ := strings.Cut(string(readme), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	seed, err := readSeed(t, text)
	must(t, err)
	return seed
}

// isSeeded expects what the example of the README says, with a number of service accounts.
func (v *env) isSeeded(accountCount int) {
	v.t.Helper()
	var emails []any
	for _, m := range v.call(200, "GET", members, nil).object(v.t)["users"].([]any) {
		emails = append(emails, m.(object)["email"], m.(object)["metadata"])
	}
	same(v.t, "members", emails, []any{
		"manager@agentyard.example", object{}, "ada@people.example", object{}, "grace@people.example", object{"team": "core"},
	})
	got := v.call(200, "GET", accounts, nil).object(v.t)["serviceAccounts"].([]any)
	same(v.t, "service accounts", len(got), accountCount)
	if accountCount > 0 {
		fields(v.t, "service account", got[len(got)-1].(object), object{"name": "ci", "description": "Runs the pipelines", "status": "active"})
	}
	same(v.t, "limits", v.call(200, "GET", userLimits, nil).object(v.t), object{"globalLimit": 50000000, "userLimits": []object{
		{"email": "manager@agentyard.example", "limit": nil}, {"email": "ada@people.example", "limit": nil}, {"email": "grace@people.example", "limit": 2000000},
	}})
	repositories := v.call(200, "GET", "/api/v0/automations/ci/repositories", nil).object(v.t)["repositories"].([]any)
	same(v.t, "repositories", len(repositories), 5)
	fields(v.t, "repository", repositories[2].(object), object{
		"fullName": "acme/payments", "defaultBranch": "main", "isPrivate": true, "userPermission": "write", "serviceAppWritable": true,
	})
}

func TestSeed(t *testing.T) {
	t.Parallel()
	seed := exampleSeed(t)
	v := start(t, emulator.Options{Seed: seed, DataFile: dataFile(t)})
	v.isSeeded(1)
	v.call(409, "POST", accounts, object{"name": "ci"})
	v.account("more")

	// The same seed changes nothing, and no seed is needed.
	for _, seed := range []*emulator.Seed{exampleSeed(t), nil} {
		must(t, v.Close())
		v = start(t, emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
		v.isSeeded(2)
	}

	// A reset goes back to what the emulator began with.
	must(t, v.Close())
	v = start(t, emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
	must(t, v.Reset())
	v.isSeeded(1)
}

func TestSeed_fillsOnlyAnEmptyOrganization(t *testing.T) {
	t.Parallel()
	other, err := readSeed(t, `{"usageLimits": {"global": 1000000}}`)
	must(t, err)
	refuses := func(v *env, seed *emulator.Seed) {
		v.t.Helper()
		must(v.t, v.Close())
		_, err := emulator.Start(v.t.Context(), emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
		fails(v.t, err, "organization.json was not loaded, because the organization in "+v.file+" is not empty; use a new data file or no seed")
	}

	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.call(200, "GET", members, nil) // It was used, but nothing was created.
	must(t, v.Close())
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock, Seed: exampleSeed(t)})
	v.isSeeded(1)
	refuses(v, other)
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock})
	must(t, v.Reset())
	must(t, v.Close())
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock, Seed: exampleSeed(t)})
	v.isSeeded(1)

	for name, create := range map[string]func(*env){
		"computer": func(v *env) { v.computer(object{"name": "a"}) },
		"member":   func(v *env) { v.human(emulator.RoleUser) },
		"repository": func(v *env) {
			must(v.t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/new"}))
		},
		"limit": func(v *env) { v.call(200, "PUT", globalLimits, object{"limit": 5000000}) },
		"deleted account": func(v *env) {
			id, _ := v.account("ci")
			v.call(200, "DELETE", accounts+"/"+id, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := start(t, emulator.Options{DataFile: dataFile(t)})
			create(v)
			refuses(v, other)
		})
	}
}

func TestReadSeed_refuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":              {"", "1:1: unexpected end of JSON input"},
		"cut off":              {"{\n  \"members\": [\n", "2:15: unexpected end of JSON input"},
		"a missing comma":      {"{\"members\": []\n  \"usageLimits\": {}}", "2:3: invalid character '\"' after object key:value pair"},
		"more than one":        {"{}\n{}", "2:1: invalid character '{' after top-level value"},
		"a list":               {" []", "1:2: the file must be an object"},
		"an unknown part":      {"{\n\t\"member\": []\n}", "2:2: unknown field \"member\""},
		"no list":              {`{"members": {}}`, `1:13: the value must be a list`},
		"no object":            {`{"members": ["ada"]}`, `1:14: the value must be an object, not a string`},
		"null":                 {`{"members": [null]}`, `1:14: the email address "" is not valid`},
		"no email":             {`{"members": [{"role": "user"}]}`, `1:14: the email address "" is not valid`},
		"an unknown field":     {"{\"members\": [{\"email\": \"ä@people.example\"},\n{\"name\": \"Ä\"}]}", `2:1: unknown field "name"`},
		"a column":             {`{"members": [{"email": "ä@people.example"}, {"name": "Ä"}]}`, `1:45: unknown field "name"`},
		"no text":              {`{"members": [{"email": 1}]}`, `1:14: the type of "email" is wrong: number`},
		"no address":           {`{"members": [{"email": "ada"}]}`, `1:14: the email address "ada" is not valid`},
		"the same member":      {`{"members": [{"email": "a@b.example"}, {"email": "A@b.example"}]}`, `1:40: there is another member "A@b.example"`},
		"the manager":          {`{"members": [{"email": "manager@agentyard.example"}]}`, `1:14: there is another member "manager@agentyard.example"`},
		"a role":               {`{"members": [{"email": "a@b.example", "role": "king"}]}`, `1:14: the role "king" is not user, manager, or owner`},
		"metadata":             {`{"members": [{"email": "a@b.example", "metadata": []}]}`, `1:14: the type of "metadata" is wrong: array`},
		"no address of a repo": {`{"repositories": [{"url": "acme/api"}]}`, `1:19: the URL "acme/api" must have the form https://host/owner/name`},
		"another host":         {`{"repositories": [{"url": "https://other.example/ACME/api"}]}`, `1:19: there is another repository "ACME/api"`},
		"two hosts":            {`{"repositories": [{"url": "https://x.example/a/b"}, {"url": "https://y.example/A/b"}]}`, `1:53: there is another repository "A/b"`},
		"a permission":         {`{"repositories": [{"url": "https://x.example/a/b", "userPermission": "all"}]}`, `1:19: the permission "all" is not admin, write, or read`},
		"no boolean":           {`{"repositories": [{"url": "https://x.example/a/b", "isPrivate": "yes"}]}`, `1:19: the type of "isPrivate" is wrong: string`},
		"no name":              {`{"serviceAccounts": [{"name": ""}]}`, `1:22: the name of a service account must have 1 to 128 characters, without NUL, got: ""`},
		"a NUL":                {`{"serviceAccounts": [{"name": "a\u0000"}]}`, `1:22: the name of a service account must have 1 to 128 characters, without NUL, got: "a\x00"`},
		"a long description":   {`{"serviceAccounts": [{"name": "a", "description": "` + strings.Repeat("x", 1025) + `"}]}`, `1:22: the description of service account "a" has more than 1024 characters`},
		"the same account":     {`{"serviceAccounts": [{"name": "a"}, {"name": "a"}]}`, `1:37: there is another service account "a"`},
		"a small limit":        {`{"usageLimits": {"global": 5}}`, `1:17: the global limit must be at least 1000000, got: 5`},
		"a large limit":        {`{"usageLimits": {"global": 1e300}}`, `1:17: the type of "global" is wrong: number 1e300`},
		"an unknown limit":     {`{"usageLimits": {"users": [{"mail": "a@b.example"}]}}`, `1:17: unknown field "mail"`},
		"a limit of nobody":    {`{"usageLimits": {"users": [{"email": "a@b.example", "limit": 1000000}]}}`, `1:17: there is no member "a@b.example"`},
		"no limit":             {`{"usageLimits": {"users": [{"email": "a@b.example"}]}}`, `1:17: the limit of "a@b.example" must be at least 1000000, got: 0`},
		"two limits": {
			"{\n\"usageLimits\": {\"users\": [\n{\"email\": \"a@b.example\", \"limit\": 1000000},\n{\"email\": \"A@b.example\", \"limit\": 2000000}\n]}, \"members\": [{\"email\": \"a@b.example\"}]}",
			`2:16: there are two limits of "A@b.example"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readSeed(t, tc.text)
			if err == nil || !strings.HasSuffix(err.Error(), string(filepath.Separator)+"organization.json:"+tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
	_, err := emulator.ReadSeed(filepath.Join(t.TempDir(), "none.json"))
	fails(t, err, "none.json")
}

// Everything but what is required can be left out, and the manager can have a limit.
func TestReadSeed_least(t *testing.T) {
	t.Parallel()
	seed, err := readSeed(t, `{"members": [{"email": "a@b.example"}], "repositories": [{"url": "https://code.example/acme/web", "userPermission": "read"}],
		"usageLimits": {"users": [{"email": "Manager@agentyard.example", "limit": 1000000}]}}`)
	must(t, err)
	v := start(t, emulator.Options{Seed: seed})
	repositories := v.call(200, "GET", "/api/v0/automations/ci/repositories", nil).object(t)["repositories"].([]any)
	same(t, "repositories", len(repositories), 4)
	fields(t, "repository", repositories[2].(object), object{"fullName": "acme/web", "defaultBranch": "main", "userPermission": "read", "isPrivate": false})
	limits := v.call(200, "GET", userLimits, nil).object(t)
	same(t, "limits", limits["userLimits"], []object{{"email": "manager@agentyard.example", "limit": 1000000}, {"email": "a@b.example", "limit": nil}})
	same(t, "global limit", limits["globalLimit"], nil)
	empty, err := readSeed(t, "{}")
	must(t, err)
	start(t, emulator.Options{Seed: empty})
}
