package client

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-cleanhttp"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// emulatorClock is a path of the emulator's control API, and aheadHeader what its answers say about its clock.
	emulatorClock = "/_emulator/clock"
	aheadHeader   = "X-Agentyard-Emulator-Ahead"
	// emulatorPatience is how long something else at baseURL may take to say that it is no emulator.
	emulatorPatience = 2 * time.Second
)

// EmulatorClock returns clk, or a clock as far ahead of it as that of an emulator at baseURL is. People move that clock
// to try what happens later, and what is due is decided here. Nothing but this machine is asked, and without the key:
// the header is in a refusal too.
func EmulatorClock(ctx context.Context, baseURL string, clk clock.Clock) clock.Clock {
	base, err := ParseBaseURL(baseURL, false)
	if err != nil || !isLoopback(base.Hostname()) {
		return clk
	}
	ctx, cancel := context.WithTimeout(ctx, emulatorPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+emulatorClock, nil)
	if err != nil {
		return clk
	}
	resp, err := cleanhttp.DefaultTransport().RoundTrip(req)
	if err != nil {
		tflog.Debug(ctx, "Nothing at base_url tells the time of an emulator", map[string]any{"error": err.Error()})
		return clk
	}
	_ = resp.Body.Close()
	ahead, err := time.ParseDuration(resp.Header.Get(aheadHeader))
	if err != nil || ahead <= 0 {
		return clk
	}
	tflog.Info(ctx, "The time is that of an emulator whose clock was moved", map[string]any{"ahead": ahead.String()})
	return clock.NewAhead(clk, ahead)
}
