package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Seed is what an organization begins with, in addition to what every emulator begins with. ReadSeed reads and checks it.
type Seed struct {
	Members         []Human
	Repositories    []Repository
	ServiceAccounts []SeedAccount
	// GlobalLimit is the organization's usage limit; 0 means none.
	GlobalLimit int64
	UserLimits  []SeedLimit

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

// fill adds the seed to an empty organization, and stores which seed it was.
func (e *Emulator) fill(tx *bolt.Tx) error {
	s := e.opts.Seed
	if s == nil {
		return metaTable.remove(tx, "seed")
	}
	r := &request{e: e, tx: tx, now: e.clock.Now()}
	for i, h := range s.Members {
		id := newID("user_", r.now.Add(time.Duration(i+1)*time.Millisecond)) // Lists are sorted by ID.
		err := putMember(tx, member{
			ID: id, Email: h.Email, FirstName: h.FirstName, LastName: h.LastName, Role: h.Role, CreatedAt: millis(r.now), Metadata: h.Metadata,
		})
		if err != nil {
			return err
		}
	}
	for _, repo := range s.Repositories {
		if err := connectRepository(tx, repo); err != nil {
			return err
		}
	}
	for _, given := range s.ServiceAccounts {
		a := serviceAccount{ID: newID("sa_", r.now), Name: given.Name, Description: given.Description, Status: statusActive}
		var err error
		a.born, err = r.bornNow(accountTable)
		if err := errors.Join(err, accountTable.put(tx, a.ID, a)); err != nil {
			return err
		}
	}
	if s.GlobalLimit != 0 {
		if err := setLimit(tx, scopeOrganization, &s.GlobalLimit); err != nil {
			return err
		}
	}
	for _, l := range s.UserLimits {
		m, err := memberByEmail(tx, l.Email, fmt.Errorf("no member has the email address %q", l.Email))
		if err != nil {
			return err
		}
		if err := setLimit(tx, m.ID, &l.Limit); err != nil {
			return err
		}
	}
	seed, err := json.Marshal(s)
	return errors.Join(err, metaTable.put(tx, "seed", string(seed)))
}
