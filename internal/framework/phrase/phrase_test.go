package phrase

import "testing"

func TestNames(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct {
		names []string
		most  int
	}{
		"":                   {nil, 3},
		"a":                  {[]string{"a"}, 3},
		"a, b, c":            {[]string{"a", "b", "c"}, 3},
		"a, b, c and 1 more": {[]string{"a", "b", "c", "d"}, 3},
		"a and 3 more":       {[]string{"a", "b", "c", "d"}, 1},
	} {
		if got := Names(tc.names, tc.most); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -123456: "-123,456"} {
		if got := Thousands(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for want, sentences := range map[string][]string{"": nil, "A.": {"", "A.", ""}, "A. B.": {"A.", "", "B."}} {
		if got := Join(sentences...); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for count, want := range []string{"0 computers", "1 computer", "2 computers"} {
		if got := Count(count, "computer"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
