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
	e.faults.Clear()
	e.journal.Reset()
	return errors.Join(errs...)
}

// empty removes everything but the first manager and its key.
func (e *Emulator) empty(tx *bolt.Tx) error {
	var managerID string
	var manager member
	var bootstrap keyRecord
	if err := get(tx, bucketMeta, "bootstrapManager", &managerID); err != nil {
		return err
	}
	if err := errors.Join(get(tx, bucketMembers, managerID, &manager), get(tx, bucketKeys, hashKey(e.bootstrapKey), &bootstrap)); err != nil {
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
	if err := put(tx, bucketMembers, managerID, manager); err != nil {
		return err
	}
	return putKey(tx, bootstrap)
}
