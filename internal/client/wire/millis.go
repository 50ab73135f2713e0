package wire

import (
	"fmt"
	"strconv"
	"time"
)

// Millis is a time in Unix milliseconds, as the service sends it. Zero means "not set".
type Millis int64

// Time returns the time in UTC, or the zero time.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// UnmarshalJSON accepts a number with or without a fraction, a string with a number, an RFC 3339 string, and null.
func (m *Millis) UnmarshalJSON(data []byte) error {
	text := TextOrJSON(data)
	if text == "null" || text == "" {
		*m = 0
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*m = Millis(at.UnixMilli())
		return nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a timestamp", text)
	}
	*m = Millis(number)
	return nil
}
