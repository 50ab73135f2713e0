package emulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

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
