package emulator

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"time"
)

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newID returns prefix and 26 characters that sort by time: 48 bits of milliseconds and 80 random bits.
func newID(prefix string, now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(millis(now))<<16)
	_, _ = rand.Read(b[6:]) // It never fails.
	return prefix + crockford.EncodeToString(b[:])
}

// randomText returns n random characters of the URL-safe base64 alphabet.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // It never fails.
	return base64.RawURLEncoding.EncodeToString(b)[:n]
}

// millis is the form in which the API shows times: Unix milliseconds.
func millis(t time.Time) int64 { return t.UnixMilli() }
