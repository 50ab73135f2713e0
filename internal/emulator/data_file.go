package emulator

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// openDatabase opens a data file, or creates it. A file of another program is an error, and so is one without its end.
func openDatabase(file string, temporary bool) (*bolt.DB, error) {
	db, err := openBolt(file, &bolt.Options{NoSync: temporary, NoFreelistSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, fmt.Errorf("open the data file %s: %w", file, err)
	}
	return db, nil
}

// openBolt opens a database, which panics on some damage. It does not wait long for another process.
func openBolt(file string, options *bolt.Options) (db *bolt.DB, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = damaged(problem)
		}
	}()
	// Only to read, because otherwise a file without its end panics in a goroutine, where nobody can recover.
	if info, err := os.Stat(file); err == nil && info.Size() > 0 && info.Mode().IsRegular() && !options.ReadOnly {
		db, err := openBolt(file, &bolt.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		err = db.View(func(tx *bolt.Tx) error {
			if tx.Size() > info.Size() {
				return damaged("its end is missing")
			}
			if first, _ := tx.Cursor().First(); first != nil && tx.Bucket([]byte(metaTable.name)) == nil {
				return damaged("it is a database without an emulator's data")
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}
	options.Timeout = time.Second
	db, err = bolt.Open(file, 0o600, options)
	var system *os.PathError
	switch {
	case err == nil || errors.As(err, &system):
		return db, err
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, errors.New("another emulator is using it; stop that one, or use another file")
	}
	return nil, damaged(err)
}

func damaged(cause any) error {
	return fmt.Errorf("it is damaged, or belongs to another program; restore a copy of it, or use another file (%v)", cause)
}
