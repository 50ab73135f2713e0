package serviceaccounts

import (
	"sync"
	"time"
)

// Owners are the accounts that this process created and deleted, for the collections of what accounts own.
type Owners struct {
	mu      sync.Mutex
	created map[string]time.Time
	deleted map[string]bool
}

// CreatedAt returns when this process created an account, by the local clock; zero if it did not.
func (o *Owners) CreatedAt(id string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.created[id]
}

// IsDeleted reports whether this process deleted an account, and with it the computers and keys.
func (o *Owners) IsDeleted(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deleted[id]
}

func (o *Owners) create(id string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.created[id] = at
}

func (o *Owners) delete(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deleted[id] = true
}
