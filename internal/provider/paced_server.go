package provider

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// distance lies between the answer to a failed creation and the ones before and after it. Terraform needs some
// milliseconds for an answer, and more where the state is large or the machine busy.
const distance = 250 * time.Millisecond

// Server is what a provider of this project serves.
type Server interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// newPacedServer returns a server in front of inner. Other providers of a run are out of its reach.
func newPacedServer(inner Server, clk clock.Clock) Server {
	return &pacedServer{Server: inner, clock: clk}
}

// pacedServer keeps the answers to failed creations away from other answers.
//
// Terraform (1.16.4) holds an object whose creation ended with an error without a status for a moment, until it has marked
// it as tainted. If another answer makes it save the state in that moment, it panics, and the state file is empty
// afterwards: everything that the run has made is lost. Several creations that fail at about the same time do that nearly
// always. OpenTofu and Terraform 1.5 do not have this fault; there the pause costs a moment after a failure.
type pacedServer struct {
	Server
	clock clock.Clock

	// mu is held by the answer that leaves next, while it waits.
	mu sync.Mutex
	// left is when the last answer left, and last is its kind.
	left time.Time
	last answer
}

// answer is the kind of an answer.
type answer int

const (
	ordinary answer = iota
	failedCreation
)

func (s *pacedServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.Server.ApplyResourceChange(ctx, req)
	kind := ordinary
	if err == nil && isFailedCreation(req, resp) {
		kind = failedCreation
	}
	s.leave(context.WithoutCancel(ctx), kind)
	return resp, err
}

// ReadDataSource is called in an apply too, where its answer is saved.
func (s *pacedServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := s.Server.ReadDataSource(ctx, req)
	s.leave(context.WithoutCancel(ctx), ordinary)
	return resp, err
}

// leave waits until an answer may go. Even a run that is being stopped must not lose its state, so ctx does not end.
func (s *pacedServer) leave(ctx context.Context, kind answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == failedCreation || s.last == failedCreation {
		_ = s.clock.Sleep(ctx, distance-s.clock.Now().Sub(s.left))
	}
	s.left, s.last = s.clock.Now(), kind
}

// isFailedCreation reports an answer that holds an error and the object that was made nevertheless.
func isFailedCreation(req *tfprotov6.ApplyResourceChangeRequest, resp *tfprotov6.ApplyResourceChangeResponse) bool {
	return isNull(req.PriorState) && !isNull(resp.NewState) && slices.ContainsFunc(resp.Diagnostics, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError
	})
}

func isNull(value *tfprotov6.DynamicValue) bool {
	return value == nil || len(value.MsgPack) == 0 || value.MsgPack[0] == msgpcode.Nil
}
