package provider

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// EnvEmulatorClock names the file in which an emulator says how far its clock is ahead. The emulator's command sets it
// together with EnvBaseURL.
const EnvEmulatorClock = "AGENTYARD_EMULATOR_CLOCK"

// emulatorClock returns clk, or a clock ahead of it if baseURL is the emulator whose clock somebody moved. A variable that was
// left behind in a shell changes nothing for a service that does not run on this machine.
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
