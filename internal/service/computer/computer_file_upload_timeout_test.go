package computer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// dueContext has a deadline that expires when the test says so.
type dueContext struct {
	context.Context
	due chan struct{}
}

func (c dueContext) Done() <-chan struct{} { return c.due }

func (c dueContext) Err() error {
	select {
	case <-c.due:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestUpload_saysWhatMayHaveBeenWrittenWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()
	for during, want := range map[string]string{
		"create-upload":   "Nothing was written to the workspace.",
		"put":             "Nothing was written to the workspace.",
		"complete-upload": "The file may have been written to the workspace.",
	} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			ctx := dueContext{t.Context(), make(chan struct{})}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if path.Base(r.URL.Path) == during {
					close(ctx.due)
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"url":"http://%s/put"}`, r.Host)
			}))
			defer server.Close()
			c, err := client.New(transport.Config{BaseURL: server.URL, APIKey: "key"})
			if err != nil {
				t.Fatal(err)
			}
			m := &computerFileUploadModel{ComputerID: types.StringValue("c1"), FileName: types.StringValue("a.txt"), Content: types.StringValue("x")}
			_, err = uploadFile(ctx, c, m, &crud.Call{Timeout: time.Minute, Tell: func(string, ...any) {}})
			if err == nil || !strings.Contains(err.Error(), "Timed Out Uploading the File") || !strings.Contains(err.Error(), "did not finish within 1m0s. "+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRanOut(t *testing.T) {
	t.Parallel()
	live, gone := t.Context(), dueContext{t.Context(), make(chan struct{})}
	close(gone.due)
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
