package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// MaxBulk is how many computers one bulkCreateComputers may ask for.
const MaxBulk = 20

// fleetWorkers bounds the requests that go out at once for the computers of one fleet.
const fleetWorkers = 8

// BulkCreateRequest is the body of bulkCreateComputers. Quantity is 1 to MaxBulk there; CreateFleet splits a larger one.
type BulkCreateRequest struct {
	Quantity         int      `json:"quantity"`
	NamePrefix       string   `json:"namePrefix"`
	Provider         string   `json:"provider,omitempty"`
	Repos            []string `json:"repos,omitempty"`
	AutoInstallDeps  *bool    `json:"autoInstallDeps,omitempty"`
	ServiceAccountID string   `json:"serviceAccountId,omitempty"`
}

// BulkCreateResult is what a bulk creation made. Error says why it stopped early; what was made by then stays.
type BulkCreateResult struct {
	Computers         []Computer `json:"computers"`
	RequestedQuantity int        `json:"requestedQuantity"`
	Error             *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// complete reports that the answer accounts for what was asked for, if only by saying why it is missing.
func (r *BulkCreateResult) complete(quantity int) bool {
	for i := range r.Computers {
		if r.Computers[i].ID == "" {
			return false
		}
	}
	return r.Error != nil || len(r.Computers) >= quantity
}

// ShortfallError says that a bulk creation made fewer computers than it was asked for.
type ShortfallError struct {
	// Requested and Made are numbers of computers of the one request that fell short.
	Requested, Made int
	// Message is the service's explanation; Err is set instead where its answer was lost.
	Message string
	Err     error
}

func (e *ShortfallError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the answer to bulkCreateComputers was lost; of the %d computers it asked for, %d are found: %v", e.Requested, e.Made, e.Err)
	}
	return fmt.Sprintf("bulkCreateComputers made %d of %d computers and stopped: %s", e.Made, e.Requested, e.Message)
}

func (e *ShortfallError) Unwrap() error { return e.Err }

// OthersError says that computers bear names of a fleet, and that nothing proves them to be the fleet's own.
type OthersError struct {
	Prefix string
	Found  []Computer
	// Err is why a creation cannot tell them from its own: its answer was lost. Nil before anything is sent.
	Err error
}

// maxNamed bounds how many computers a text names.
const maxNamed = 20

func (e *OthersError) Error() string {
	var names []string
	for i := range e.Found {
		c := &e.Found[i]
		name := fmt.Sprintf("%s (%s", c.Name, c.ID)
		if at := c.CreatedAt.Time(); !at.IsZero() {
			name += ", created at " + at.UTC().Format(time.RFC3339)
		}
		names = append(names, name+")")
	}
	text := fmt.Sprintf("computers named \"%s-<number>\" exist that are not known to belong to this fleet: %s", e.Prefix, phrase.Names(names, maxNamed))
	if e.Err != nil {
		text += fmt.Sprintf("; these are more than were asked for, and the answer that tells which are new was lost: %v", e.Err)
	}
	return text
}

func (e *OthersError) Unwrap() error { return e.Err }

// FleetSuffix returns the number in a name of the form "<prefix>-<number>", without leading zeros. It is a string
// because nothing bounds it; CompareSuffixes orders them.
func FleetSuffix(prefix, name string) (string, bool) {
	digits, ok := strings.CutPrefix(name, prefix+"-")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	return strings.TrimLeft(digits, "0"), true
}

