package client

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// unnamed is a POST that makes an object without a name of its own, and that is never repeated blindly. What it made is told from
// older objects by what was known before, by the service's own time, which must be told here, and by what was asked for.
// Creations of this process that ask for the same share what was made: once none is under way, as many new objects as answers were
// lost are theirs. If there are more, or of several owners, somebody else has made some, and all of them are named and not touched.
type unnamed[T any] struct {
	// object is for errors, such as "session on the computer 7".
	object string
	// among names the creations whose objects may be taken for each other.
	among string
	// untold is what is asked for and shows in no record. What may come of creations that differ in it is nobody's.
	untold string
	// asks is how much is asked for: an object that several may have made goes to the one that asks for most.
	asks int
	// known is what the process knows of the collection key that the object will belong to.
	known *shared[T]
	key   string
	// send makes the object.
	send func(ctx context.Context) (*T, error)
	// find asks the service for the objects among which the new one is.
	find func(ctx context.Context) ([]T, error)
	// createdAt is a part of an object. IsAmong reports that it is one that such creations make, isWanted that it has what was
	// asked for.
	createdAt func(*T) Millis
	isAmong   func(*T) bool
	isWanted  func(*T) bool
	// ownerOf is whose an object is, empty where it does not tell, and isAnothers that this is known not to be who creates.
	// Both are nil where only one's own objects are found.
	ownerOf    func(*T) string
	isAnothers func(*T) bool
	// existing is what an error tells of an object.
	existing func(*T) ExistsError
}

// gates are those of the creations whose objects may be taken for each other, by what unnamed.among is. The zero value is ready.
type gates[T any] struct {
	mu    sync.Mutex
	among map[string]*creationGate[T]
}

// creationGate keeps creations from being sent while it is found out what lost ones have made.
type creationGate[T any] struct {
	// sending is held for reading by each creation that is under way, and for writing by who looks for what was lost.
	sending sync.RWMutex
	// mu makes one step of finding an answer new and writing it down: two answers may name the same object.
	mu   sync.Mutex
	lost []*loss[T]
}

// loss is a creation that got no answer.
type loss[T any] struct {
	unnamed[T]
	before before[T]
	since  time.Time
	// newest is when the newest one was made of the objects that were known before.
	newest Millis
	// made or err is the outcome, once it is settled.
	made      *T
	err       error
	isSettled bool
}

func (g *gates[T]) get(among string) *creationGate[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.among == nil {
		g.among = map[string]*creationGate[T]{}
	}
	if g.among[among] == nil {
		g.among[among] = &creationGate[T]{}
	}
	return g.among[among]
}

// createUnnamed runs the creation. Besides the service's own errors it returns *LostError and *StrangerError. What is made
// is known to the shared collection.
func createUnnamed[T any](ctx context.Context, c *Client, all *gates[T], n unnamed[T]) (*T, error) {
	gate := all.get(n.among)
	made, lost, err := gate.send(ctx, c, n)
	if lost == nil {
		return made, err
	}
	gate.sending.Lock()
	defer gate.sending.Unlock()
	if !lost.isSettled {
		gate.settle(ctx, c)
	}
	return lost.made, lost.err
}

// send makes the object; where the answer is lost, that is what it returns.
func (g *creationGate[T]) send(ctx context.Context, c *Client, n unnamed[T]) (*T, *loss[T], error) {
	g.sending.RLock()
	defer g.sending.RUnlock()
	known, err := n.known.known(ctx, n.key, "", c.lastHeard())
	if err != nil {
		return nil, nil, err
	}
	since := c.serviceTime()
	made, err := n.send(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err == nil:
		if found := n.existing(made); known.knows(found.ID) {
			return nil, nil, &StrangerError{Object: n.object, Found: found, Err: &AnswerError{Problem: "the object existed before"}}
		}
		n.known.wrote(n.key, made)
		return made, nil, nil
	case !isAmbiguous(err):
		return nil, nil, err
	}
	lost := &loss[T]{unnamed: n, before: known, since: since, newest: known.newest(n.createdAt, n.isAmong), err: err}
	n.known.discard(n.key)
	g.lost = append(g.lost, lost)
	return nil, lost, nil
}

// settle finds what all the lost creations have made. None is under way meanwhile. All looks are used: a listing may show
// what somebody else has made before it shows what these have. Where the last look fails, nothing is handed out therefore.
func (g *creationGate[T]) settle(ctx context.Context, c *Client) {
	lost := g.lost
	g.lost = nil
	found, err := findAfterLoss(ctx, c, math.MaxInt, lost[0].find)
	for left := lost; err == nil && len(left) > 0 && !isDisputed(lost, found); {
		var kin []*loss[T]
		kin, left = related(left, found)
		settleRelated(kin, found)
	}
	for _, l := range lost {
		l.isSettled = true
		if l.made == nil {
			l.err = &LostError{Object: l.object, Found: l.unproven(found), Err: errors.Join(l.err, err)}
		}
	}
}

