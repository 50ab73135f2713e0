package contract

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The status that counts is the first one that is not only an announcement.
func TestRecorder_keepsTheFirstStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		statuses []int
		want     int
	}{
		"one":                      {[]int{404}, 404},
		"success, then a failure":  {[]int{200, 500}, 200},
		"announced, then answered": {[]int{103, 201}, 201},
	} {
		r := &recorder{ResponseWriter: httptest.NewRecorder()}
		for _, status := range tc.statuses {
			r.WriteHeader(status)
		}
		if r.status != tc.want {
			t.Errorf("%s: %d, want %d", name, r.status, tc.want)
		}
	}
	silent := &recorder{ResponseWriter: httptest.NewRecorder()}
	if _, err := silent.Write([]byte("x")); err != nil || silent.status != http.StatusOK || silent.body.String() != "x" {
		t.Errorf("an answer without a status: %d, %q, %v", silent.status, silent.body.String(), err)
	}
}
