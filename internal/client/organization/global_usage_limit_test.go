package organization

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

// A renamed resource sets and removes the limit in any order.
func TestGlobalUsageLimit_aValueOutlivesARemoval(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: `200 {"limit":1000000}`}))
	for _, limit := range []*int64{nil, new(int64(million)), nil} {
		if err := c.SetGlobalUsageLimit(t.Context(), limit); err != nil {
			t.Error(err)
		}
	}
	if want := []string{`{"limit":null}`, `{"limit":1000000}`}; !slices.Equal(rec.Bodies, want) {
		t.Errorf("sent %v", rec.Bodies)
	}
}
