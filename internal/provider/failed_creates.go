package provider

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// distance is the time between the response to a failed create and other responses. Terraform processes a response in a few
// milliseconds, or longer if the state is large or the machine is busy.
const distance = 250 * time.Millisecond

// Server is the set of protocol servers that the provider implements.
type Server interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// failedCreatePacer separates the responses to failed creates from other responses.
//
// Terraform 1.16.4 briefly keeps an object whose create failed without a status, until it marks the object as tainted. If
// another response makes it save the state in that moment, it panics and leaves an empty state file. Several creates that
// fail at about the same time almost always cause this. OpenTofu and Terraform 1.5 do not have this bug.
// The responses of other providers in the same run cannot be paced.
type failedCreatePacer struct {
	Server
	clock clock.Clock

	// mu is held by the next response while it waits.
	mu sync.Mutex
	// left is the time of the last response. AfterFailure says that it was to a failed create.
	left         time.Time
	afterFailure bool
}

func (s *failedCreatePacer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.Server.ApplyResourceChange(ctx, req)
	s.leave(context.WithoutCancel(ctx), err == nil && isFailedCreation(req, resp))
	return resp, err
}

// ReadDataSource is paced because Terraform may also call it during an apply, and then saves the state.
func (s *failedCreatePacer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := s.Server.ReadDataSource(ctx, req)
	s.leave(context.WithoutCancel(ctx), false)
	return resp, err
}

// leave waits until a response may be sent. The caller's ctx is never canceled, because even an interrupted run must not
// lose its state.
func (s *failedCreatePacer) leave(ctx context.Context, isFailure bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isFailure || s.afterFailure {
		_ = s.clock.Sleep(ctx, distance-s.clock.Now().Sub(s.left))
	}
	s.left, s.afterFailure = s.clock.Now(), isFailure
}

// isFailedCreation reports whether a response contains both an error and the object that was created.
func isFailedCreation(req *tfprotov6.ApplyResourceChangeRequest, resp *tfprotov6.ApplyResourceChangeResponse) bool {
	return isNull(req.PriorState) && !isNull(resp.NewState) && slices.ContainsFunc(resp.Diagnostics, isError)
}

func isNull(value *tfprotov6.DynamicValue) bool {
	if value == nil {
		return true
	}
	null, err := value.IsNull()
	return err != nil || null
}