// CompareSuffixes compares two results of FleetSuffix as numbers.
func CompareSuffixes(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Fleet is what exists under the names of a fleet.
type Fleet struct {
	// Members are the computers that were asked for by ID and exist, whatever they are named by now.
	Members []Computer
	// Others bear names of the fleet, but their IDs were not asked for.
	Others []Computer
}

// Fleet looks for the computers with the given IDs and for others of the fleet's names, in the listing that all reads
// of the account's computers share. What the listing lacks is asked for by itself before it counts as gone.
func (c *Client) Fleet(ctx context.Context, prefix, account string, ids []string) (*Fleet, error) {
	listed, err := c.computers.all(ctx, account)
	// Without a listing each computer is asked for alone. An account that is gone took its computers with it.
	if err != nil && !IsNotFound(err) && (!cannotList(err) || len(ids) == 0) {
		return nil, err
	}
	fleet := &Fleet{Others: othersIn(listed, prefix, ids)}
	byID := make(map[string]*Computer, len(listed))
	for i := range listed {
		byID[listed[i].ID] = &listed[i]
	}
	var missing []string
	for _, id := range ids {
		if found, ok := byID[id]; ok {
			fleet.Members = append(fleet.Members, *found)
		} else {
			missing = append(missing, id)
		}
	}
	alone := make([]*Computer, len(missing))
	for _, err := range inParallel(len(missing), func(i int) (err error) {
		alone[i], err = c.ComputerAlone(ctx, missing[i])
		return err
	}) {
		if err != nil && !IsNotFound(err) {
			return nil, err
		}
	}
	for _, found := range alone {
		if found != nil {
			fleet.Members = append(fleet.Members, *found)
		}
	}
	return fleet, nil
}

// othersIn returns the computers of the fleet's names whose IDs are not known.
func othersIn(all []Computer, prefix string, known []string) []Computer {
	ours := setOf(known)
	var others []Computer
	for i := range all {
		if _, ok := FleetSuffix(prefix, all[i].Name); ok && !ours[all[i].ID] {
			others = append(others, all[i])
		}
	}
	return others
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// CreateFleet makes body.Quantity computers named "<prefix>-<n>", in as many requests as that takes, one after the
// other, because the service hands out the lowest free suffixes. Known are the IDs that the fleet has already.
//
// No request is repeated after a lost answer. If there are computers of these names that are not known, nothing is sent
// and the error is an *OthersError; hence what is there after a lost answer and was not before is what the request made.
// What was made is returned also beside an error, which ends the creation: *ShortfallError, *LostError or the service's own.
func (c *Client) CreateFleet(ctx context.Context, body BulkCreateRequest, known []string) ([]Computer, error) {
	if body.Quantity <= 0 {
		return nil, nil
	}
	defer c.computers.discard()
	present, err := c.listComputersForReads(ctx, body.ServiceAccountID)
	if err != nil {
		return nil, err
	}
	if others := othersIn(present, body.NamePrefix, known); len(others) > 0 {
		return nil, &OthersError{Prefix: body.NamePrefix, Found: others}
	}
	known = slices.Clone(known)
	var made []Computer
	for wanted := body.Quantity; len(made) < wanted; {
		if err := ctx.Err(); err != nil {
			return made, fmt.Errorf("bulkCreateComputers was not sent for the remaining %d computers: %w", wanted-len(made), err)
		}
		body.Quantity = min(wanted-len(made), MaxBulk)
		batch, err := c.bulkCreate(ctx, body, known)
		for i := range batch {
			made, known = append(made, batch[i]), append(known, batch[i].ID)
		}
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// bulkCreate sends one request and, if its answer is lost or leaves open what was made, looks for what is new.
func (c *Client) bulkCreate(ctx context.Context, body BulkCreateRequest, known []string) ([]Computer, error) {
	result, err := c.BulkCreateComputers(ctx, body)
	switch {
	case err == nil && result.complete(body.Quantity):
		if result.Error != nil && len(result.Computers) < body.Quantity {
			return result.Computers, &ShortfallError{Requested: body.Quantity, Made: len(result.Computers), Message: result.Error.Message}
		}
		return result.Computers, nil
	case err == nil:
		err = &TransportError{Operation: "bulkCreateComputers", Method: http.MethodPost, Route: "/api/v0/computers/bulk", Err: errors.New("the answer does not say which computers were made")}
	case !isAmbiguous(err):
		return nil, err
	}
	found, findErr := c.newInFleet(ctx, body, known)
	switch {
	case len(found) == body.Quantity:
		return found, nil
	case len(found) > body.Quantity:
		return nil, &OthersError{Prefix: body.NamePrefix, Found: found, Err: err}
	case len(found) > 0:
		return found, &ShortfallError{Requested: body.Quantity, Made: len(found), Err: err}
	}
	return nil, &LostError{Object: "computer", Name: body.NamePrefix + "-<number>", Err: errors.Join(err, findErr)}
}

// newInFleet looks for the computers of a lost answer until all have shown up or the looks are used up. It also works
// when ctx has ended, because computers that exist must be known before the run stops.
func (c *Client) newInFleet(ctx context.Context, body BulkCreateRequest, known []string) ([]Computer, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lossCheckTimeout)
		defer cancel()
	}
	var found []Computer
	var lastErr error
	for _, pause := range looksAfterLoss {
		if err := c.clock.Sleep(ctx, pause); err != nil {
			return found, err
		}
		var present []Computer
		if present, lastErr = c.listComputersForReads(ctx, body.ServiceAccountID); lastErr != nil {
			continue
		}
		if found = othersIn(present, body.NamePrefix, known); len(found) >= body.Quantity {
			return found, nil
		}
	}
	return found, lastErr
}

// BulkCreateComputers makes up to MaxBulk computers named "<prefix>-<n>". A lost answer is the caller's to reconcile, by the prefix.
func (c *Client) BulkCreateComputers(ctx context.Context, body BulkCreateRequest) (*BulkCreateResult, error) {
	defer c.computers.discard()
	return call[BulkCreateResult](ctx, c, request{
		op:   operation{name: "bulkCreateComputers", method: http.MethodPost, route: "/api/v0/computers/bulk"},
		body: body,
	})
}

// DeleteComputers removes computers, several at a time. A failure does not keep the others from being removed. The
// errors are in the order of the IDs; nil means that the computer is gone, also where it was so before.
func (c *Client) DeleteComputers(ctx context.Context, ids []string) []error {
	return inParallel(len(ids), func(i int) error {
		if err := c.DeleteComputer(ctx, ids[i]); !IsNotFound(err) {
			return err
		}
		return nil
	})
}

// inParallel runs work for 0 to n-1, at most fleetWorkers at a time, and returns the error of each.
func inParallel(n int, work func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, fleetWorkers)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = work(i)
		})
	}
	running.Wait()
	return errs
}
