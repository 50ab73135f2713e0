package phrase

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

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
		check.Is(t, "the names", Names(tc.names, tc.most), want)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -123456: "-123,456"} {
		check.Is(t, "the number", Thousands(n), want)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for want, sentences := range map[string][]string{"": nil, "A.": {"", "A.", ""}, "A. B.": {"A.", "", "B."}} {
		check.Is(t, "the sentences", Join(sentences...), want)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for count, want := range []string{"0 computers", "1 computer", "2 computers"} {
		check.Is(t, "the count", Count(count, "computer"), want)
	}
}
