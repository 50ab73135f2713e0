package emulator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// readSeed reads a seed of a text.
func readSeed(t *testing.T, text string) (*emulator.Seed, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "organization.json")
	check.Must(t, os.WriteFile(file, []byte(text), 0o600))
	return emulator.ReadSeed(file)
}

// exampleSeed is the seed that the README shows.
func exampleSeed(t *testing.T) *emulator.Seed {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	check.Must(t, err)
	_, text, _ := strings.Cut(string(readme), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	seed, err := readSeed(t, text)
	check.Must(t, err)
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
		check.Must(t, v.Close())
		v = start(t, emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
		v.isSeeded(2)
	}

	// A reset goes back to what the emulator began with.
	check.Must(t, v.Close())
	v = start(t, emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
	check.Must(t, v.Reset())
	v.isSeeded(1)
}

func TestSeed_fillsOnlyAnEmptyOrganization(t *testing.T) {
	t.Parallel()
	other, err := readSeed(t, `{"usageLimits": {"global": 1000000}}`)
	check.Must(t, err)
	refuses := func(v *env, seed *emulator.Seed) {
		v.t.Helper()
		check.Must(v.t, v.Close())
		_, err := emulator.Start(v.t.Context(), emulator.Options{Seed: seed, DataFile: v.file, Clock: v.clock})
		check.Fails(v.t, err, "organization.json was not loaded, because the organization in "+v.file+" is not empty; use a new data file or no seed")
	}

	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.call(200, "GET", members, nil) // It was used, but nothing was created.
	check.Must(t, v.Close())
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock, Seed: exampleSeed(t)})
	v.isSeeded(1)
	refuses(v, other)
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock})
	check.Must(t, v.Reset())
	check.Must(t, v.Close())
	v = start(t, emulator.Options{DataFile: v.file, Clock: v.clock, Seed: exampleSeed(t)})
	v.isSeeded(1)

	for name, create := range map[string]func(*env){
		"computer": func(v *env) { v.computer(object{"name": "a"}) },
		"member":   func(v *env) { v.human(emulator.RoleUser) },
		"repository": func(v *env) {
			check.Must(v.t, v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/new"}))
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
		"no object":         {"{\n\"members\": [\"ada\"]}", `2: members cannot be a string; a seed is an object with members`},
		"no JSON":           {"{\"members\": [\n]]}", `2: invalid character ']'`},
		"more than one":     {"{}\n{}", "there is more than one value"},
		"an unknown field":  {`{"members": [{"mail": "a@b.example"}]}`, `unknown field "mail"; a seed is an object with members, repositories,`},
		"no address":        {`{"members": [{"email": "a@b.example"}, {"email": "ada"}]}`, `members[1]: the email address "ada" is not valid`},
		"the manager":       {`{"members": [{"email": "Manager@agentyard.example"}]}`, `members[0]: a member with the email address Manager@agentyard.example already exists`},
		"a repository":      {`{"repositories": [{"url": "acme/api"}]}`, `repositories[0]: the URL "acme/api" must have the form https://host/owner/name`},
		"no name":           {`{"serviceAccounts": [{"name": ""}]}`, `serviceAccounts[0]: /name: expected string, at least 1 long`},
		"a small limit":     {`{"usageLimits": {"global": 5}}`, `usageLimits.global: /limit: expected integer, at least 1000000`},
		"a limit of nobody": {`{"usageLimits": {"users": [{"email": "a@b.example", "limit": 1000000}]}}`, `usageLimits.users[0]: no member has the email address "a@b.example"`},
		"no limit":          {`{"usageLimits": {"users": [{"email": "manager@agentyard.example"}]}}`, `usageLimits.users[0]: /users/*/limit: expected integer, at least 1000000`},
		"two limits of one": {`{"usageLimits": {"users": [{"email": "manager@agentyard.example", "limit": 1000000}, {"email": "Manager@agentyard.example", "limit": 1000000}]}}`, `usageLimits.users[1]: there is another limit`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed, err := readSeed(t, tc.text)
			if err == nil {
				_, err = emulator.Start(t.Context(), emulator.Options{Seed: seed})
			}
			check.Fails(t, err, "organization.json:", tc.want)
		})
	}
	_, err := emulator.ReadSeed(filepath.Join(t.TempDir(), "none.json"))
	check.Fails(t, err, "none.json")
}

const pageSize = 4096

// savedState is a data file with many pages.
func savedState(t *testing.T) []byte {
	t.Helper()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.call(201, "POST", computers+"/bulk", object{"quantity": 20, "namePrefix": "c"})
	check.Must(t, v.Close())
	data, err := os.ReadFile(v.file)
	check.Must(t, err)
	return data
}

// startFrom starts an emulator from a data file, and closes it.
func startFrom(t *testing.T, file string) error {
	t.Helper()
	e, err := emulator.Start(t.Context(), emulator.Options{DataFile: file})
	if err == nil {
		err = e.Close()
	}
	return err
}

func TestDataFileDamaged(t *testing.T) {
	t.Parallel()
	whole := savedState(t)
	try := func(data []byte) error {
		file := dataFile(t)
		check.Must(t, os.WriteFile(file, data, 0o600))
		err := startFrom(t, file)
		if err != nil {
			check.Fails(t, err, file, "damaged", "restore a copy of it, or use another file")
		}
		return err
	}
	check.Must(t, try(whole))
	check.Must(t, try(nil)) // An empty file is a new one.
	for _, length := range []int{1, 100, pageSize, 2 * pageSize, 3 * pageSize, 4*pageSize + 7} {
		check.Fails(t, try(whole[:length]))
	}
	for page := 2; page < len(whole)/pageSize; page++ { // Each is a stack trace of the database, if it is opened without a look.
		for at := range 10 {
			data := bytes.Clone(whole)
			data[page*pageSize+at] ^= 0x15
			_ = try(data) // Some pages are free, so their damage does no harm.
		}
	}
	text := bytes.Repeat([]byte("SQLite format 3\x00"), 3*pageSize/16)
	check.Fails(t, try(text))
}

func TestDataFileOfSomebodyElse(t *testing.T) {
	t.Parallel()
	file := dataFile(t)
	db, err := bolt.Open(file, 0o600, nil)
	check.Must(t, err)
	check.Must(t, db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("theirs"))
		if err != nil {
			return err
		}
		return b.Put([]byte("key"), []byte("{}"))
	}))
	check.Must(t, db.Close())
	check.Fails(t, startFrom(t, file), file, "without an emulator's data", "use another file")

	directory := t.TempDir()
	check.Fails(t, startFrom(t, directory), directory, "is a directory")
	inside := filepath.Join(directory, "no", "data.db")
	check.Fails(t, startFrom(t, inside), inside, "no such file or directory")
	if left, err := filepath.Glob(directory + "*.objects"); err != nil || left != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestDataFileInUse(t *testing.T) {
	t.Parallel()
	file := start(t, emulator.Options{DataFile: dataFile(t)}).file
	check.Fails(t, startFrom(t, file), file, "another emulator is using it; stop that one, or use another file")
}
