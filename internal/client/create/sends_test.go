package create

import "testing"

func TestSends_countsLostRequestsByTheirBody(t *testing.T) {
	t.Parallel()
	var s Sends
	for _, change := range []int{1, 1, -1} {
		s.to("place").countLost("a", change)
	}
	if a, b, elsewhere := s.to("place").countLost("a", 0), s.to("place").countLost("b", 0), s.to("other").countLost("a", 0); a != 1 || b != 0 || elsewhere != 0 {
		t.Errorf("%d, %d, and %d", a, b, elsewhere)
	}
}
