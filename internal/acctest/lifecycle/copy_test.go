package lifecycle

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// A copy has the objects and the time of an emulator, and what was programmed. It changes alone.
func TestCopy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Make("/api/v0/service-accounts", map[string]any{"name": "a"})
	e.Clock.Advance(time.Hour)
	e.AllowSessions(false)
	accounts := specimens.ResourceOf("agentyard_service_account").Listing
	before := e.Listed(accounts)
	c := e.Copy(t).Copy(t)
	check.Is(t, "accounts", c.Listed(accounts), before)
	check.Is(t, "time", c.Now(), e.Now())
	status, _ := c.Try(http.MethodGet, "/api/v0/sessions", nil)
	check.Is(t, "sessions", status, http.StatusForbidden)
	c.Make("/api/v0/service-accounts", map[string]any{"name": "b"})
	check.Is(t, "accounts of the original", e.Listed(accounts), before)
}
