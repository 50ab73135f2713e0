package acceptance

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence/trials"
)

const namePrefix = trials.NamePrefix

// projectStart is before any name of the suite.
var projectStart = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// namePattern is a name up to what a trial appends. The time is in seconds to the base of 36, which have six digits until 2038.
var namePattern = regexp.MustCompile(namePrefix + `([0-9a-z]{6})[a-z2-7]{4}-[a-z-]+[0-9]+`)

// newRunID returns the random part of all names of a run. It begins with the time, because not every object shows its age.
func newRunID(now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + strings.ToLower(rand.Text()[:4])
}

// timeOfName returns the time in a name of the suite; zero if the suite cannot have made it.
func timeOfName(name string) time.Time {
	found := namePattern.FindStringSubmatch(name)
	if found == nil {
		return time.Time{}
	}
	seconds, _ := strconv.ParseInt(found[1], 36, 64) // The pattern has only digits.
	at := time.Unix(seconds, 0)
	if at.Before(projectStart) || at.After(clock.System.Now()) {
		return time.Time{}
	}
	return at
}

// isOurs reports whether the suite made a name.
func isOurs(name string) bool {
	return strings.HasPrefix(name, namePrefix) && !timeOfName(name).IsZero()
}

// isWhollyOurs reports whether nobody has appended anything to a name. The trials pad some with "x". Other objects end with an account,
// and people are no objects, so the whole of their names must match.
func isWhollyOurs(name string) bool {
	return isOurs(name) && strings.TrimRight(name, "x") == namePattern.FindString(name)
}

func (r *run) prefix() string { return namePrefix + r.id + "-" }

// newName returns a name for a new object. Whatever has it is deleted at the end of the run at the latest.
func newName(t *testing.T, what string) string {
	t.Helper()
	r := needService(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names++
	return fmt.Sprintf("%s%s%d", r.prefix(), what, r.names)
}
