package organization

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Timestamp is a point in time that the service writes as a text in the form of ISO 8601. Zero is "not set".
type Timestamp struct{ time.Time }

// timestampForms are the forms of ISO 8601 that are read, the usual one first. Without a zone a time is in UTC.
var timestampForms = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05", time.DateOnly}

// UnmarshalJSON accepts what transport.Millis does, and more forms of text.
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
	var millis transport.Millis
	if err := json.Unmarshal(data, &millis); err != nil {
		return fmt.Errorf("%s is not a timestamp", data)
	}
	t.Time = millis.Time()
	return nil
}
