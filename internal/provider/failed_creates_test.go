package provider

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

var (
	null   = &tfprotov6.DynamicValue{MsgPack: []byte{0xc0}}
	object = &tfprotov6.DynamicValue{MsgPack: []byte{0x80}}
)

// fakeServer returns the response that the type name selects.
type fakeServer struct{ Server }

func (fakeServer) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	failed := []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityWarning}, {Severity: tfprotov6.DiagnosticSeverityError}}
	switch req.TypeName {
	case "failed":
		return &tfprotov6.ApplyResourceChangeResponse{NewState: object, Diagnostics: failed}, nil
	case "not made":
		return &tfprotov6.ApplyResourceChangeResponse{NewState: null, Diagnostics: failed}, nil
	case "broken":
		return nil, errors.New("no answer")
	case "warned":
		return &tfprotov6.ApplyResourceChangeResponse{NewState: object, Diagnostics: failed[:1]}, nil
	}
	return &tfprotov6.ApplyResourceChangeResponse{NewState: object}, nil
}

func (fakeServer) ReadDataSource(context.Context, *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return &tfprotov6.ReadDataSourceResponse{}, nil
}

func TestServer_keepsFailedCreationsApart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string
		want    []int // Send times in milliseconds.
	}{
		"none fails":               {[]string{"made", "updated", "made"}, []int{0, 0, 0}},
		"one fails between others": {[]string{"made", "failed", "made", "made"}, []int{0, 250, 500, 500}},
		"a data source":            {[]string{"data", "failed", "data", "data"}, []int{0, 250, 500, 500}},
		"later than that":          {[]string{"made", "100", "failed", "300", "made"}, []int{0, 250, 550}},
		"an update that fails":     {[]string{"made", "update failed", "made"}, []int{0, 0, 0}},
		"nothing was made":         {[]string{"made", "not made", "made"}, []int{0, 0, 0}},
		"no answer":                {[]string{"failed", "broken", "made"}, []int{0, 250, 250}},
		"a warning is no failure":  {[]string{"made", "warned", "made"}, []int{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			clk := clock.NewFake(start)
			server := &failedCreatePacer{Server: fakeServer{}, clock: clk}
			var left []int
			for _, answer := range tc.answers {
				req := &tfprotov6.ApplyResourceChangeRequest{TypeName: answer, PriorState: null}
				var pause int
				switch answer {
				case "data":
					_, _ = server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{})
				case "updated", "update failed":
					req.PriorState = object
					req.TypeName = map[string]string{"updated": "made", "update failed": "failed"}[answer]
					_, _ = server.ApplyResourceChange(t.Context(), req)
				default:
					if n, _ := fmt.Sscan(answer, &pause); n == 1 {
						clk.Advance(time.Duration(pause) * time.Millisecond)
						continue
					}
					_, _ = server.ApplyResourceChange(t.Context(), req)
				}
				left = append(left, int(clk.Now().Sub(start).Milliseconds()))
			}
			check.Is(t, "they left at", left, tc.want)
		})
	}
}
