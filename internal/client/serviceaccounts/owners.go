package serviceaccounts

import (
	"sync"
	"time"
)

// Owners are the accounts that this process created, and tried to delete, for the collections of what accounts own. The times are
// those of the local clock.
type Owners struct {
	mu               sync.Mutex
	created, deleted map[string]time.Time
}

// CreatedAt returns when this process created an account; zero if it did not.
func (o *Owners) CreatedAt(id string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.created[id]
}

// DeletedAt returns when this process last tried to delete an account, and with it the computers and keys; zero if it did not.
func (o *Owners) DeletedAt(id string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deleted[id]
}

func (o *Owners) note(times map[string]time.Time, id string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	times[id] = at
}
