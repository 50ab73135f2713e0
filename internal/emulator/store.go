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

	bolt "go.etcd.io/bbolt"
)

// The buckets of the database. Keys with several parts are joined by key().
var (
	bucketMeta           = []byte("meta")             // name → value
	bucketMembers        = []byte("members")          // member ID → member
	bucketKeys           = []byte("keys")             // hash of the key → keyRecord
	bucketKeysByOwner    = []byte("keys_by_owner")    // owner, key ID → hash
	bucketAccounts       = []byte("service_accounts") // account ID → serviceAccount
	bucketAccountNames   = []byte("account_names")    // name → account ID, without deleted accounts
	bucketComputers      = []byte("computers")        // computer ID → computer
	bucketComputerOwners = []byte("computer_owners")  // owner, computer ID → computer ID
	bucketComputerNames  = []byte("computer_names")   // owner, name → computer ID
	bucketComputerHosts  = []byte("computer_hosts")   // owner, host ID → computer ID
	bucketSoftwareDrafts = []byte("software_drafts")  // owner and the three IDs → computer ID
	bucketUploads        = []byte("uploads")          // computer ID, file name → storedObject not yet completed
	bucketWorkspaceFiles = []byte("workspace_files")  // computer ID, file name → storedObject

	bucketEnvironments     = []byte("environments")      // environment ID → environment
	bucketEnvironmentNames = []byte("environment_names") // owner, name → environment ID
	bucketBuilds           = []byte("builds")            // environment ID, build ID → build
	bucketDefaults         = []byte("defaults")          // scopeOrganization → environment ID

	bucketMemberEmails   = []byte("member_emails")   // email in lower case → member ID
	bucketFormerMembers  = []byte("former_members")  // ID of a removed member → formerMember
	bucketInvitations    = []byte("invitations")     // email in lower case → invitation
	bucketUsageLimits    = []byte("usage_limits")    // member ID, or scopeOrganization for the global one → credits
	bucketControlChanges = []byte("control_changes") // revision in ten digits → controlChange
	bucketQuietDays      = []byte("quiet_days")      // date → true

	bucketSessions      = []byte("sessions")       // session ID → session, deleted ones too
	bucketSessionOwners = []byte("session_owners") // owner, time of creation, session ID → computer ID, without deleted sessions
	bucketMessages      = []byte("messages")       // session ID, time of creation, number in ten digits → message

	bucketRepositories = []byte("repositories") // full name in lower case → connectedRepository
	bucketCIWorkflows  = []byte("ci_workflows") // full name in lower case, path → ciWorkflow
	bucketCIJobs       = []byte("ci_jobs")      // full name in lower case, path → ciJob
	bucketCIPulls      = []byte("ci_pulls")     // full name in lower case, number in ten digits → address
	bucketCIRuns       = []byte("ci_runs")      // number in ten digits → run, as it was given

	bucketWikiRuns  = []byte("wiki_runs")  // run ID → wikiRun
	bucketWikiPages = []byte("wiki_pages") // run ID, place in eight digits → wikiPage

	buckets = [][]byte{bucketMeta, bucketMembers, bucketKeys, bucketKeysByOwner, bucketAccounts, bucketAccountNames, bucketComputers, bucketComputerOwners, bucketComputerNames, bucketComputerHosts, bucketSoftwareDrafts, bucketUploads, bucketWorkspaceFiles, bucketEnvironments, bucketEnvironmentNames, bucketBuilds, bucketDefaults, bucketMemberEmails, bucketFormerMembers, bucketInvitations, bucketUsageLimits, bucketControlChanges, bucketQuietDays, bucketSessions, bucketSessionOwners, bucketMessages, bucketRepositories, bucketCIWorkflows, bucketCIJobs, bucketCIPulls, bucketCIRuns, bucketWikiRuns, bucketWikiPages}
)

// errNotStored says that the database holds no value under a key.
var errNotStored = errors.New("not stored")

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
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return fmt.Errorf("create bucket %s: %w", name, err)
			}
		}
		return nil
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

// get reads the value stored under a key into a pointer. It returns errNotStored when there is none.
func get(tx *bolt.Tx, bucket []byte, key string, into any) error {
	data := tx.Bucket(bucket).Get([]byte(key))
	if data == nil {
		return errNotStored
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s %q from the database: %w", bucket, key, err)
	}
	return nil
}

// put stores a value under a key.
func put(tx *bolt.Tx, bucket []byte, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s %q to the database: %w", bucket, key, err)
	}
	return tx.Bucket(bucket).Put([]byte(key), data)
}

// born is when an object was created. Seq orders objects of the same millisecond.
type born struct {
	CreatedAt int64
	Seq       uint64
}

// bornNow is for an object that a request creates in a bucket. Numbers continue after a restart.
func (r *request) bornNow(bucket []byte) (born, error) {
	seq, err := r.tx.Bucket(bucket).NextSequence()
	return born{CreatedAt: millis(r.now), Seq: seq}, err
}

// compareNewest orders objects, newest first.
func compareNewest(a, b born) int {
	return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Seq, a.Seq))
}

// remove deletes a key; one that is not stored is no error.
func remove(tx *bolt.Tx, bucket []byte, key string) error {
	return tx.Bucket(bucket).Delete([]byte(key))
}

// stored reports whether a key holds a value.
func stored(tx *bolt.Tx, bucket []byte, key string) bool {
	return tx.Bucket(bucket).Get([]byte(key)) != nil
}

// scan calls visit for each key that begins with prefix, in order. The value is valid only during the call.
func scan(tx *bolt.Tx, bucket []byte, prefix string, visit func(key string, value []byte) error) error {
	c := tx.Bucket(bucket).Cursor()
	for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
		if err := visit(string(k), v); err != nil {
			return err
		}
	}
	return nil
}

// keysOf returns all keys that begin with prefix. Use it where the loop changes the bucket.
func keysOf(tx *bolt.Tx, bucket []byte, prefix string) ([]string, error) {
	var keys []string
	err := scan(tx, bucket, prefix, func(key string, _ []byte) error {
		keys = append(keys, key)
		return nil
	})
	return keys, err
}
