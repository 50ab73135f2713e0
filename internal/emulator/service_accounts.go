package emulator

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// serviceAccount is an identity for automation. Deleted ones stay stored, because the deletion is soft.
type serviceAccount struct {
	accountView
	born
	DeletedAt int64
}

// Accounts are by ID. The name of a deleted one is free again.
var (
	accountsByName = index[serviceAccount]{"account_names", func(a *serviceAccount) string {
		if a.DeletedAt != 0 {
			return ""
		}
		return a.Name
	}}
	accountTable = &table[serviceAccount]{"service_accounts", []index[serviceAccount]{accountsByName}}
)

// active reports whether the keys of the account may authenticate. It is false for the zero value.
func (a serviceAccount) active() bool { return a.Status == statusActive && a.DeletedAt == 0 }

// accountView is a service account as the API shows it.
type accountView struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
}

func serviceAccountArea() area {
	routes := []route{
		{operation: "listServiceAccounts", handle: listServiceAccounts},
		{operation: "createServiceAccount", handle: createServiceAccount},
		{operation: "getServiceAccount", handle: on((*request).accountInPath, getServiceAccount)},
		{operation: "updateServiceAccount", handle: on((*request).accountInPath, updateServiceAccount)},
		{operation: "deleteServiceAccount", handle: on((*request).accountInPath, deleteServiceAccount)},
		{operation: "listApiKeys", handle: on((*request).accountInPath, listAPIKeys)},
		{operation: "createApiKey", handle: createAPIKey},
		{operation: "revokeApiKey", handle: revokeAPIKey},
		{operation: "rotateApiKey", handle: rotateAPIKey},
	}
	for i := range routes {
		routes[i].admit, routes[i].handle = needsTeam, managersOnly(routes[i].handle)
	}
	return area{routes, []anyTable{accountTable, keyTable}}
}

// managersOnly refuses service accounts and members below the Manager role.
func managersOnly(handle func(*request) (reply, error)) func(*request) (reply, error) {
	return func(r *request) (reply, error) {
		if r.who.Kind == kindService {
			return reply{}, forbidden("Service account credentials are rejected here; a member with the Manager role or higher is required.")
		}
		if !r.who.manages() {
			return reply{}, forbidden("A member with the Manager role or higher is required.")
		}
		return handle(r)
	}
}

// account finds a service account that is not deleted.
func (r *request) account(id string) (*serviceAccount, error) {
	missing := notFound("No service account with the ID %q was found.", id)
	a, err := accountTable.get(r.tx, id, missing)
	if err == nil && a.DeletedAt != 0 {
		return nil, missing
	}
	return a, err
}

func listServiceAccounts(r *request) (reply, error) {
	accounts, err := accountTable.pick(r.tx, accountsByName.keys(r.tx, ""))
	return reply{200, values{"serviceAccounts": arrange(r.e, views(newest(accounts), func(a *serviceAccount) accountView { return a.accountView }))}}, err
}

// arrange returns a list of a record, in random order if ShuffleLists is set.
func arrange[T any](e *Emulator, list []T) []T {
	if !e.opts.ShuffleLists {
		return list
	}
	copied := slices.Clone(list)
	shuffle(copied)
	return copied
}

// shuffle reorders a list whose order the API leaves open.
func shuffle[T any](items []T) {
	rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
}

func createServiceAccount(r *request) (reply, error) {
	f := r.fields()
	a := serviceAccount{accountView: accountView{newID("sa_", r.now), f.text("name"), f.text("description"), statusActive}}
	if accountsByName.find(r.tx, a.Name) != "" {
		return reply{}, conflict("The organization already has a service account named %q.", a.Name)
	}
	var err error
	if a.born, err = r.bornNow(accountTable); err != nil {
		return reply{}, err
	}
	r.noteChange(a.ID, a.Name)
	return reply{201, a.accountView}, accountTable.put(r.tx, a.ID, a)
}

func getServiceAccount(r *request, a *serviceAccount) (reply, error) {
	return reply{200, a.accountView}, nil
}

func updateServiceAccount(r *request, a *serviceAccount) (reply, error) {
	f := r.fields()
	description, status := f.text("description"), f.text("status")
	if f.has("description") {
		a.Description = description
	}
	if f.has("status") {
		a.Status = status
	}
	r.noteChange(a.ID, a.Name)
	return reply{200, a.accountView}, accountTable.put(r.tx, a.ID, *a)
}

// deleteServiceAccount keeps the record, tears down the account's computers and revokes its keys.
func deleteServiceAccount(r *request, a *serviceAccount) (reply, error) {
	computers, err := computersOf(r.tx, a.ID)
	if err != nil {
		return reply{}, err
	}
	r.noteChange(a.ID, a.Name)
	for _, c := range computers {
		r.noteChange(c.ID, c.Name).Instead("deleted", "computers")
		if err := r.e.removeComputer(r.tx, c); err != nil {
			return reply{}, err
		}
	}
	keys, err := keysOfOwner(r.tx, a.ID)
	if err != nil {
		return reply{}, err
	}
	for _, k := range keys {
		if err := revokeKey(r.tx, k, r.now); err != nil {
			return reply{}, err
		}
	}
	a.DeletedAt = millis(r.now)
	return reply{200, values{"deleted": true}}, accountTable.put(r.tx, a.ID, *a)
}

// keysOfOwner returns all keys of a principal, newest first.
func keysOfOwner(tx *bolt.Tx, ownerID string) ([]*keyRecord, error) {
	keys, err := keyTable.pick(tx, keysByOwner.keys(tx, key(ownerID, "")))
	return newest(keys), err
}

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
