package emulator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const pageSize = 4096

// savedState is a data file with many pages.
func savedState(t *testing.T) []byte {
	t.Helper()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.call(201, "POST", computers+"/bulk", object{"quantity": 20, "namePrefix": "c"})
	must(t, v.Close())
	data, err := os.ReadFile(v.file)
	must(t, err)
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
		must(t, os.WriteFile(file, data, 0o600))
		err := startFrom(t, file)
		if err != nil {
			fails(t, err, file, "damaged", "restore a copy of it, or use another file")
		}
		return err
	}
	must(t, try(whole))
	must(t, try(nil)) // An empty file is a new one.
	for _, length := range []int{1, 100, pageSize, 2 * pageSize, 3 * pageSize, 4*pageSize + 7} {
		if try(whole[:length]) == nil {
			t.Errorf("a file of %d bytes is accepted", length)
		}
	}
	for page := 2; page < len(whole)/pageSize; page++ { // Each is a stack trace of the database, if it is opened without a look.
		for at := range 10 {
			data := bytes.Clone(whole)
			data[page*pageSize+at] ^= 0x15
			_ = try(data) // Some pages are free, so their damage does no harm.
		}
	}
	text := bytes.Repeat([]byte("SQLite format 3\x00"), 3*pageSize/16)
	if try(text) == nil {
		t.Error("a file of another program is accepted")
	}
}

func TestDataFileOfSomebodyElse(t *testing.T) {
	t.Parallel()
	file := dataFile(t)
	db, err := bolt.Open(file, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("theirs"))
		if err != nil {
			return err
		}
		return b.Put([]byte("key"), []byte("{}"))
	}))
	must(t, db.Close())
	fails(t, startFrom(t, file), file, "without an emulator's data", "use another file")

	directory := t.TempDir()
	fails(t, startFrom(t, directory), directory, "is a directory")
	inside := filepath.Join(directory, "no", "data.db")
	fails(t, startFrom(t, inside), inside, "no such file or directory")
	if left, err := filepath.Glob(directory + "*.objects"); err != nil || left != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestDataFileInUse(t *testing.T) {
	t.Parallel()
	file := start(t, emulator.Options{DataFile: dataFile(t)}).file
	fails(t, startFrom(t, file), file, "another emulator is using it; stop that one, or use another file")
}
