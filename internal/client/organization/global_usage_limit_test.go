package organization

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

// A renamed resource sets and removes the limit in any order.
func TestGlobalUsageLimit_aValueOutlivesARemoval(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: "204 "}))
	for _, limit := range []*int64{nil, new(int64(million)), nil} {
		if err := c.SetGlobalUsageLimit(t.Context(), limit); err != nil {
			t.Error(err)
		}
	}
	if want := []string{`{"limit":null}`, `{"limit":1000000}`}; !slices.Equal(rec.Bodies, want) {
		t.Errorf("sent %v", rec.Bodies)
	}
}

func TestSetGlobalUsageLimit_anAnswerThatDenies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		limit        *int64
		answer, says string
	}{
		{new(int64(million)), `200 {"limit":1000000}`, ""},
		{new(int64(million)), "200 {}", ""},
		{new(int64(million)), `200 {"limit":null}`, "the field limit is null instead of 1000000"},
		{new(int64(million)), `200 {"limit":5}`, "the field limit is 5 instead of 1000000"},
		{nil, `200 {"limit":null}`, ""},
		{nil, `200 {"limit":5}`, "the field limit is 5 instead of null"},
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: tc.answer}))
		err := c.SetGlobalUsageLimit(t.Context(), tc.limit)
		if (err != nil) != (tc.says != "") {
			t.Errorf("%s: got %v", tc.answer, err)
		}
		clienttest.WantText(t, err, tc.says, "setGlobalUsageLimit")
	}
}
