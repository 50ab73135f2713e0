package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// ControlChange is a change of the organization's enterprise control settings.
type ControlChange struct {
	// Revision is nil only if the service does not return it.
	Revision *int64 `json:"revision"`
	// Settings are all settings after the change. They may contain secrets.
	Settings  json.RawMessage `json:"settings"`
	User      *ControlUser    `json:"user"`
	UpdatedAt wire.Millis     `json:"updatedAt"`
}

// ControlUser is the author of a change. Email and Name may be empty.
type ControlUser struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

func (c *ControlChange) Ref() wire.Ref {
	if c.Revision == nil {
		return wire.Ref{}
	}
	return wire.Ref{ID: strconv.FormatInt(*c.Revision, 10)}
}

func (c *ControlChange) MissingField() string {
	return cmp.Or(wire.MissingIf(c.Revision == nil, "revision"), wire.MissingIf(c.Settings == nil, "settings"))
}

// ControlHistory returns at most limit changes of the enterprise control settings, newest first; 0 means all. If since is not
// nil, it returns only later revisions. It requires the key of a member with the Manager role or higher.
func (c *Client) ControlHistory(ctx context.Context, limit int, since *int64) ([]ControlChange, error) {
	found, err := collection.Gather(newerPages(c.controlChanges.All(ctx, collection.PageKey(limit, nil)), since), limit)
	if err != nil {
		return nil, err
	}
	wire.Sort(found, func(a, b *ControlChange) int { return cmp.Compare(*b.Revision, *a.Revision) })
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	return found, nil
}

// newerPages yields the changes after a revision; nil means all. It stops at the first page with an earlier change, because the
// service orders the changes by revision.
func newerPages(pages iter.Seq2[[]ControlChange, error], since *int64) iter.Seq2[[]ControlChange, error] {
	return func(yield func([]ControlChange, error) bool) {
		for changes, err := range pages {
			newer := []ControlChange{}
			for _, c := range changes {
				if since == nil || *c.Revision > *since {
					newer = append(newer, c)
				}
			}
			if !yield(newer, err) || len(newer) < len(changes) {
				return
			}
		}
	}
}

// ControlSettings has enterprise control settings, or the fields of one, by name. The service may add, remove, and rename them,
// so a value that is missing or has another type than documented is nil.
type ControlSettings map[string]json.RawMessage

// Values returns the settings after the change.
func (c *ControlChange) Values() *ControlSettings {
	all := ControlSettings{}
	_ = json.Unmarshal(c.Settings, &all) // Settings of another type have no known values.
	return &all
}

// Setting returns a setting; nil if it does not have the type. A null in a list or a map is the zero value.
func Setting[T any](s *ControlSettings, name string) (value T) {
	if json.Unmarshal((*s)[name], &value) != nil {
		var none T
		return none
	}
	return value
}
