package computer

import (
	"context"
	"errors"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

func TestRanOut(t *testing.T) {
	t.Parallel()
	live := t.Context()
	gone, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	lost := errors.New("lost")
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"nothing failed":             {gone, nil, false},
		"failed in time":             {live, lost, false},
		"a request's own timeout":    {live, context.DeadlineExceeded, false},
		"interrupted":                {stopped, context.Canceled, false},
		"the time is up":             {gone, lost, true},
		"refused before it was up":   {gone, &transport.APIError{Status: 409}, false},
		"the service may have acted": {gone, &transport.APIError{Status: 500}, true},
	} {
		if got := timedOut(tc.ctx, tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
