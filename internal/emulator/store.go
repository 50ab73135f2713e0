package emulator

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
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

func openStore(file string, copyOf *Emulator) (*store, error) {
	s := &store{}
	if file == "" {
		dir, err := os.MkdirTemp("", "agentyard-emulator-")
		if err != nil {
			return nil, fmt.Errorf("create a temporary directory for the emulator: %w", err)
		}
		s.temporary, file = dir, filepath.Join(dir, "data.db")
	}
	var err error
	if copyOf != nil {
		if err = copyOf.store.db.View(func(tx *bolt.Tx) error { return tx.CopyFile(file, 0o600) }); err != nil {
			return nil, errors.Join(fmt.Errorf("copy the emulator's data: %w", err), s.close())
		}
	}
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
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	// Only to read, because otherwise a damaged file panics in a goroutine, where nobody can recover.
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
			return tx.ForEach(readBucket)
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

// readBucket reads all pages of a bucket. It panics if one is damaged.
func readBucket(_ []byte, b *bolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		if v == nil {
			return readBucket(k, b.Bucket(k))
		}
		return nil
	})
}

func damaged(cause any) error {
	return fmt.Errorf("it is damaged, or belongs to another program; restore a copy of it, or use another file (%v)", cause)
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newID returns prefix and 26 characters that sort by time: 48 bits of milliseconds and 80 random bits. IDs of one millisecond sort at
// random, so a test of their order advances the clock between two objects.
func newID(prefix string, now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(millis(now))<<16)
	_, _ = rand.Read(b[6:]) // It never fails.
	return prefix + crockford.EncodeToString(b[:])
}

// randomText returns n random characters of the URL-safe base64 alphabet.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // It never fails.
	return base64.RawURLEncoding.EncodeToString(b)[:n]
}

// millis is the form in which the API shows times: Unix milliseconds.
func millis(t time.Time) int64 { return t.UnixMilli() }

// maxAhead is how far ahead the clock can be. It keeps every time within the range of the API's formats.
const maxAhead = 100 * 365 * 24 * time.Hour

// clockBody moves the clock.
type clockBody struct{ Advance, To string }

func (e *Emulator) clockView() values {
	return values{"time": e.clock.Now().UTC(), "ahead": e.clock.By().String()}
}

// moveClock moves the emulator's time forward. A restart keeps it, so that no object has a creation time in the future.
func (e *Emulator) moveClock(in clockBody) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		by, err := in.distance(e.clock.Now())
		switch {
		case err != nil:
			return err
		case by > maxAhead-e.clock.By():
			return badRequest("The clock can be at most 36500 days ahead; it is already ahead by %s.", e.clock.By())
		}
		ahead := e.clock.By() + by
		if err := errors.Join(metaAhead.put(tx, "ahead", ahead), e.store.writeClock(ahead)); err != nil {
			return err
		}
		e.clock.Advance(by)
		return nil
	})
}

func (s *store) writeClock(ahead time.Duration) error {
	if err := os.WriteFile(s.clock, []byte(ahead.String()), 0o600); err != nil {
		return fmt.Errorf("write how far the clock is ahead: %w", err)
	}
	return nil
}

// distance is how far to move the clock.
func (b clockBody) distance(now time.Time) (time.Duration, error) {
	if (b.Advance == "") == (b.To == "") {
		return 0, badRequest(`Give either "advance", a duration such as "30d", or "to", a time such as "2027-01-31T08:00:00Z".`)
	}
	if b.Advance != "" {
		by, err := clock.ParseDuration(b.Advance)
		switch {
		case err != nil:
			return 0, badRequest("The duration in \"advance\" is wrong: %v.", err)
		case by < 0:
			return 0, badRequest("The clock never goes back, so \"advance\" cannot be %s.", b.Advance)
		}
		return by, nil
	}
	to, err := time.Parse(time.RFC3339, b.To)
	switch {
	case err != nil:
		return 0, badRequest("The time in \"to\" is wrong: %q is not in RFC 3339, such as 2027-01-31T08:00:00Z.", b.To)
	case to.Before(now):
		return 0, badRequest("The clock never goes back, and \"to\" is before the current time %s.", now.UTC().Format(time.RFC3339))
	}
	return to.Sub(now), nil
}
