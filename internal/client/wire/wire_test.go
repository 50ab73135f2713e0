package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func TestMillis(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`1772323200000`: at, `1772323200000.0`: at, `1.7723232e12`: at, `"1772323200000"`: at, `"2026-03-01T01:00:00+01:00"`: at, `null`: {}, `""`: {}, `0`: {},
	} {
		var m Millis
		if err := json.Unmarshal([]byte(text), &m); err != nil || !m.Time().Equal(want) {
			t.Errorf("%s: got %v, %v", text, m.Time(), err)
		}
	}
	for _, text := range []string{`"soon"`, `{}`, `true`} {
		var m Millis
		check.Fails(t, json.Unmarshal([]byte(text), &m))
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	var got Metadata
	err := json.Unmarshal([]byte(`{"text":"a","number":1,"object":{"b": [true]}}`), &got)
	if want := (Metadata{"text": "a", "number": "1", "object": `{"b":[true]}`}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`["a"]`), &got); err == nil || err.Error() != "the metadata is not an object" {
		t.Errorf("a list: %v", err)
	}
}

// In JSON, 5.0 and 5e0 are the whole number 5. Go's decoder rejects both for an integer.
func TestDecode_wholeNumbers(t *testing.T) {
	t.Parallel()
	type object struct {
		Count   int64
		Nested  []struct{ Limit *int64 }
		Text    string
		Share   float64
		Present Nullable[int64]
	}
	body := `{"count": 5000000.0, "nested": [{"limit": 5.0E6}, {"limit": -2e0}], "text": "1.0 \\\" 2.0", "share": 0.5, "present": 3.0}`
	var got object
	if err := Decode([]byte(body), "", &got); err != nil || got.Count != 5000000 || *got.Nested[0].Limit != 5000000 || *got.Nested[1].Limit != -2 ||
		got.Text != `1.0 \" 2.0` || got.Share != 0.5 || *got.Present.Value != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	if all, err := ReadList[object]([]byte(`{"all": [{"count": 1.0}, {"count": 2}]}`), "all"); err != nil || len(all) != 2 || all[0].Count != 1 || all[1].Count != 2 {
		t.Errorf("got %+v, %v", all, err)
	}
	for _, number := range []string{"1.5", "1e-3", "1e30", `"1.0"`, "9007199254740993.0"} {
		check.Fails(t, Decode([]byte(`{"count": `+number+`}`), "", &got))
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	type row struct{ key, was int }
	rows := []row{{3, 0}, {1, 1}, {2, 2}, {1, 3}, {3, 4}}
	Sort(rows, func(a, b *row) int { return cmp.Compare(a.key, b.key) })
	check.Is(t, "the rows", fmt.Sprint(rows), "[{1 1} {1 3} {2 2} {3 0} {3 4}]")
	Sort[row](nil, nil)
}

type named struct{ id, name string }

func (n *named) Ref() Ref             { return Ref{ID: n.id, Name: n.name} }
func (n *named) MissingField() string { return "" }

func TestSortByName(t *testing.T) {
	t.Parallel()
	all := []named{{"9", "b"}, {"1", "b"}, {"5", "a"}}
	SortByName(all)
	check.Is(t, "the order", all, []named{{"5", "a"}, {"1", "b"}, {"9", "b"}})
}

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
		check.Is(t, text, got, want)
	}
}
