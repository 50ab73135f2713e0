package organization

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// globalUsageLimit is the body that sets the global limit.
type globalUsageLimit struct {
	Limit *int64 `json:"limit"`
}

const globalLimitRoute = "/api/v0/organization/usage/limits/global"

// GlobalUsageLimit returns the limit of every user without their own limit, in credits; nil means none. Calls in a short time
// share one request.
func (c *Client) GlobalUsageLimit(ctx context.Context) (*int64, error) {
	return c.globalLimit.Get(ctx, collection.Organization, c.readGlobalUsageLimit)
}

// GlobalUsageLimitAtPlan is GlobalUsageLimit with errors like CheckAccess.
func (c *Client) GlobalUsageLimitAtPlan(ctx context.Context) (*int64, error) {
	limit, err := c.GlobalUsageLimit(ctx)
	return limit, c.conn.CheckOnce(ctx, "global usage limit", func(context.Context) error { return err })
}

func (c *Client) readGlobalUsageLimit(ctx context.Context) (*int64, error) {
	r := transport.Request{Op: transport.Operation{Name: "getGlobalUsageLimit", Method: http.MethodGet, Route: globalLimitRoute}}
	response, err := c.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return nil, err
	}
	limit, err := decodeGlobalLimit(response.Body)
	if err != nil {
		return nil, transport.NewTransportError(r.Op, err)
	}
	return limit, nil
}

// decodeGlobalLimit requires the field, because a missing one would look like a removed limit.
func decodeGlobalLimit(body []byte) (limit *int64, err error) {
	var fields map[string]json.RawMessage
	if err := wire.Decode(body, "", &fields); err != nil {
		return nil, err
	}
	raw, ok := fields["limit"]
	if !ok {
		return nil, &wire.ResponseError{Problem: "the field limit is missing"}
	}
	err = wire.Decode(raw, "", &limit)
	return limit, err
}

// SetGlobalUsageLimit sets the global limit, in credits. If another value is set at the same time, the error is a
// *LimitConflictError.
func (c *Client) SetGlobalUsageLimit(ctx context.Context, limit int64) (*int64, error) {
	_, err := c.globalLimitBatch.Do(ctx, globalLimitKey, &limit)
	return &limit, err
}

// globalLimitKey stands for the email address in batches of the global limit.
const globalLimitKey = ""

// RemoveGlobalUsageLimit removes the global limit. If another resource sets it at the same time, it stays.
func (c *Client) RemoveGlobalUsageLimit(ctx context.Context) error {
	_, err := c.globalLimitBatch.Do(ctx, globalLimitKey, nil)
	return err
}

// sendGlobalUsageLimit sends a batch, which has one entry: all writes of the global limit have the same key.
func (c *Client) sendGlobalUsageLimit(ctx context.Context, entries []collection.BatchEntry[int64]) ([]struct{}, error) {
	return make([]struct{}, len(entries)), c.putGlobalUsageLimit(ctx, entries[0].Value)
}

// putGlobalUsageLimit sets or removes the global limit. If the response is lost, the limit is read back.
func (c *Client) putGlobalUsageLimit(ctx context.Context, limit *int64) error {
	defer c.globalLimit.DropAll()
	defer c.usageLimits.DropAll()
	r := transport.Request{Op: transport.Operation{Name: "setGlobalUsageLimit", Method: http.MethodPut, Route: globalLimitRoute}, Body: globalUsageLimit{limit}}
	response, err := c.conn.Exchange(ctx, r, transport.AnyBody)
	if err != nil && !transport.IsAmbiguous(err) {
		return err
	}
	if err == nil {
		if set, decodeErr := decodeGlobalLimit(response.Body); decodeErr == nil && sameLimit(set, limit) {
			return nil
		}
	}
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	c.globalLimit.DropAll()
	present, readErr := c.GlobalUsageLimit(ctx)
	switch {
	case readErr == nil && sameLimit(present, limit):
		return nil
	case err != nil:
		return err
	case readErr != nil:
		return fmt.Errorf("%w (the response to %s has no limit, so the provider read the limit back)", readErr, r.Op.Name)
	}
	return r.Unexpected("it has no limit, and the limit read back differs")
}
