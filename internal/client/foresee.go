package client

import "context"

// ForeseeComputer says what a plan can know of a creation: an *ExistsError, or what the listing of the account's computers
// fails with, as it does with a wrong key, address or role. One listing in a process serves all computers of the account.
func (c *Client) ForeseeComputer(ctx context.Context, account, name string) error {
	found, err := foresee(ctx, c, c.computers, account, name)
	if err != nil {
		return err
	}
	return inTheWay(existing(found, (*Computer).existing))
}

// ForeseeFleet is ForeseeComputer for computers named "<prefix>-<number>". What exists is an *OthersError.
func (c *Client) ForeseeFleet(ctx context.Context, account, prefix string) error {
	found, err := foresee(ctx, c, c.computers, account, inFleet(prefix))
	if err != nil || len(found) == 0 {
		return err
	}
	return &OthersError{Prefix: prefix, Found: found}
}

// ForeseeServiceAccount is ForeseeComputer for service accounts.
func (c *Client) ForeseeServiceAccount(ctx context.Context, name string) error {
	found, err := foresee(ctx, c, c.accounts, organization, name)
	if err != nil {
		return err
	}
	return inTheWay(existing(found, (*ServiceAccount).existing))
}

// ForeseeAPIKey is ForeseeComputer for the keys of a service account. Keys that do not live any more do not count.
func (c *Client) ForeseeAPIKey(ctx context.Context, account, name string) error {
	found, err := foresee(ctx, c, c.apiKeys, account, name)
	if err != nil {
		return err
	}
	live := filter(found, func(k *APIKey) bool { return k.IsLive(c.clock.Now()) })
	return inTheWay(describeKeys(live))
}

// foresee returns the objects of a name for the plan of a creation, without those that this process has read by their IDs:
// their resources may be about to rename or replace them. A listing that fails is told once, and not tried again.
func foresee[T any](ctx context.Context, c *Client, s *shared[T], key, name string) ([]T, error) {
	if c.unconfigured != nil {
		return nil, nil // The apply knows more.
	}
	found, ok := s.knownNow(key, name)
	if !ok {
		var err error
		if found, err = s.find(ctx, key, name); err != nil {
			return nil, s.firstRefusal(key, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return filter(found, func(object *T) bool { return !s.asked[s.id(object)] }), nil
}

// knownNow returns the objects of a name as the inventory has them, which costs nothing and is there from an apply's first
// creation on. Where a listing was refused before, nothing is known and nothing is to be asked.
func (s *shared[T]) knownNow(key, name string) (found []T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.inventories[key]
	if v == nil {
		return nil, s.refused[key]
	}
	for id := range v.byName[name] {
		found = append(found, v.byID[id])
	}
	return found, true
}

// firstRefusal is the error of a listing, or nil where it was told before.
func (s *shared[T]) firstRefusal(key string, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused[key] {
		return nil
	}
	s.refused[key] = true
	return err
}
