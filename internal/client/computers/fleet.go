package computers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// maxBulk is how many computers one bulkCreateComputers can request.
const maxBulk = 20

// fleetWorkers is the maximum number of concurrent requests for the computers of one fleet: as many as keep their connections. What the
// service can take, its rate limit says.
const fleetWorkers = 32

// BulkCreateRequest is the body of bulkCreateComputers. CreateFleet splits a Quantity above maxBulk.
type BulkCreateRequest struct {
	Quantity         int      `json:"quantity"`
	NamePrefix       string   `json:"namePrefix"`
	Provider         string   `json:"provider,omitempty"`
	Repos            []string `json:"repos,omitempty"`
	AutoInstallDeps  *bool    `json:"autoInstallDeps,omitempty"`
	ServiceAccountID string   `json:"serviceAccountId,omitempty"`
}

// BulkCreateResult has the created computers, and in Error why the creation stopped early.
type BulkCreateResult struct {
	Computers []Computer `json:"computers"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// fleetRefs describes computers with names of a fleet for an error, by number. They are imported together, as a fleet.
func fleetRefs(found []Computer, prefix, account string) []wire.Ref {
	number := func(c *Computer) int { n, _ := FleetNumber(prefix, c.Name); return n }
	wire.Sort(found, func(a, b *Computer) int { return cmp.Compare(number(a), number(b)) })
	refs := wire.Refs(found)
	for i := range refs {
		refs[i].ImportID = strings.TrimPrefix(account+"/"+prefix, "/")
	}
	return refs
}

// ListFleet returns the account's computers named "<prefix>-<number>".
func (c *Client) ListFleet(ctx context.Context, prefix, account string) ([]Computer, error) {
	found, err := c.ledger.Find(ctx, account, inFleet(prefix))
	return found, c.accounts.GoneWithAccount(ctx, account, err)
}

// GetMany returns the existing computers among ids, from the shared listing. A computer that the listing lacks is read alone.
func (c *Client) GetMany(ctx context.Context, account string, ids []string) ([]Computer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if _, err := c.ledger.All(ctx, account); err != nil && !collection.CannotList(err) {
		return nil, err
	}
	found := make([]*Computer, len(ids))
	errs := collection.InParallel(fleetWorkers, len(ids), func(i int) (err error) {
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

// isForeign returns whether a computer has a name of a fleet and is not a member of it.
func isForeign(prefix string, memberIDs []string) func(*Computer) bool {
	isMember, hasName := make(map[string]bool, len(memberIDs)), inFleet(prefix)
	for _, id := range memberIDs {
		isMember[id] = true
	}
	return func(c *Computer) bool { return hasName(c) && !isMember[c.ID] }
}

// CreateFleet creates body.Quantity computers named "<prefix>-<n>". The requests are sequential, because the service assigns
// the lowest free suffixes. If computers with such names exist that are not in memberIDs, nothing is sent and the error is a
// *create.ExistsError. A request is not retried after a lost response: the computers that appeared since are its result.
// Any error ends the creation, and is returned with the computers created so far.
func (c *Client) CreateFleet(ctx context.Context, body BulkCreateRequest, memberIDs []string) ([]Computer, error) {
	if body.Quantity <= 0 {
		return nil, nil
	}
	account := body.ServiceAccountID
	// The dash keeps the lock apart from that of a computer whose name is the prefix.
	unlock, err := c.ledger.Lock(ctx, account, body.NamePrefix+"-")
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, others, err := c.ledger.UntilFree(ctx, account, isForeign(body.NamePrefix, memberIDs))
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, &create.ExistsError{Found: fleetRefs(others, body.NamePrefix, account), Field: "namePrefix"}
	}
	var created []Computer
	for wanted := body.Quantity; len(created) < wanted; {
		if err := ctx.Err(); err != nil {
			return created, fmt.Errorf("bulkCreateComputers was not sent for the remaining %d computers: %w", wanted-len(created), err)
		}
		body.Quantity = min(wanted-len(created), maxBulk)
		batch, err := c.bulkCreate(ctx, body, before)
		for i := range batch {
			c.ledger.Wrote(account, &batch[i])
		}
		if created = append(created, batch...); err != nil {
			c.ledger.Invalidate(account)
			return created, err
		}
	}
	return created, nil
}

// bulkCreate sends one request, and finds its computers if its response is lost or unusable.
func (c *Client) bulkCreate(ctx context.Context, body BulkCreateRequest, before create.View[Computer]) ([]Computer, error) {
	r := transport.Post("bulkCreateComputers", "/api/v0/computers/bulk").With(body)
	since := c.conn.ServiceTime()
	result, err := transport.Call[BulkCreateResult](ctx, c.conn, r)
	if err == nil {
		if problem := batchProblem(result, body, before); problem != "" {
			err = r.Unexpected(problem)
		}
	}
	switch {
	case transport.IsAmbiguous(err):
		return c.findBatch(ctx, body, before, since, err)
	case err != nil:
		return nil, err
	case len(result.Computers) < body.Quantity:
		return result.Computers, fmt.Errorf("bulkCreateComputers created %d of %d computers and stopped: %s",
			len(result.Computers), body.Quantity, result.Error.Message)
	}
	return result.Computers, nil
}

// findBatch finds the computers of a request whose response was lost or unusable: all new ones, if the last look shows not too many.
func (c *Client) findBatch(ctx context.Context, body BulkCreateRequest, before create.View[Computer], since time.Time, lostErr error) ([]Computer, error) {
	hasName := inFleet(body.NamePrefix)
	isNew := func(found *Computer) bool { return hasName(found) && !before.CannotBeNew(found.ID) }
	look := func(ctx context.Context) ([]Computer, error) {
		return c.ledger.Relist(ctx, body.ServiceAccountID, isNew)
	}
	found, lookErr := create.LookAfterLoss(ctx, c.conn, create.Search[Computer]{WantsAll: true, Look: look})
	isOlder := func(found Computer) bool { return !create.CreatedSince(found.CreatedAt.Time(), since) }
	if lookErr != nil || len(found) == 0 || len(found) > body.Quantity || slices.ContainsFunc(found, isOlder) {
		name, refs := body.NamePrefix+"-<number>", fleetRefs(found, body.NamePrefix, body.ServiceAccountID)
		return nil, &create.LostError{Object: "computer", Name: name, Found: refs, Err: errors.Join(lostErr, lookErr)}
	}
	for i := range found {
		create.NoteFound(ctx, c.conn, create.Found{Ref: found[i].Ref()})
	}
	if len(found) < body.Quantity {
		return found, fmt.Errorf("the response to bulkCreateComputers was lost or unusable; "+
			"%d of the %d requested computers were found: %w", len(found), body.Quantity, lostErr)
	}
	return found, nil
}

// batchProblem says why a result does not fit the request; empty if it does.
func batchProblem(result *BulkCreateResult, body BulkCreateRequest, before create.View[Computer]) string {
	seen := map[string]bool{}
	for i := range result.Computers {
		c := &result.Computers[i]
		if seen[c.ID] {
			return fmt.Sprintf("it contains computer %s twice", c.ID)
		}
		seen[c.ID] = true
		if problem := wire.Mismatch(c, wire.AnyID); problem != "" {
			return fmt.Sprintf("its computer %d is invalid: %s", i+1, problem)
		}
		if _, ok := FleetNumber(body.NamePrefix, c.Name); !ok || before.CannotBeNew(c.ID) {
			return fmt.Sprintf("it contains computer %s (%s), which existed before or does not belong to the fleet", c.Name, c.ID)
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

// DeleteMany deletes computers concurrently, and returns the error of each Delete.
func (c *Client) DeleteMany(ctx context.Context, ids []string, account string) []error {
	return collection.InParallel(fleetWorkers, len(ids), func(i int) error { return c.Delete(ctx, ids[i], account) })
}
