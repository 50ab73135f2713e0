package transport

import (
	"net/http"
	"sync"
	"time"
)

// serviceClock has the latest time in a response that only the service can have sent: a gateway's clock may be wrong.
type serviceClock struct {
	mu     sync.Mutex
	Latest time.Time
	// heard is the local time of the last response.
	heard time.Time
}

// note records a response. At is zero if another server may have sent it.
func (s *serviceClock) note(at, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Latest, s.heard = latest(s.Latest, at), now
}

// ServiceTime returns the latest time in the service's own responses; zero if there was none. It never goes back.
func (c *Conn) ServiceTime() time.Time {
	c.Service.mu.Lock()
	defer c.Service.mu.Unlock()
	return c.Service.Latest
}

// LastResponseAt returns the local time of the last response.
func (c *Conn) LastResponseAt() time.Time {
	c.Service.mu.Lock()
	defer c.Service.mu.Unlock()
	return c.Service.heard
}

// dateOf parses the Date header; zero if it is missing or invalid.
func dateOf(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}
