package client

import (
	"fmt"
	"sync/atomic"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// UnconfiguredError is what every call returns before the provider is configured, and while a provider setting is not
// known yet, as during the plan of a configuration that creates what the setting depends on.
type UnconfiguredError struct {
	// Setting is the provider attribute whose value is unknown; empty before the provider is configured.
	Setting string
	// First is set on the first such error of a client, so that a warning can be given once.
	First bool
}

func (e *UnconfiguredError) Error() string {
	if e.Setting == "" {
		return "the provider is not configured"
	}
	return fmt.Sprintf("the provider's %s is not known yet; apply what %s depends on first", e.Setting, e.Setting)
}

// unconfigured is the part of a Client that has no settings.
type unconfigured struct {
	setting string
	told    atomic.Bool
}

func (u *unconfigured) check() error {
	if u == nil {
		return nil
	}
	return &UnconfiguredError{Setting: u.setting, First: u.told.CompareAndSwap(false, true)}
}

// Configured is the error that every call returns while a provider setting is not known yet, else nil.
func (c *Client) Configured() error { return c.unconfigured.check() }

// IsConfigured reports whether all provider settings are known.
func (c *Client) IsConfigured() bool { return c.unconfigured == nil }

// Unconfigured returns a client whose every call fails with an *UnconfiguredError.
func Unconfigured(setting string, clk clock.Clock) *Client {
	c := newClient(Config{Clock: clk})
	c.unconfigured = &unconfigured{setting: setting}
	return c
}
