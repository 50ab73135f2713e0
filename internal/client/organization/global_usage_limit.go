package organization

import (
	"context"
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

const (
	globalLimitRoute = "/api/v0/organization/usage/limits/global"
	usersLimitsRoute = "/api/v0/organization/usage/limits/users"
)

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
	r := transport.Get("getGlobalUsageLimit", globalLimitRoute)
	found, err := transport.Call[struct {
		Limit wire.Nullable[int64] `json:"limit"`
	}](ctx, c.conn, r)
	switch {
	case err != nil:
		return nil, err
	case !found.Limit.IsPresent:
		return nil, r.Unexpected("the field limit is missing")
	}
	return found.Limit.Value, nil
}

// everybody stands for an email address where limits are locked and remembered.
const everybody = ""

// SetGlobalUsageLimit sets the global limit, in credits; nil removes it. As with the users' limits, a limit that this process has set is
// not removed.
func (c *Client) SetGlobalUsageLimit(ctx context.Context, limit *int64) error {
	r := transport.Put("setGlobalUsageLimit", globalLimitRoute)
	release, err := c.settingLimit.Lock(ctx, everybody)
	if err != nil {
		return fmt.Errorf("%s was not sent: %w", r.Op.Name, err)
	}
	defer release()
	if _, isSet := c.limitsSet.Load(everybody); isSet && limit == nil {
		return nil
	}
	defer c.globalLimit.DropAll()
	defer c.usageLimits.DropAll()
	err = c.conn.CallIgnoringBody(ctx, r.With(map[string]*int64{"limit": limit}))
	if err == nil && limit != nil {
		c.limitsSet.Store(everybody, true)
	}
	return err
}
