package value

import (
	"encoding/json"
	"testing"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"b": [1, 2.50, 12345678901234567890],
		  "a": {"d": null, "c": "<x> & y"}}`: `{"a":{"c":"<x> & y","d":null},"b":[1,2.50,12345678901234567890]}`,
		` [ ] `: `[]`,
		`"x"`:   `"x"`,
		`null`:  "",
		``:      "",
	} {
		got, err := JSON(json.RawMessage(raw))
		if err != nil || got.ValueString() != want || got.IsNull() != (want == "") {
			t.Errorf("%s: got %s, %v", raw, got, err)
		}
	}
	if got, err := JSON(json.RawMessage(`{"a":`)); err == nil || !got.IsNull() {
		t.Errorf("broken JSON: %s, %v", got, err)
	}
}
