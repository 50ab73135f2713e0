package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The roles of members.
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

// manages reports whether the caller is a member with the Manager role or higher.
func (p principal) manages() bool {
	return p.Kind == kindHuman && (p.Role == RoleManager || p.Role == RoleOwner)
}

// member belongs to the organization. The ID begins with the time of creation, so that IDs sort as the members came.
type member struct {
	memberView
	Role string `json:"role"`
}

// emailKey is the form in which email addresses are the same: they are compared without case.
func emailKey(email string) string { return strings.ToLower(email) }

// Members are by ID.
var (
	membersByEmail = index[member]{"member_emails", func(m *member) string { return emailKey(m.Email) }}
	memberTable    = &table[member]{"members", []index[member]{membersByEmail}}
)

func putMember(tx *bolt.Tx, m member) error { return memberTable.put(tx, m.ID, m) }

// memberByEmail finds a member. If there is none, it returns missing, which may be nil.
func memberByEmail(tx *bolt.Tx, email string, missing error) (*member, error) {
	return memberTable.get(tx, membersByEmail.find(tx, emailKey(email)), missing)
}

func isMember(tx *bolt.Tx, email string) bool { return membersByEmail.find(tx, emailKey(email)) != "" }

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

// Keys are by their hashes.
var (
	keysByOwner = index[keyRecord]{"keys_by_owner", func(k *keyRecord) string { return key(k.OwnerID, k.ID) }}
	keyTable    = &table[keyRecord]{"keys", []index[keyRecord]{keysByOwner}}
)

func putKey(tx *bolt.Tx, k keyRecord) error { return keyTable.put(tx, k.Hash, k) }

// authenticate finds the caller that an Authorization header belongs to, or answers 401.
func authenticate(tx *bolt.Tx, header string, now time.Time) (principal, error) {
	scheme, value, _ := strings.Cut(header, " ")
	if scheme != "Bearer" || value == "" {
		return principal{}, unauthorized("An API key is required in the header Authorization: Bearer.")
	}
	k, err := keyTable.get(tx, hashKey(value), unauthorized("The API key is not known."))
	switch {
	case err != nil:
		return principal{}, err
	case k.revoked(now):
		return principal{}, unauthorized("The API key was revoked.")
	case k.expired(now):
		return principal{}, unauthorized("The API key has expired.")
	}
	if k.OwnerKind == kindService {
		inactive := unauthorized("The service account of this API key is not active.")
		a, err := accountTable.get(tx, k.OwnerID, inactive)
		if err == nil && !a.active() {
			err = inactive
		}
		return principal{Kind: kindService, ID: k.OwnerID}, err
	}
	m, err := memberTable.get(tx, k.OwnerID, unauthorized("The member this API key belongs to was removed."))
	if err != nil {
		return principal{}, err
	}
	return principal{Kind: kindHuman, ID: m.ID, Role: m.Role}, nil
}

// Human describes a member to add to the organization.
type Human struct {
	Email     string `json:"email"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	// Role is RoleUser, RoleManager or RoleOwner; empty means that of a pending invitation, or else RoleUser.
	Role string `json:"role"`
	// Metadata is what the listing of members shows beside the names. Its values are mostly strings.
	Metadata map[string]any `json:"metadata"`
}

// AddHuman adds a member to the organization and returns its ID and an API key that acts with its role. A pending
// invitation of the email address counts as accepted.
// It returns an error if the email is malformed or taken, the role does not exist, or the metadata is not JSON.
func (e *Emulator) AddHuman(h Human) (id, key string, err error) {
	now := e.clock.Now()
	id, key = newID("user_", now), newKeyValue()
	err = e.store.db.Update(func(tx *bolt.Tx) error {
		k := keyRecord{ID: newID("key_", now), Name: "added", Hash: hashKey(key), OwnerKind: kindHuman, OwnerID: id, born: born{CreatedAt: millis(now)}}
		return errors.Join(addMember(tx, h, id, now), putKey(tx, k))
	})
	if err != nil {
		return "", "", err
	}
	return id, key, nil
}

// addMember adds a member with an ID and without a key. A pending invitation counts as accepted.
func addMember(tx *bolt.Tx, h Human, id string, now time.Time) error {
	if err := checkHuman(h.Email, cmp.Or(h.Role, RoleUser)); err != nil {
		return err
	}
	if isMember(tx, h.Email) {
		return fmt.Errorf("a member with the email address %s already exists", h.Email)
	}
	pending, err := invitationTable.get(tx, emailKey(h.Email), nil)
	if err != nil {
		return err
	}
	if pending != nil {
		h.Role = cmp.Or(h.Role, pending.Role)
	}
	m := member{memberView{ID: id, Email: h.Email, FirstName: h.FirstName, LastName: h.LastName, CreatedAt: toMillis(now), Metadata: values{}}, cmp.Or(h.Role, RoleUser)}
	maps.Copy(m.Metadata, h.Metadata)
	return errors.Join(putMember(tx, m), invitationTable.remove(tx, emailKey(h.Email)))
}

// checkHuman returns an error if a member with this email address and role cannot be added.
func checkHuman(email, role string) error {
	if role != RoleUser && role != RoleManager && role != RoleOwner {
		return fmt.Errorf("the role %q is not user, manager, or owner", role)
	}
	if !isAddress(email) {
		return fmt.Errorf("the email address %q is not valid", email)
	}
	return nil
}

// The tiers of an organization. Service accounts and some operations of computers need the team tier; without it they are
// answered 402. Analytics needs the enterprise tier; without it, it is answered 403.
const (
	TierFree       = "free"
	TierTeam       = "team"
	TierEnterprise = "enterprise"
)

// tiers are all of them, from the lowest.
var tiers = []string{TierFree, TierTeam, TierEnterprise}

func checkTier(tier string) error {
	if !slices.Contains(tiers, tier) {
		return fmt.Errorf("the tier %q is not free, team, or enterprise", tier)
	}
	return nil
}

// SetTier changes the organization's tier, from Options.Tier until Reset. It returns an error if there is no such tier.
func (e *Emulator) SetTier(tier string) error {
	if err := checkTier(tier); err != nil {
		return err
	}
	e.program(func(s *switches) { s.tier = tier })
	return nil
}

// tier is the organization's tier now.
func (e *Emulator) tier() string { return cmp.Or(e.switched().tier, e.opts.Tier) }

// needsTeam admits callers of an organization that has at least the team tier.
func needsTeam(r *request) error {
	if r.e.tier() == TierFree {
		return fail(http.StatusPaymentRequired, "The organization has the tier free; this needs at least the tier team.")
	}
	return nil
}