// isDisputed reports that objects which the creations may have made have several owners, so that not all are theirs.
func isDisputed[T any](lost []*loss[T], found []T) bool {
	owner := ""
	for i := range found {
		maker := slices.IndexFunc(lost, func(l *loss[T]) bool { return l.ownerOf != nil && l.mayHaveMade(&found[i]) })
		if maker < 0 {
			continue
		}
		its := lost[maker].ownerOf(&found[i])
		if owner != "" && its != "" && its != owner {
			return true
		}
		owner = cmp.Or(owner, its)
	}
	return false
}

// related parts the first of the creations, and all that may have made the same objects as it, or as those, from the others.
func related[T any](lost []*loss[T], found []T) (kin, others []*loss[T]) {
	kin, others = lost[:1:1], lost[1:]
	for at := 0; at < len(kin); at++ {
		var rest []*loss[T]
		for _, l := range others {
			if slices.ContainsFunc(found, func(object T) bool { return l.mayHaveMade(&object) && kin[at].mayHaveMade(&object) }) {
				kin = append(kin, l)
			} else {
				rest = append(rest, l)
			}
		}
		others = rest
	}
	return kin, others
}

// newest is when the newest one was made of those objects that were known before the creation began; zero for none.
func (b before[T]) newest(createdAt func(*T) Millis, isAmong func(*T) bool) Millis {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	var newest Millis
	if v := b.shared.inventories[b.key]; v != nil {
		for id, object := range v.byID {
			if v.since[id] <= b.begun && isAmong(&object) {
				newest = max(newest, createdAt(&object))
			}
		}
	}
	return newest
}

// settleRelated hands out what lost creations have made, unless there is more than they can have made, one of the objects is
// not proven to be new, or what the creations differ in does not show.
func settleRelated[T any](kin []*loss[T], found []T) {
	if slices.ContainsFunc(kin, func(l *loss[T]) bool { return l.untold != kin[0].untold }) {
		return
	}
	slices.SortStableFunc(kin, func(a, b *loss[T]) int { return cmp.Compare(b.asks, a.asks) })
	makers := func(object *T) []*loss[T] {
		return slices.DeleteFunc(slices.Clone(kin), func(l *loss[T]) bool { return !l.mayHaveMade(object) })
	}
	theirs := filter(found, func(object *T) bool { return len(makers(object)) > 0 })
	// What few can have made comes first: for what more can have made there is another one.
	slices.SortStableFunc(theirs, func(a, b T) int { return cmp.Compare(len(makers(&a)), len(makers(&b))) })
	made := map[*loss[T]]*T{}
	for i := range theirs {
		able := makers(&theirs[i])
		free := slices.IndexFunc(able, func(l *loss[T]) bool { return made[l] == nil })
		if free < 0 || !provenSince(able[free].createdAt(&theirs[i]), able[free].since) {
			return
		}
		made[able[free]] = &theirs[i]
	}
	for l, object := range made {
		l.made, l.err = object, nil
		l.known.wrote(l.key, object)
	}
}

// skew is how much older than the request, by the service's clocks, an object is said to be that may still come of it.
const skew = 5 * time.Minute

// isNobodys reports that an object was not known before the creation was sent, and that no other one of this process has made it.
func (l *loss[T]) isNobodys(object *T) bool {
	id := l.existing(object).ID
	return !l.before.knows(id)
}

// mayHaveMade reports that an object is what was asked for, and that nothing shows that it was made before or by others.
func (l *loss[T]) mayHaveMade(object *T) bool {
	at := l.createdAt(object)
	return l.isNobodys(object) && madeSince(at, l.since) && (at == 0 || at >= l.newest) && l.isWanted(object) &&
		(l.isAnothers == nil || !l.isAnothers(object))
}

// unproven are the objects that the creation may have made, which are not handed out: those that have what was asked for
// or, if there are none, all, for the service may have made another one than it was asked for. One that seems to be a little
// older is among them: a service has more than one clock.
func (l *loss[T]) unproven(found []T) []ExistsError {
	theirs := filter(found, func(object *T) bool { return l.isNobodys(object) && madeSince(l.createdAt(object), l.since.Add(-skew)) })
	if wanted := filter(theirs, l.isWanted); len(wanted) > 0 {
		theirs = wanted
	}
	return existing(theirs, l.existing)
}
