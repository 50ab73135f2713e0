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
}

// note records the time of a response.
func (s *serviceClock) note(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Latest = latest(s.Latest, at)
}

// dateOf parses the Date header; zero if it is missing or invalid.
func dateOf(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}
