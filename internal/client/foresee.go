package client

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// leftoverAge is how long ago a run may have been cut short for what it left behind to be looked for.
	leftoverAge = 30 * time.Minute
	// defaultHoldsArrive is real time, in which the resources that a plan reads beside a creation show what they hold.
	defaultHoldsArrive = time.Second
	// mostDoubting is how many plans of creations may make that pause at the same time: of Terraform's ten slots most stay
	// free for what is read.
	mostDoubting = 4
)

// ForeseeComputer says what a plan can know of a creation: an *ExistsError, or what the listing of the account's computers
// fails with, as it does with a wrong key, address or role. One listing in a process serves all computers of the account,
// and none is made once something was created: a creation looks for itself.
func (c *Client) ForeseeComputer(ctx context.Context, account, name string) error {
	found, err := foresee(ctx, c, c.computers, account, name)
	if err != nil {
		return err
	}
	return inTheWay(existing(unheld(c.computers, "", found), (*Computer).existing))
}

// ForeseeFleet is ForeseeComputer for computers named "<prefix>-<number>". What exists is an *OthersError.
func (c *Client) ForeseeFleet(ctx context.Context, account, prefix string) error {
	found, err := foresee(ctx, c, c.computers, account, inFleet(prefix))
	if found = unheld(c.computers, inFleet(prefix), found); err != nil || len(found) == 0 {
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
	return inTheWay(existing(unheld(c.accounts, "", found), (*ServiceAccount).existing))
}

// ForeseeAPIKey is ForeseeComputer for the keys of a service account. Keys that do not live any more do not count.
func (c *Client) ForeseeAPIKey(ctx context.Context, account, name string) error {
	found, err := foresee(ctx, c, c.apiKeys, account, name)
	if err != nil {
		return err
	}
	live := filter(unheld(c.apiKeys, "", found), func(k *APIKey) bool { return k.IsLive(c.clock.Now()) })
	return inTheWay(describeKeys(live))
}

// ForeseeEnvironment is ForeseeComputer for environments. The same name in another scope does not count.
func (c *Client) ForeseeEnvironment(ctx context.Context, scope, name string) error {
	found, err := foresee(ctx, c, c.environments, organization, inScope(scope, name))
	if err != nil {
		return err
	}
	return inTheWay(existing(unheld(c.environments, "", found), (*Environment).existing))
}

// HoldComputer notes that a resource of this run holds a computer, and may rename or replace it: ForeseeComputer does not
// tell of it. A read by the ID notes it too.
func (c *Client) HoldComputer(id string) { c.computers.hold("", id) }

// HoldFleet is HoldComputer for the computers of a fleet, of which ForeseeFleet does not tell either.
func (c *Client) HoldFleet(prefix string, ids []string) {
	for _, id := range ids {
		c.computers.hold("", id)
		c.computers.hold(inFleet(prefix), id)
	}
}

// HoldServiceAccount is HoldComputer for a service account.
func (c *Client) HoldServiceAccount(id string) { c.accounts.hold("", id) }

// HoldAPIKey is HoldComputer for an API key.
func (c *Client) HoldAPIKey(id string) { c.apiKeys.hold("", id) }

// HoldEnvironment is HoldComputer for an environment.
func (c *Client) HoldEnvironment(id string) { c.environments.hold("", id) }

// NoteRefresh notes that a resource is being read, as in a plan. The run that applies it reads none.
func (c *Client) NoteRefresh() { c.refreshed.Store(true) }

// leftovers is a *LeftoverError where a run that was cut short seems to have made what a creation asks for: an object
// without a name of its own that is alike and young, and that no resource is known to hold. One plan tells of an object.
// The plan of one creation of a kin makes a pause before, in which Terraform may read the resource that holds the object, or
// any, and tells of what others of the kin find meanwhile, too. If any of the kin is held, more may be; if nothing is read,
// this may be an apply, in which all of it may be.
func leftovers[T any](ctx context.Context, c *Client, s *shared[T], key, kin string, createdAt func(*T) Millis, isAlike func(*T) bool, describe func(*T) ExistsError) error {
	if c.unconfigured != nil || s.knowsBetter(key) {
		return nil
	}
	all, err := s.all(ctx, key)
	if err != nil {
		return s.firstRefusal(key, err)
	}
	now := c.serviceTime()
	found := unheld(s, "", filter(all, func(object *T) bool {
		return isAlike(object) && createdAt(object).Time().After(now.Add(-leftoverAge))
	}))
	if now.IsZero() || !s.doubt(kin, found) {
		return nil
	}
	found, hasPaused, err := pauseInDoubt(ctx, c, s, kin)
	if found = unheld(s, "", found); err != nil || len(found) == 0 {
		return err
	}
	return &LeftoverError{
		Found:     existing(found, describe),
		Beside:    slices.ContainsFunc(found, func(object T) bool { return !isAlike(&object) }),
		MayBeHeld: !hasPaused || !c.refreshed.Load() || s.holdsKin(kin),
	}
}

// pauseInDoubt returns what is doubted of a kin, once all of it has been for a while. It does so at once, and hasPaused is
// false, where too many others make a pause.
func pauseInDoubt[T any](ctx context.Context, c *Client, s *shared[T], kin string) (found []T, hasPaused bool, err error) {
	hasPaused = c.doubting.Add(1) <= mostDoubting
	defer c.doubting.Add(-1)
	if !hasPaused {
		found, _ = s.decide(kin, math.MaxInt)
		return found, false, nil
	}
	for seen := 0; ; {
		found, seen = s.decide(kin, seen)
		if seen == 0 {
			return found, true, nil
		}
		if err := clock.System.Sleep(ctx, c.holdsArrive); err != nil {
			s.decide(kin, math.MaxInt)
			return nil, false, err
		}
	}
}

// foresee returns the objects of a name for the plan of a creation. A listing that fails is told once, and not tried again.
func foresee[T any](ctx context.Context, c *Client, s *shared[T], key, name string) ([]T, error) {
	if c.unconfigured != nil || s.knowsBetter(key) {
		return nil, nil
	}
	found, err := s.find(ctx, key, name)
	if err != nil {
		return nil, s.firstRefusal(key, err)
	}
	return found, nil
}

// knowsBetter reports that plans need not list a collection: a creation has begun, which looks for itself, or the listing
// was refused before.
func (s *shared[T]) knowsBetter(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inventories[key] != nil || s.refused[key]
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

// hold notes that a resource holds an object, as one of a fleet where that is given.
func (s *shared[T]) hold(fleet, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[fleet+" "+id] = true
}

// holds reports that a resource is known to hold an object.
func (s *shared[T]) holds(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[" "+id]
}

// holdKin notes that a resource holds one of the objects that are each other's kin, and returns what takes that back.
func (s *shared[T]) holdKin(kin string) (release func()) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heldKin[kin] += n
	}
	add(1)
	return func() { add(-1) }
}

func (s *shared[T]) holdsKin(kin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heldKin[kin] > 0
}

// doubt notes what a creation takes for leftovers, as far as none has before, and reports that the caller is to decide about
// it: no other creation of the kin is about to.
func (s *shared[T]) doubt(kin string, found []T) (isCallers bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isCallers = len(s.doubted[kin]) == 0
	for i := range found {
		if id := s.id(&found[i]); !s.wasDoubted[id] {
			s.wasDoubted[id] = true
			s.doubted[kin] = append(s.doubted[kin], found[i])
		}
	}
	return isCallers && len(s.doubted[kin]) > 0
}

// decide returns what is doubted of a kin, which is not from now on. Where there is more of it than was seen before, all of
// it goes on to be doubted, and decide returns how many that are.
func (s *shared[T]) decide(kin string, seen int) (found []T, doubts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found = s.doubted[kin]; len(found) > seen {
		return nil, len(found)
	}
	delete(s.doubted, kin)
	return found, 0
}

// unheld returns those of the objects that no resource is known to hold.
func unheld[T any](s *shared[T], fleet string, objects []T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return filter(objects, func(object *T) bool { return !s.held[fleet+" "+s.id(object)] })
}
