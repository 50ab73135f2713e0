package emulator

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	idleUntilSleep = 30 * time.Minute
	sampleEvery    = 5 * time.Minute
	samplesKept    = 4 * 24 * time.Hour
	// samplesShown is the period of the metrics when the caller names no start; the API leaves it open.
	samplesShown = time.Hour
)

// asleepSince returns when a managed computer fell asleep, or 0 while it is awake. Sleep is no status: it reads active.
func (c *computer) asleepSince(now time.Time, readyAt int64) int64 {
	if c.SleepingSince != 0 {
		return c.SleepingSince
	}
	asleep := max(c.LastActiveAt, readyAt) + idleUntilSleep.Milliseconds()
	if asleep > millis(now) {
		return 0
	}
	return asleep
}

// runningComputer finds an active managed computer and returns also when it became ready.
func (r *request) runningComputer(what string) (*computer, int64, error) {
	c, err := r.computerInPath()
	if err != nil {
		return nil, 0, err
	}
	p := c.progressAt(r.now)
	if c.ProviderType == providerBYOM {
		return nil, 0, refuse("byom-unsupported", "%s is not supported for BYOM computers.", what)
	}
	if p.status != statusActive {
		return nil, 0, refuse("not-active", "%s needs an active computer; %q is in status %s.", what, c.Name, p.status)
	}
	return c, p.endedAt, nil
}

// recordComputerActivity advances the inactivity clock. It does not wake a computer that sleeps.
func recordComputerActivity(r *request) (reply, error) {
	c, readyAt, err := r.runningComputer("Recording activity")
	if err != nil {
		return reply{}, err
	}
	c.SleepingSince = c.asleepSince(r.now, readyAt)
	c.LastActiveAt = millis(r.now)
	return reply{200, values{"lastActiveAt": c.LastActiveAt}}, computerTable.put(r.tx, c.ID, *c)
}

// restartComputer wakes a computer that sleeps. One that runs is left alone.
func restartComputer(r *request) (reply, error) {
	c, readyAt, err := r.runningComputer("Restarting")
	if err != nil {
		return reply{}, err
	}
	since := c.asleepSince(r.now, readyAt)
	if since != 0 {
		c.Slept = append(c.Slept, span{since, millis(r.now)})
		c.SleepingSince, c.LastActiveAt = 0, millis(r.now)
		err = computerTable.put(r.tx, c.ID, *c)
	}
	return reply{200, values{"wasRestarted": since != 0}}, err
}

// refreshComputer counts one Git credential per code host of the repositories; the emulator holds no secrets of users.
func refreshComputer(r *request, c *computer) (reply, error) {
	hosts := map[string]bool{}
	for _, repo := range c.Repos {
		if u, err := url.Parse(repo); err == nil {
			hosts[strings.ToLower(u.Host)] = true
		}
	}
	return reply{200, values{"configured": len(hosts), "secretsConfigured": 0}}, nil
}

// getComputerMetrics returns the samples of all whole intervals in which the computer was awake.
func getComputerMetrics(r *request) (reply, error) {
	start := r.now.Add(-samplesShown)
	if r.query.Has("start") {
		start, _ = time.Parse(time.RFC3339, r.query.Get("start")) // The contract was asked.
	}
	c, readyAt, err := r.runningComputer("Reading metrics")
	if err != nil {
		return reply{}, err
	}
	if oldest := r.now.Add(-samplesKept); start.Before(oldest) {
		start = oldest
	}
	if ready := timeOf(readyAt); start.Before(ready) {
		start = ready
	}
	first := start.Truncate(sampleEvery)
	if first.Before(start) {
		first = first.Add(sampleEvery)
	}
	end := r.now
	if since := c.asleepSince(r.now, readyAt); since != 0 {
		end = timeOf(since)
	}
	samples := []values{}
	for at := first; !at.Add(sampleEvery).After(end); at = at.Add(sampleEvery) {
		from, to := millis(at), millis(at.Add(sampleEvery))
		if !slices.ContainsFunc(c.Slept, func(s span) bool { return s.From < to && from < s.To }) {
			samples = append(samples, c.sampleAt(at))
		}
	}
	return reply{200, samples}, nil
}

// sampleAt is the usage during an interval, with memory and disk in bytes. It depends only on the computer and the time.
func (c *computer) sampleAt(at time.Time) values {
	const gib = 1 << 30
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", c.ID, at.Unix()))
	n := binary.BigEndian.Uint64(sum[:8])
	return values{
		"timestamp": at.UTC().Format(time.RFC3339), "cpuUsedPct": float64(n%1000) / 10, "cpuCount": 4,
		"memUsed": gib + int64(n>>10%(6*gib)), "memTotal": 8 * gib, "diskUsed": 4*gib + int64(n>>20%(8*gib)), "diskTotal": 64 * gib,
	}
}

// Sleep puts a managed computer to sleep now, as 30 minutes without activity do.
// It is an error if there is no such computer, or if it is not an active managed one.
func (e *Emulator) Sleep(computerID string) error {
	return edit(e, computerTable, computerID, "computer", func(r *request, c *computer) error {
		p := c.progressAt(r.now)
		if c.ProviderType == providerBYOM || p.status != statusActive {
			return fmt.Errorf("computer %s cannot sleep, because it is not an active managed computer", computerID)
		}
		if c.SleepingSince = c.asleepSince(r.now, p.endedAt); c.SleepingSince == 0 {
			c.SleepingSince = millis(r.now)
		}
		return nil
	})
}

// Break gives an active managed computer the status error, as a failure at run time does.
// It is an error if there is no such computer, or if it is not an active managed one.
func (e *Emulator) Break(computerID string) error {
	return edit(e, computerTable, computerID, "computer", func(r *request, c *computer) error {
		if c.ProviderType == providerBYOM || c.progressAt(r.now).status != statusActive {
			return fmt.Errorf("computer %s cannot fail, because it is not an active managed computer", computerID)
		}
		c.Broken = true
		return nil
	})
}

// LoseComputer deletes a computer, as somebody does outside Terraform. It is an error if there is no such computer.
func (e *Emulator) LoseComputer(computerID string) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		c, err := computerTable.get(tx, computerID, fmt.Errorf("computer %s does not exist", computerID))
		if err != nil {
			return err
		}
		return e.removeComputer(tx, c)
	})
}

// UnavailableDaemon makes the file operations on a computer answer 424 until RestoreDaemon is called.
func (e *Emulator) UnavailableDaemon(computerID string) error {
	return edit(e, computerTable, computerID, "computer", func(_ *request, c *computer) error { c.DaemonDown = true; return nil })
}

// RestoreDaemon reverts UnavailableDaemon.
func (e *Emulator) RestoreDaemon(computerID string) error {
	return edit(e, computerTable, computerID, "computer", func(_ *request, c *computer) error { c.DaemonDown = false; return nil })
}
