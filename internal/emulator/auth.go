package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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

// member is a human of the organization. The ID begins with the time of creation, so that IDs sort as the members came.
type member struct {
	ID, Email, FirstName, LastName, Role string
	CreatedAt, LastSignInAt              int64
	Metadata                             map[string]any
}

// emailKey is the form in which email addresses are the same: they are compared without case.
func emailKey(email string) string { return strings.ToLower(email) }

func putMember(tx *bolt.Tx, m member) error {
	return errors.Join(put(tx, bucketMembers, m.ID, m), put(tx, bucketMemberEmails, emailKey(m.Email), m.ID))
}

// memberByEmail finds a member, or returns errNotStored.
func memberByEmail(tx *bolt.Tx, email string) (member, error) {
	var id string
	if err := get(tx, bucketMemberEmails, emailKey(email), &id); err != nil {
		return member{}, err
	}
	var m member
	err := get(tx, bucketMembers, id, &m)
	return m, err
}

// keyRecord is an API key of a member or a service account. Only a hash of the key is stored.
type keyRecord struct {
	ID, Name, Hash     string
	OwnerKind, OwnerID string
	born
	ExpiresAt, RevokedAt int64 // 0 means never. A RevokedAt in the future is the end of a grace period.
}

// revoked reports whether the key was revoked or its grace period after a rotation is over.
func (k keyRecord) revoked(now time.Time) bool { return k.RevokedAt != 0 && k.RevokedAt <= millis(now) }

func (k keyRecord) expired(now time.Time) bool { return k.ExpiresAt != 0 && k.ExpiresAt <= millis(now) }

// fingerprint identifies a key without revealing it.
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

// removeKey deletes a key, so that no listing shows it.
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
	// Role is RoleUser, RoleManager or RoleOwner; empty means that of a pending invitation, or else RoleUser.
	Role string
	// Metadata is what the listing of members shows beside the names. Its values are mostly strings.
	Metadata map[string]any
}

// AddHuman adds a member to the organization and returns its ID and an API key that acts with its role. A pending
// invitation of the email address counts as accepted.
// It returns an error if the email is malformed or taken, the role does not exist, or the metadata is not JSON.
func (e *Emulator) AddHuman(h Human) (id, key string, err error) {
	if err := checkHuman(h.Email, cmp.Or(h.Role, RoleUser)); err != nil {
		return "", "", err
	}
	now := e.clock.Now()
	id, key = newID("user_", now), newKeyValue()
	err = e.store.db.Update(func(tx *bolt.Tx) error {
		if stored(tx, bucketMemberEmails, emailKey(h.Email)) {
			return fmt.Errorf("a member with the email address %s already exists", h.Email)
		}
		var pending invitation
		if err := get(tx, bucketInvitations, emailKey(h.Email), &pending); err != nil && !errors.Is(err, errNotStored) {
			return err
		}
		m := member{
			ID: id, Email: h.Email, FirstName: h.FirstName, LastName: h.LastName, Role: cmp.Or(h.Role, pending.Role, RoleUser), CreatedAt: millis(now), Metadata: h.Metadata,
		}
		k := keyRecord{
			ID: newID("key_", now), Name: "added", Hash: hashKey(key), OwnerKind: kindHuman, OwnerID: id, born: born{CreatedAt: millis(now)},
		}
		return errors.Join(putMember(tx, m), putKey(tx, k), remove(tx, bucketInvitations, emailKey(h.Email)))
	})
	if err != nil {
		return "", "", err
	}
	return id, key, nil
}

// checkHuman returns an error if a human with this email address and role cannot be added.
func checkHuman(email, role string) error {
	if role != RoleUser && role != RoleManager && role != RoleOwner {
		return fmt.Errorf("the role %q is not user, manager, or owner", role)
	}
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		return fmt.Errorf("the email address %q is not valid", email)
	}
	return nil
}
