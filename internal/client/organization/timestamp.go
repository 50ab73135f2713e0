package organization

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Timestamp is a time that the service returns as an ISO 8601 string. Zero means "not set".
type Timestamp struct{ time.Time }

// timestampForms are the accepted ISO 8601 formats, the usual one first. A time without a zone is in UTC.
var timestampForms = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05", time.DateOnly}

// UnmarshalJSON accepts the values that wire.Millis accepts, and more string formats.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		for _, form := range timestampForms {
			if at, err := time.Parse(form, strings.Replace(text, " ", "T", 1)); err == nil {
				t.Time = at.UTC()
				return nil
			}
		}
	}
	var millis wire.Millis
	if err := json.Unmarshal(data, &millis); err != nil {
		return fmt.Errorf("%s is not a timestamp", data)
	}
	t.Time = millis.Time()
	return nil
}
