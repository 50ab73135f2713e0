package computers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
		return fmt.Sprintf("the response to bulkCreateComputers was lost; %[2]d of the %[1]d requested computers were found: %[3]v", e.Requested, e.Made, e.Err)
	}
	return fmt.Sprintf("bulkCreateComputers created %d of %d computers and stopped: %s", e.Made, e.Requested, e.Message)
}

func (e *ShortfallError) Unwrap() error { return e.Err }

// ForeignComputersError says that computers bear names of a fleet, and that nothing proves them to be the fleet's own.
type ForeignComputersError struct {
	Prefix, Account string
	Found           []Computer
	// Err is why a creation cannot tell them from its own: its answer was lost. Nil before anything is sent.
	Err error
}

func (e *ForeignComputersError) Error() string {
	names := make([]string, len(e.Found))
	for i := range e.Found {
		names[i] = e.Found[i].describe()
	}
	text := fmt.Sprintf("computers named \"%s-<number>\" exist that do not belong to this fleet: %s", e.Prefix, phrase.Names(names, phrase.MaxNamed))
	if e.Err != nil {
		text += fmt.Sprintf("; the response to the request was lost, so nothing proves which of them it created: %v", e.Err)
	}
	return text
}

func (c *Computer) describe() string {
	text := fmt.Sprintf("%s (%s", c.Name, c.ID)
	if at := c.CreatedAt.Time(); !at.IsZero() {
		text += ", created at " + at.UTC().Format(time.RFC3339)
	}
	return text + ")"
}

func (e *ForeignComputersError) Unwrap() error { return e.Err }

// Existing describes the computers, which are imported together, as a fleet.
func (e *ForeignComputersError) Existing() []create.ExistsError {
	found := create.Describe(e.Found, (*Computer).existing)
	for i := range found {
		found[i].ImportID = strings.TrimPrefix(e.Account+"/"+e.Prefix, "/")
	}
	return found
}

// FleetNumber returns the number in a name of the form "<prefix>-<number>".
func FleetNumber(prefix, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 63)
	return int(number), err == nil
}

// ListFleet returns the account's computers named "<prefix>-<number>".
func (c *Client) ListFleet(ctx context.Context, prefix, account string) ([]Computer, error) {
	found, err := c.listings.Find(ctx, account, inFleet(prefix))
	if transport.IsNotFound(err) {
		err = c.accounts.GoneWithAccount(ctx, account, &collection.UnprovenGoneError{Err: err, Listing: err})
	}
	return found, err
}

// GetMany returns those of an account's computers that exist, from the listing that all reads share. It asks for a
// computer that the listing lacks by itself.
func (c *Client) GetMany(ctx context.Context, account string, ids []string) ([]Computer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if _, err := c.listings.All(ctx, account); err != nil && !collection.CannotList(err) {
		return nil, err
	}
	found := make([]*Computer, len(ids))
	errs := inParallel(len(ids), func(i int) (err error) {
		found[i], err = c.Get(ctx, ids[i], account)
		return err
	})
	var computers []Computer
	for i, err := range errs {
		if err != nil && !collection.IsGone(err) {
			return nil, err
		}
		if err == nil {
			computers = append(computers, *found[i])
		}
	}
	return computers, nil
}

// GetManyNow is GetMany with a new listing.
func (c *Client) GetManyNow(ctx context.Context, account string, ids []string) ([]Computer, error) {
	c.listings.Invalidate(account)
	return c.GetMany(ctx, account, ids)
}

// foreignAmong returns the computers whose IDs are not known.
func foreignAmong(named []Computer, known []string) []Computer {
	ours := make(map[string]bool, len(known))
	for _, id := range known {
		ours[id] = true
	}
	return slices.DeleteFunc(named, func(c Computer) bool { return ours[c.ID] })
}

