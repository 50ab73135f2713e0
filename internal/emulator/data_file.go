package emulator

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// openDatabase opens a data file, or creates it. Any file that is not a whole database of the emulator is an error.
func openDatabase(file string, temporary bool) (*bolt.DB, error) {
	if err := checkDataFile(file); err != nil {
		return nil, fmt.Errorf("open the data file %s: %w", file, err)
	}
	db, err := openBolt(file, &bolt.Options{NoSync: temporary, NoFreelistSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, fmt.Errorf("open the data file %s: %w", file, err)
	}
	return db, nil
}

// checkDataFile reads all of an existing data file. The database itself checks nothing: a damaged page makes it panic, now or in
// a later request, and partly in goroutines of its own, where nobody can recover.
func checkDataFile(file string) error {
	switch info, err := os.Stat(file); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory; use the name of a file")
	case info.Size() == 0: // A new file, as some tools create it.
		return nil
	}
	db, err := openBolt(file, &bolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bolt.Tx) error {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		size := db.Info().PageSize
		d := &databaseFile{data: data, pageSize: size, pages: int(tx.Size()) / size, seen: map[int]bool{}, buckets: map[string]bool{}}
		root := uint64(tx.Cursor().Bucket().Root())
		switch err := d.checkPage(root, nil, nil); {
		case err != nil:
			return damaged(err)
		case len(d.buckets) > 0 && !d.buckets[metaTable.name]:
			return damaged("it is a database without an emulator's data")
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// openBolt opens a database. It does not wait long for another process.
func openBolt(file string, options *bolt.Options) (db *bolt.DB, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = damaged(problem)
		}
	}()
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

// databaseFile checks the pages of a database. Each is a header of 16 bytes and, for each of its records, an element of 16 bytes
// that says where key and value are. A leaf has values, or buckets with pages of their own; a branch has the numbers of pages.
type databaseFile struct {
	data            []byte
	pageSize, pages int
	seen            map[int]bool
	buckets         map[string]bool
}

const (
	pageHead   = 16
	branchPage = 1
	leafPage   = 2
	bucketFlag = 1
)

// checkPage checks a page and those below it. Their keys ascend from one to before the other, and no page is there twice.
func (d *databaseFile) checkPage(id uint64, from, before []byte) error {
	if id < 2 || id >= uint64(d.pages) || d.pages*d.pageSize > len(d.data) {
		return fmt.Errorf("page %d is missing", id)
	}
	at := int(id)
	page := d.data[at*d.pageSize:]
	more := int(binary.NativeEndian.Uint32(page[12:]))
	if binary.NativeEndian.Uint64(page) != id || at+more >= d.pages {
		return fmt.Errorf("page %d has a wrong header", id)
	}
	for n := at; n <= at+more; n++ {
		if d.seen[n] {
			return fmt.Errorf("page %d is used twice", n)
		}
		d.seen[n] = true
	}
	return d.checkRecords(page[:(1+more)*d.pageSize], from, before)
}

func (d *databaseFile) checkRecords(page, from, before []byte) error {
	kind, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if kind != leafPage && (kind != branchPage || count == 0) || pageHead*(1+count) > len(page) {
		return errors.New("a page has a wrong header")
	}
	keys, values := make([][]byte, count), make([][]byte, count)
	for i := range count {
		element := page[pageHead*(1+i):]
		n := [4]uint64{}
		for j := range n {
			n[j] = uint64(binary.NativeEndian.Uint32(element[4*j:]))
		}
		start, keySize, valueSize := n[1], n[2], n[3]
		if kind == branchPage {
			start, keySize, valueSize = n[0], n[1], 0
		}
		if start+keySize+valueSize > uint64(len(element)) {
			return errors.New("a record is outside of its page")
		}
		keys[i], values[i] = element[start:start+keySize], element[start+keySize:start+keySize+valueSize]
		if i > 0 && bytes.Compare(keys[i-1], keys[i]) >= 0 || bytes.Compare(keys[i], from) < 0 || before != nil && bytes.Compare(keys[i], before) >= 0 {
			return errors.New("keys are not in order")
		}
	}
	for i := range count {
		element, end := page[pageHead*(1+i):], before
		if i+1 < count {
			end = keys[i+1]
		}
		var err error
		switch {
		case kind == branchPage:
			err = d.checkPage(binary.NativeEndian.Uint64(element[8:]), keys[i], end)
		case binary.NativeEndian.Uint32(element) == bucketFlag:
			err = d.checkBucket(keys[i], values[i])
		case !json.Valid(values[i]):
			err = fmt.Errorf("the record %q is wrong", keys[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBucket checks the number of a bucket's first page, or the page itself if it is a small one.
func (d *databaseFile) checkBucket(name, value []byte) error {
	d.buckets[string(name)] = true
	if len(value) < pageHead {
		return fmt.Errorf("the bucket %q is wrong", name)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return d.checkPage(root, nil, nil)
	}
	if len(value) < 2*pageHead {
		return fmt.Errorf("the bucket %q is wrong", name)
	}
	return d.checkRecords(value[pageHead:], nil, nil)
}
