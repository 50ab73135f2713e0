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
	e.programmed.clear()
	e.ciScan.clear()
	e.faults.Clear()
	e.journal.Reset()
	return errors.Join(errs...)
}

// firstManager returns the bootstrap manager, also if it was removed from the organization.
func firstManager(tx *bolt.Tx) (member, error) {
	var id string
	if err := get(tx, bucketMeta, "bootstrapManager", &id); err != nil {
		return member{}, err
	}
	var m member
	err := get(tx, bucketMembers, id, &m)
	if errors.Is(err, errNotStored) {
		err = get(tx, bucketFormerMembers, id, &m)
	}
	return m, err
}

// empty removes everything but the first manager, its key and what the emulator begins with, which includes the seed.
func (e *Emulator) empty(tx *bolt.Tx) error {
	manager, err := firstManager(tx)
	if err != nil {
		return err
	}
	var bootstrap keyRecord
	if err := get(tx, bucketKeys, hashKey(e.bootstrapKey), &bootstrap); err != nil {
		return err
	}
	for _, name := range buckets {
		if string(name) == string(bucketMeta) {
			continue
		}
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return errors.Join(putMember(tx, manager), putKey(tx, bootstrap), firstChanges(tx, manager, e.clock.Now()), firstRepositories(tx), firstWorkflow(tx), e.fill(tx))
}
