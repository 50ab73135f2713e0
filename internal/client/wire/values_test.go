package wire

import (
	"cmp"
	"fmt"
	"testing"
)

func TestSort(t *testing.T) {
	t.Parallel()
	type row struct{ key, was int }
	rows := []row{{3, 0}, {1, 1}, {2, 2}, {1, 3}, {3, 4}}
	Sort(rows, func(a, b *row) int { return cmp.Compare(a.key, b.key) })
	if got := fmt.Sprint(rows); got != "[{1 1} {1 3} {2 2} {3 0} {3 4}]" {
		t.Error(got)
	}
	Sort[row](nil, nil)
}
