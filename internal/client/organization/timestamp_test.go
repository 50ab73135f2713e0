package organization

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimestamp(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`"2026-03-01T12:00:00Z"`:             "2026-03-01T12:00:00Z",
		`"2026-03-01T12:00:00.123456Z"`:      "2026-03-01T12:00:00.123456Z",
		`"2026-03-01T14:00:00+02:00"`:        "2026-03-01T12:00:00Z",
		`"2026-03-01T14:00:00.5+0200"`:       "2026-03-01T12:00:00.5Z",
		`"2026-03-01T14:00:00+02"`:           "2026-03-01T12:00:00Z",
		`"2026-03-01T12:00:00.250"`:          "2026-03-01T12:00:00.25Z",
		`"2026-03-01 12:00:00Z"`:             "2026-03-01T12:00:00Z",
		`"2026-03-01"`:                       "2026-03-01T00:00:00Z",
		`1772366400000`:                      "2026-03-01T12:00:00Z",
		`"1772366400000"`:                    "2026-03-01T12:00:00Z",
		`null`:                               "",
		`""`:                                 "",
		`"yesterday"`:                        "error",
		`true`:                               "error",
		`{"at":"2026-03-01T12:00:00Z"}`:      "error",
		`"2026-03-01T12:00:00Z and no more"`: "error",
	} {
		var at Timestamp
		err := json.Unmarshal([]byte(data), &at)
		got := ""
		switch {
		case err != nil:
			got = "error"
		case !at.IsZero():
			got = at.Format(time.RFC3339Nano)
		}
		if got != want || !at.IsZero() && at.Location() != time.UTC {
			t.Errorf("%s: got %s (%v), want %s", data, got, err, want)
		}
	}
}
