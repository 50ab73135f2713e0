package emulator

import (
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"
)

func orNull(ms int64) *int64 {
	if ms == 0 {
		return nil
	}
	return &ms
}

// view shows a key in a listing, where unset times are null. During its grace period, a rotated key is not revoked yet.
func (k keyRecord) view(now time.Time) values {
	v := values{
		"id": k.ID, "name": k.Name, "fingerprint": k.fingerprint(), "createdAt": k.CreatedAt, "isRevoked": k.revoked(now), "expiresAt": orNull(k.ExpiresAt), "revokedAt": nil,
	}
	if k.revoked(now) {
		v["revokedAt"] = k.RevokedAt
	}
	return v
}

func listAPIKeys(r *request, a *serviceAccount) (reply, error) {
	keys, err := keysOfOwner(r.tx, a.ID)
	return reply{200, values{"apiKeys": arrange(r.e, views(keys, func(k *keyRecord) values { return k.view(r.now) }))}}, err
}

// readExpiry reads expiresAt, in Unix milliseconds. A time in the past is refused, because the key could never be used.
func (r *request) readExpiry(f *fields) int64 {
	at := f.integer("expiresAt")
	if at > 0 && at <= millis(r.now) {
		f.problemBy("expiry-past", "expiresAt", "must be in the future")
	}
	return at
}

func createAPIKey(r *request) (reply, error) {
	f := r.fields()
	name, expiresAt := f.text("name"), r.readExpiry(f)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	a, err := r.accountInPath()
	if err != nil {
		return reply{}, err
	}
	minted, err := r.mint(a, name, expiresAt)
	return reply{201, minted}, err
}

// mint stores a new key of a service account and returns the response that shows its value.
func (r *request) mint(a *serviceAccount, name string, expiresAt int64) (values, error) {
	created, err := r.bornNow(keyTable)
	value := newKeyValue()
	k := keyRecord{
		ID: newID("key_", r.now), Name: name, Hash: hashKey(value), OwnerKind: kindService, OwnerID: a.ID,
		born: created, ExpiresAt: expiresAt,
	}
	r.noteChange(k.ID, name+" of "+a.Name)
	view := values{"id": k.ID, "value": value, "fingerprint": k.fingerprint(), "name": name, "expiresAt": orNull(expiresAt)}
	return values{"apiKey": view}, errors.Join(err, putKey(r.tx, k))
}

// accountKey finds the key that the path names.
func (r *request) accountKey() (*serviceAccount, *keyRecord, error) {
	a, err := r.accountInPath()
	if err != nil {
		return nil, nil, err
	}
	hash := keysByOwner.find(r.tx, key(a.ID, r.params["keyId"]))
	k, err := keyTable.get(r.tx, hash, notFound("The service account %q has no API key with the ID %q.", a.Name, r.params["keyId"]))
	return a, k, err
}

// revokeKey revokes a key now. A key that is already revoked keeps its revocation time.
func revokeKey(tx *bolt.Tx, k *keyRecord, now time.Time) error {
	if k.revoked(now) {
		return nil
	}
	k.RevokedAt = millis(now)
	return putKey(tx, *k)
}

func revokeAPIKey(r *request) (reply, error) {
	a, k, err := r.accountKey()
	if err != nil {
		return reply{}, err
	}
	r.noteChange(k.ID, k.Name+" of "+a.Name)
	return reply{status: 204}, revokeKey(r.tx, k, r.now)
}

// rotateAPIKey replaces a key by one of the same name. The old one stops at once, or after the grace period.
// A key that is revoked or already rotated is a conflict: nothing is left to replace. One that has expired is refused by
// the rule that a grace period must not lengthen a key's life.
func rotateAPIKey(r *request) (reply, error) {
	f := r.fields()
	expiresAt, grace := r.readExpiry(f), f.integer("gracePeriodMinutes")
	if err := f.done(); err != nil {
		return reply{}, err
	}
	a, old, err := r.accountKey()
	if err != nil {
		return reply{}, err
	}
	graceUntil := millis(r.now) + grace*time.Minute.Milliseconds()
	switch {
	case old.revoked(r.now):
		return reply{}, conflict("The API key %q is revoked and cannot be rotated; create a new one.", old.Name)
	case old.RevokedAt != 0:
		return reply{}, conflict("The API key %q was already rotated; it remains valid until its grace period ends.", old.Name)
	case old.expired(r.now):
		return reply{}, refuse("grace-beyond-expiry", "The API key %q has expired and cannot be rotated; create a new one.", old.Name)
	case grace > 0 && old.ExpiresAt != 0 && old.ExpiresAt < graceUntil:
		return reply{}, refuse("grace-beyond-expiry", "The API key %q expires before the grace period of %d minutes ends.", old.Name, grace)
	}
	old.RevokedAt = graceUntil
	minted, err := r.mint(a, old.Name, expiresAt)
	return reply{200, minted}, errors.Join(err, putKey(r.tx, *old))
}
