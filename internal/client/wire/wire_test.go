package wire

import (
	"encoding/json"
	"maps"
	"testing"
	"time"
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
		if json.Unmarshal([]byte(text), &m) == nil {
			t.Errorf("%s is accepted", text)
		}
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
