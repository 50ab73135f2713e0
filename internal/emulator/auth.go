package emulator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The roles of human members.
const (
	RoleUser    = "user"
	RoleManager = "manager"
	RoleOwner   = "owner"
)

// The kinds of principals, as computers show them in ownerPrincipalKind.
const (
	kindHuman   = "human"
	kindService = "service"
)

// principal is an authenticated caller, or the owner of something.
type principal struct {
	Kind string
	ID   string
	Role string // Empty for service accounts.
}

// manages reports whether the caller is a human with the manager role or higher.
func (p principal) manages() bool {
	return p.Kind == kindHuman && (p.Role == RoleManager || p.Role == RoleOwner)
}

// member is a human of the organization.
type member struct {
	ID, Email, FirstName, LastName, Role string
	CreatedAt, LastSignInAt              int64
}

// keyRecord is an API key of a member or a service account. The key itself is nowhere stored.
type keyRecord struct {
	ID, Name, Hash     string
	OwnerKind, OwnerID string
	born
	ExpiresAt, RevokedAt int64 // 0 means never. A RevokedAt in the future is the end of a grace period.
}

// revoked reports whether the key was revoked or its grace period after a rotation is over.
func (k keyRecord) revoked(now time.Time) bool { return k.RevokedAt != 0 && k.RevokedAt <= millis(now) }

func (k keyRecord) expired(now time.Time) bool { return k.ExpiresAt != 0 && k.ExpiresAt <= millis(now) }

// fingerprint identifies a key without giving it away.
func (k keyRecord) fingerprint() string { return "SHA256:" + k.Hash[:16] }

func hashKey(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// newKeyValue returns a new API key in the service's form.
func newKeyValue() string { return "fk-" + randomText(43) }

func putKey(tx *bolt.Tx, k keyRecord) error {
	if err := put(tx, bucketKeys, k.Hash, k); err != nil {
		return err
	}
	return put(tx, bucketKeysByOwner, key(k.OwnerID, k.ID), k.Hash)
}

// removeKey forgets a key as if it had never been.
func removeKey(tx *bolt.Tx, hash string) error {
	var k keyRecord
	if err := get(tx, bucketKeys, hash, &k); errors.Is(err, errNotStored) {
		return nil
	} else if err != nil {
		return err
	}
	return errors.Join(remove(tx, bucketKeys, hash), remove(tx, bucketKeysByOwner, key(k.OwnerID, k.ID)))
}

// authenticate finds the caller that an Authorization header belongs to, or answers 401.
func authenticate(tx *bolt.Tx, header string, now time.Time) (principal, error) {
	scheme, value, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || value == "" {
		return principal{}, unauthorized("An API key is required in the header Authorization: Bearer.")
	}
	var k keyRecord
	err := get(tx, bucketKeys, hashKey(value), &k)
	switch {
	case errors.Is(err, errNotStored):
		return principal{}, unauthorized("The API key is not known.")
	case err != nil:
		return principal{}, err
	case k.revoked(now):
		return principal{}, unauthorized("The API key was revoked.")
	case k.expired(now):
		return principal{}, unauthorized("The API key has expired.")
	}
	if k.OwnerKind == kindService {
		var a serviceAccount
		if err := get(tx, bucketAccounts, k.OwnerID, &a); err != nil && !errors.Is(err, errNotStored) {
			return principal{}, err
		}
		if !a.active() {
			return principal{}, unauthorized("The service account of this API key is not active.")
		}
		return principal{Kind: kindService, ID: k.OwnerID}, nil
	}
	var m member
	if err := get(tx, bucketMembers, k.OwnerID, &m); errors.Is(err, errNotStored) {
		return principal{}, unauthorized("The member this API key belongs to was removed.")
	} else if err != nil {
		return principal{}, err
	}
	return principal{Kind: kindHuman, ID: m.ID, Role: m.Role}, nil
}

// Human describes a member to add to the organization.
type Human struct {
	Email, FirstName, LastName string
	// Role is RoleUser, RoleManager or RoleOwner; empty means RoleUser.
	Role string
}

// AddHuman adds a member to the organization and returns its ID and an API key that acts with its role.
// An error means that the email is malformed or taken, or that the role does not exist.
func (e *Emulator) AddHuman(h Human) (id, key string, err error) {
	if h.Role == "" {
		h.Role = RoleUser
	}
	if h.Role != RoleUser && h.Role != RoleManager && h.Role != RoleOwner {
		return "", "", fmt.Errorf("add member %s: the role %q is not user, manager or owner", h.Email, h.Role)
	}
	if a, err := mail.ParseAddress(h.Email); err != nil || a.Address != h.Email {
		return "", "", fmt.Errorf("add member %q: the email address is malformed", h.Email)
	}
	now := e.clock.Now()
	id, key = newID("user_", now), newKeyValue()
	err = e.store.db.Update(func(tx *bolt.Tx) error {
		err := scan(tx, bucketMembers, "", func(_ string, value []byte) error {
			var m member
			if err := json.Unmarshal(value, &m); err != nil {
				return fmt.Errorf("read a member from the database: %w", err)
			}
			if strings.EqualFold(m.Email, h.Email) {
				return fmt.Errorf("add member %s: the organization has a member with this email address", h.Email)
			}
			return nil
		})
		if err != nil {
			return err
		}
		m := member{ID: id, Email: h.Email, FirstName: h.FirstName, LastName: h.LastName, Role: h.Role, CreatedAt: millis(now)}
		if err := put(tx, bucketMembers, id, m); err != nil {
			return err
		}
		return putKey(tx, keyRecord{
			ID: newID("key_", now), Name: "added", Hash: hashKey(key), OwnerKind: kindHuman, OwnerID: id, born: born{CreatedAt: millis(now)},
		})
	})
	if err != nil {
		return "", "", err
	}
	return id, key, nil
}
