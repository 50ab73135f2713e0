package trials

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	api "github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
)

// timed replaces createdAt as a date by a number, which orders the same.
func timed(rows []object) []object {
	var all []object
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339, row.text("createdAt"))
		if err == nil {
			all = append(all, object{"createdAt": float64(at.UnixMilli())})
		}
	}
	return all
}

// laterRemoved withdraws an invitation.
func (x *exam) laterRemoved(email string) {
	x.later(func(ctx context.Context) error {
		a := caller{ctx, x.conn}.removeMember(email)
		if !a.ok() && a.status != 404 {
			return errors.New("withdrawing the invitation was " + a.said())
		}
		return nil
	})
}

// laterDefault makes an environment the default again, before the environments are deleted that were created until now.
func (x *exam) laterDefault(id string) {
	restore := x.lab.Restore("the default environment", func(ctx context.Context, c *client.Client) error {
		return c.Environments.SetDefault(ctx, id)
	})
	x.later(func(context.Context) error { return restore() })
}

// globalLimit judges who may set the global limit. Both callers set the limit that there is.
func (x *exam) globalLimit() {
	const rule = "set-global-usage-limit"
	them, _, ok := x.asAccount()
	if !ok {
		return
	}
	now := x.get(globalLimit)
	limit, known := now.record()["limit"]
	if !now.ok() || !known {
		x.unseen(rule, "reading the global limit was "+now.said())
		return
	}
	same := object{"limit": limit}
	x.reserved(rule, "setting the global limit that there is", x.put(globalLimit, same), them.put(globalLimit, same))
}

// provisioningTime limits the wait for a managed computer.
const provisioningTime = 20 * time.Minute

// upload sends a file of one byte, which is completed elsewhere.
func (x *exam) upload(computerID, name string) error {
	content := api.FileContent{Size: 1, Type: "text/plain", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }}
	upload, err := x.client.Computers.CreateFileUpload(x.ctx, computerID, name, content)
	if err != nil {
		return err
	}
	return x.client.Computers.Upload(x.ctx, upload, name, content, nil)
}
