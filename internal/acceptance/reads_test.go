package acceptance

import (
	"testing"
)

// What the other tests start from can be read, or the service says why not.
func TestAccFacts(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*testing.T) int{
		"providers":    func(t *testing.T) int { t.Helper(); return len(managedProvider(t)) },
		"sources":      func(t *testing.T) int { t.Helper(); return len(sourceOptions(t).Providers) },
		"repositories": func(t *testing.T) int { t.Helper(); return len(repositories(t)) },
		"wiki runs":    func(t *testing.T) int { t.Helper(); return len(wikiRuns(t)) },
		"members":      func(t *testing.T) int { t.Helper(); return len(members(t)) },
		"account":      func(t *testing.T) int { t.Helper(); return len(ownKey(t).ID) },
		"machine":      func(t *testing.T) int { t.Helper(); return len(ownMachine(t).ID) },
		"environment":  func(t *testing.T) int { t.Helper(); return len(ownEnvironment(t).ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Logf("%d", read(t))
		})
	}
}
