package wire

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestUnordered(t *testing.T) {
	t.Parallel()
	type record struct {
		URL    string `json:"url"`
		Script string `json:"script"`
	}
	for text, want := range map[string]string{
		`{}`:            `[]wire.record(nil)`,
		`{"all":null}`:  `[]wire.record(nil)`,
		`{"all":[]}`:    `[]wire.record{}`,
		`{"all":[{}]}`:  `[]wire.record{wire.record{URL:"", Script:""}}`,
		`{"all":["x"]}`: `error`,
		`{"all":[{"script":"a","url":"c"},{"url":"b","script":"z"},{"url":"b","script":"y"}]}`: `[]wire.record{wire.record{URL:"b", Script:"y"}, ` +
			`wire.record{URL:"b", Script:"z"}, wire.record{URL:"c", Script:"a"}}`,
	} {
		var holder struct{ All Unordered[record] }
		err := json.Unmarshal([]byte(text), &holder)
		got := fmt.Sprintf("%#v", []record(holder.All))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
