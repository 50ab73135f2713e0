package acceptance

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/trials"
)

const namePrefix = trials.NamePrefix

// timeDigits is the length of the time in a run's ID: seconds to the base of 36, which have six digits until 2038.
const timeDigits = 6

// newRunID returns the random part of all names of a run. It begins with the time, because not every object shows its age.
func newRunID(now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + strings.ToLower(rand.Text()[:4])
}

// timeOfName returns the time in the name of an object; zero if it has none.
func timeOfName(name string) time.Time {
	_, rest, _ := strings.Cut(name, namePrefix)
	id, _, _ := strings.Cut(rest, "-")
	if len(id) != timeDigits+4 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(id[:timeDigits], 36, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
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
