package provider

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// EnvEmulatorClock names the variable with the path of a file that contains the offset of an emulator's clock. The
// emulator's command sets it with EnvBaseURL.
const EnvEmulatorClock = "AGENTYARD_EMULATOR_CLOCK"

// emulatorClock returns clk, or a clock ahead of it if baseURL is an emulator whose clock was moved. It ignores the variable
// for a service on another machine, because a shell may still have it set.
func emulatorClock(clk clock.Clock, baseURL string) (clock.Clock, error) {
	file := os.Getenv(EnvEmulatorClock)
	if file == "" || baseURL != os.Getenv(EnvBaseURL) || !transport.IsLoopback(baseURL) {
		return clk, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the emulator's clock: %w", err)
	}
	ahead, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("read the emulator's clock: %s does not contain a duration", file)
	}
	return clock.NewAhead(clk, ahead), nil
}
