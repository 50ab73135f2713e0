package transport

import (
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// UnconfiguredError is the error of every call before the provider is configured, and while a provider setting is unknown,
// such as during a plan that creates what the setting depends on.
type UnconfiguredError struct {
	// Setting is the provider attribute whose value is unknown; empty before the provider is configured.
	Setting string
}

func (e *UnconfiguredError) Error() string {
	if e.Setting == "" {
		return "the provider is not configured"
	}
	return fmt.Sprintf("the provider's %s is not known yet", e.Setting)
}

// Configured returns the *UnconfiguredError of every call while a provider setting is unknown, else nil.
func (c *Conn) Configured() error { return c.unconfigured }

// NewUnconfigured returns a connection whose every call fails with an *UnconfiguredError.
func NewUnconfigured(setting string, clk clock.Clock) *Conn {
	c := connect(Config{Clock: clk})
	c.unconfigured = &UnconfiguredError{Setting: setting}
	return c
}
