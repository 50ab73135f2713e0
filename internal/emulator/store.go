package emulator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// metaTable is what the emulator knows about itself, and metaAhead the one duration among it.
var (
	metaTable = &table[string]{name: "meta"}
	metaAhead = &table[time.Duration]{name: metaTable.name}
)

// metaText returns a text that the emulator knows about itself, or "".
func metaText(tx *bolt.Tx, name string) (string, error) {
	text, err := metaTable.get(tx, name, nil)
	if text == nil {
		return "", err
	}
	return *text, nil
}

// store is the database and what is kept beside it: the directory of uploaded files and the file of the clock.
type store struct {
	db        *bolt.DB
	objects   string
	clock     string // File that tells how far the clock is ahead.
	temporary string // Directory to remove on close; empty for a data file of the user.
}

func openStore(file string) (*store, error) {
	s := &store{}
	if file == "" {
		dir, err := os.MkdirTemp("", "agentyard-emulator-")
		if err != nil {
			return nil, fmt.Errorf("create a temporary directory for the emulator: %w", err)
		}
		s.temporary, file = dir, filepath.Join(dir, "data.db")
	}
	var err error
	if s.clock, err = filepath.Abs(file + ".clock"); err != nil {
		return nil, errors.Join(fmt.Errorf("find the emulator's working directory: %w", err), s.close())
	}
	if s.db, err = openDatabase(file, s.temporary != ""); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.objects = file + ".objects"
	if err := os.MkdirAll(s.objects, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("create the directory for uploaded files: %w", err), s.close())
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		err := metaTable.open(tx)
		for _, t := range allTables() {
			err = errors.Join(err, t.open(tx))
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *store) close() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.temporary != "" {
		errs = append(errs, os.RemoveAll(s.temporary))
	}
	return errors.Join(errs...)
}

// key joins the parts of a compound key. No part may hold a NUL; request validation sees to that.
func key(parts ...string) string { return strings.Join(parts, "\x00") }

// born is when an object was created. Seq orders objects of the same millisecond.
type born struct {
	CreatedAt int64
	Seq       uint64
}

func (b born) birth() born { return b }

// bornNow is for an object that a request creates in a table. Numbers continue after a restart.
func (r *request) bornNow(t anyTable) (born, error) {
	seq, err := t.bucket(r.tx).NextSequence()
	return born{CreatedAt: millis(r.now), Seq: seq}, err
}

// compareNewest orders objects, newest first.
func compareNewest(a, b born) int {
	return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Seq, a.Seq))
}

// entries are what a bucket has under keys that begin with a prefix, in order. A value is valid only during its turn of the loop, and
// the loop must not change the bucket.
func entries(tx *bolt.Tx, bucket, prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		c := tx.Bucket([]byte(bucket)).Cursor()
		for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
			if !yield(string(k), v) {
				return
			}
		}
	}
}
