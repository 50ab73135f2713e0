package transport

import "testing"

// A gateway may give up while the service is working, and may return a status below 500 for that. A status that rejects a
// request proves that the service did not act.
func TestIsAmbiguous_answers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		302: false, 400: false, 401: false, 403: false, 404: false, 405: false, 408: true, 409: false, 413: false, 422: false, 424: false, 429: false,
		460: true, 499: true, 500: true, 501: false, 502: true, 503: true, 504: true, 524: true,
	} {
		for _, fromService := range []bool{true, false} {
			if got := IsAmbiguous(&APIError{Method: "POST", Status: status, FromService: fromService}); got != want {
				t.Errorf("%d, of the service %v: got %v", status, fromService, got)
			}
		}
	}
}