// CreateFleet makes body.Quantity computers named "<prefix>-<n>", in as many requests as that takes, one after the
// other, because the service hands out the lowest free suffixes. Known are the IDs that the fleet has already.
//
// No request is repeated after a lost answer. If there are computers of these names that are not known, nothing is sent
// and the error is an *ForeignComputersError; hence what is there after a lost answer, was not before and is not older than the
// request is what the request made. What was made is returned also beside an error, which ends the creation:
// *ShortfallError, *ForeignComputersError, *LostError or the service's own.
func (c *Client) CreateFleet(ctx context.Context, body BulkCreateRequest, known []string) ([]Computer, error) {
	if body.Quantity <= 0 {
		return nil, nil
	}
	account, names := body.ServiceAccountID, inFleet(body.NamePrefix)
	release, err := c.listings.Creating.Lock(ctx, account+"/"+names)
	if err != nil {
		return nil, err
	}
	defer release()
	knew, err := c.listings.Snapshot(ctx, account, names, c.conn.LastResponseAt())
	if err != nil {
		return nil, err
	}
	if len(foreignAmong(knew.Named, known)) > 0 {
		// What is known may be out of date by now.
		present, err := c.listings.FindNow(ctx, account, names)
		if err != nil {
			return nil, err
		}
		if others := foreignAmong(present, known); len(others) > 0 {
			return nil, &ForeignComputersError{Prefix: body.NamePrefix, Account: account, Found: others}
		}
	}
	var made []Computer
	for wanted := body.Quantity; len(made) < wanted; {
		if err := ctx.Err(); err != nil {
			return made, fmt.Errorf("bulkCreateComputers was not sent for the remaining %d computers: %w", wanted-len(made), err)
		}
		body.Quantity = min(wanted-len(made), MaxBulk)
		batch, err := c.bulkCreate(ctx, body, knew)
		for i := range batch {
			c.listings.Put(account, &batch[i])
		}
		if made = append(made, batch...); err != nil {
			c.listings.Invalidate(account)
			return made, err
		}
	}
	return made, nil
}

// bulkCreate sends one request and, if its answer is lost or leaves open what was made, looks for what is new.
func (c *Client) bulkCreate(ctx context.Context, body BulkCreateRequest, known collection.Snapshot[Computer]) ([]Computer, error) {
	r := transport.Request{Op: transport.Operation{Name: "bulkCreateComputers", Method: http.MethodPost, Route: "/api/v0/computers/bulk"}, Body: body}
	since := c.conn.ServiceTime()
	result, err := transport.Call[BulkCreateResult](ctx, c.conn, r)
	if err == nil {
		if problem := unlikeBatch(result, body, known); problem != "" {
			err = r.Unexpected(problem)
		}
	}
	switch {
	case err == nil && result.Error != nil && len(result.Computers) < body.Quantity:
		return result.Computers, &ShortfallError{Requested: body.Quantity, Made: len(result.Computers), Message: result.Error.Message}
	case err == nil:
		return result.Computers, nil
	case !transport.IsAmbiguous(err):
		return nil, err
	}
	found, findErr := create.FindAfterLoss(ctx, c.conn, body.Quantity, func(ctx context.Context) ([]Computer, error) {
		present, err := c.listings.FindNow(ctx, body.ServiceAccountID, inFleet(body.NamePrefix))
		return slices.DeleteFunc(present, func(found Computer) bool { return known.Contains(found.ID) }), err
	})
	proven := slices.DeleteFunc(slices.Clone(found), func(c Computer) bool { return !create.CreatedSince(c.CreatedAt, since) })
	switch {
	case len(found) > body.Quantity || len(proven) < len(found):
		return nil, &ForeignComputersError{Prefix: body.NamePrefix, Account: body.ServiceAccountID, Found: found, Err: err}
	case len(found) == body.Quantity:
		return found, nil
	case len(found) > 0:
		return found, &ShortfallError{Requested: body.Quantity, Made: len(found), Err: err}
	}
	return nil, &create.LostError{Object: "computer", Name: body.NamePrefix + "-<number>", Err: errors.Join(err, findErr)}
}

// unlikeBatch says why an answer is not what a bulk creation made, or leaves open what that is.
func unlikeBatch(result *BulkCreateResult, body BulkCreateRequest, known collection.Snapshot[Computer]) string {
	for i := range result.Computers {
		made := &result.Computers[i]
		if problem := transport.Mismatch(made, transport.NewObject); problem != "" {
			return fmt.Sprintf("its computer %d is invalid: %s", i+1, problem)
		}
		if _, ok := FleetNumber(body.NamePrefix, made.Name); !ok || known.Contains(made.ID) {
			return fmt.Sprintf("it contains computer %s (%s), which existed before or does not belong to the fleet", made.Name, made.ID)
		}
	}
	switch {
	case len(result.Computers) > body.Quantity:
		return fmt.Sprintf("it contains %d computers instead of %d", len(result.Computers), body.Quantity)
	case len(result.Computers) < body.Quantity && result.Error == nil:
		return "it does not name the computers that were created"
	}
	return ""
}

// DeleteMany removes computers, several at a time. A failure does not keep the others from being removed. The
// errors are in the order of the IDs, and as those of Delete.
func (c *Client) DeleteMany(ctx context.Context, ids []string, account string) []error {
	return inParallel(len(ids), func(i int) error { return c.Delete(ctx, ids[i], account) })
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
