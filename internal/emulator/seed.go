package emulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Seed is what an organization begins with, in addition to what every emulator begins with. Start checks it.
type Seed struct {
	Members         []Human       `json:"members"`
	Repositories    []Repository  `json:"repositories"`
	ServiceAccounts []SeedAccount `json:"serviceAccounts"`
	UsageLimits     struct {
		Global *int64      `json:"global"`
		Users  []SeedLimit `json:"users"`
	} `json:"usageLimits"`

	file string
}

// SeedAccount is a service account of a seed. It has no keys.
type SeedAccount struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// SeedLimit is the usage limit of a member.
type SeedLimit struct {
	Email string `json:"email"`
	Limit int64  `json:"limit"`
}

// ReadSeed reads a seed file.
func ReadSeed(file string) (*Seed, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the seed: %w", err)
	}
	seed := &Seed{file: file}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(seed); err != nil {
		return nil, fmt.Errorf("%s%s; a seed is an object with members, repositories, serviceAccounts, and usageLimits, as in the README", file, seedProblem(data, err))
	}
	if dec.More() {
		return nil, fmt.Errorf("%s: there is more than one value", file)
	}
	return seed, nil
}

// seedProblem says where a seed is wrong, and why.
func seedProblem(data []byte, err error) string {
	line := func(offset int64) int { return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n")) }
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf(":%d: %s cannot be a %s", line(mistyped.Offset), cmp.Or(mistyped.Field, "the seed"), mistyped.Value)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf(":%d: %s", line(syntax.Offset), err)
	}
	return ": " + strings.TrimPrefix(err.Error(), "json: ")
}

// loadSeed fills an empty organization with the seed. If the same seed filled it before, it stays as it is.
func (e *Emulator) loadSeed() error {
	if e.opts.Seed == nil {
		return nil
	}
	return e.store.db.Update(func(tx *bolt.Tx) error {
		seed, err := json.Marshal(e.opts.Seed)
		if err != nil {
			return err
		}
		loaded, err := metaText(tx, "seed")
		switch {
		case err != nil:
			return err
		case loaded == string(seed):
			return nil
		case !isEmpty(tx):
			return fmt.Errorf("%s was not loaded, because the organization in %s is not empty; use a new data file or no seed",
				e.opts.Seed.file, e.opts.DataFile)
		}
		return e.fill(tx)
	})
}

// isEmpty reports whether an organization has nothing but what every emulator begins with.
func isEmpty(tx *bolt.Tx) bool {
	initial := map[anyTable]int{memberTable: 1, keyTable: 1, repositoryTable: len(initialRepositories), workflowTable: 1}
	for _, t := range allTables() {
		isObject := t != anyTable(controlTable) && t != anyTable(quietDayTable)
		if isObject && t.size(tx) > initial[t] {
			return false
		}
	}
	return true
}

// fill adds the seed to an empty organization, and stores which seed it was. Entries are added as the API and the control API add
// them, so an error is theirs. It names the entry.
func (e *Emulator) fill(tx *bolt.Tx) error {
	s := e.opts.Seed
	if s == nil {
		return metaTable.remove(tx, "seed")
	}
	r := &request{e: e, tx: tx, now: e.clock.Now()}
	var failed error // The first error.
	at := func(err error, format string, args ...any) {
		if refused, ok := errors.AsType[*apiError](err); ok {
			err = errors.New(refused.detail)
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %s: %w", s.file, fmt.Sprintf(format, args...), err)
		}
	}
	post := func(operation string, handle func(*request) (reply, error), body any) (err error) {
		if r.body, err = json.Marshal(body); err != nil {
			return err
		}
		for _, d := range e.doc.CheckBody(operation, r.body) {
			return invalidFor(deviation(d))
		}
		_, err = handle(r)
		return err
	}
	for i, h := range s.Members {
		id := newID("user_", r.now.Add(time.Duration(i+1)*time.Millisecond)) // Lists are sorted by ID.
		at(addMember(tx, h, id, r.now), "members[%d]", i)
	}
	for i, repo := range s.Repositories {
		at(connectRepository(tx, repo), "repositories[%d]", i)
	}
	for i, account := range s.ServiceAccounts {
		at(post("createServiceAccount", createServiceAccount, account), "serviceAccounts[%d]", i)
	}
	if s.UsageLimits.Global != nil {
		at(post("setGlobalUsageLimit", setGlobalLimit, values{"limit": s.UsageLimits.Global}), "usageLimits.global")
	}
	for i, l := range s.UsageLimits.Users {
		m, err := memberByEmail(tx, l.Email, fmt.Errorf("no member has the email address %q", l.Email))
		switch {
		case err != nil:
		case limitTable.has(tx, m.ID):
			err = fmt.Errorf("there is another limit of %q", l.Email)
		default:
			err = post("setUserUsageLimits", setUserLimits, values{"users": []SeedLimit{l}})
		}
		at(err, "usageLimits.users[%d]", i)
	}
	if failed != nil {
		return failed
	}
	seed, err := json.Marshal(s)
	return errors.Join(err, metaTable.put(tx, "seed", string(seed)))
}

// Reset empties the emulator: objects, keys, members, uploaded files, whatever was programmed, and the journal. The
// bootstrap key stays valid, and the clock where it is, because time never goes back.
func (e *Emulator) Reset() error {
	if err := e.store.db.Update(e.empty); err != nil {
		return fmt.Errorf("empty the database: %w", err)
	}
	files, err := os.ReadDir(e.store.objects)
	if err != nil {
		return fmt.Errorf("remove the uploaded files: %w", err)
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, removeFile(filepath.Join(e.store.objects, file.Name())))
	}
	e.program(func(s *switches) { *s = switches{} })
	e.ciScan.clear()
	e.faults.Clear()
	e.journal.Reset()
	return errors.Join(errs...)
}

// firstManager returns the bootstrap manager, also if it was removed from the organization.
func firstManager(tx *bolt.Tx) (*member, error) {
	id, err := metaText(tx, "bootstrapManager")
	if err != nil {
		return nil, err
	}
	m, err := memberTable.get(tx, id, nil)
	if m != nil || err != nil {
		return m, err
	}
	former, err := formerMemberTable.get(tx, id, errors.New("the first manager is not in the database"))
	if err != nil {
		return nil, err
	}
	return &former.member, nil
}

// empty removes everything but the first manager, its key and what the emulator begins with, which includes the seed.
func (e *Emulator) empty(tx *bolt.Tx) error {
	manager, err := firstManager(tx)
	if err != nil {
		return err
	}
	bootstrap, err := keyTable.get(tx, hashKey(e.bootstrapKey), errors.New("the bootstrap key is not in the database"))
	if err != nil {
		return err
	}
	for _, t := range allTables() {
		if err := t.clear(tx); err != nil {
			return err
		}
	}
	return errors.Join(putMember(tx, *manager), putKey(tx, *bootstrap), firstChanges(tx, *manager, e.clock.Now()), firstRepositories(tx), firstWorkflow(tx), e.fill(tx))
}
