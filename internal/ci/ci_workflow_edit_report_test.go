package ci

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// No job is called an older one where only this machine's time is known.
func TestWhereToLook_withoutTheServicesTime(t *testing.T) {
	t.Parallel()
	asked := asking{body: client.EditCIWorkflowRequest{Action: actionDelete}}
	if text := asked.whereToLook(); strings.Contains(text, "an earlier one") || strings.Contains(text, "at or after") || !strings.Contains(text, "a job with action delete may be of this request") {
		t.Error(text)
	}
}

// What is said about the time is true of the time that the request had.
func TestUncertainFault_timeouts(t *testing.T) {
	t.Parallel()
	const atLeast, timeout = "did not answer within 5m0s, which", "did not answer within request_timeout"
	for name, tc := range map[string]struct {
		err  client.TransportError
		want string
	}{
		"the least time":  {client.TransportError{Timeout: "request_timeout", AtLeast: 5 * time.Minute}, atLeast},
		"request_timeout": {client.TransportError{Timeout: "request_timeout"}, timeout},
		"another failure": {client.TransportError{}, ""},
	} {
		tc.err.Err = context.DeadlineExceeded
		asked := asking{body: client.EditCIWorkflowRequest{Action: actionDelete}, since: "2026-03-01T12:00:00Z"}
		detail := asked.uncertainFault(&client.UncertainEditError{Targets: []client.CITarget{{RepoFullName: "acme/api"}}, Err: &tc.err}).Detail
		for _, said := range []string{atLeast, timeout} {
			if strings.Contains(detail, said) != (said == tc.want) {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if !strings.Contains(detail, "a job with action delete that was created or updated at or after 2026-03-01T12:00:00Z") || strings.Contains(detail, "automation ID") {
			t.Errorf("%s: %s", name, detail)
		}
	}
}
