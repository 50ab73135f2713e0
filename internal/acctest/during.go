package acctest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Meanwhile calls do before each request of the provider whose method and path start with request, with the number of earlier
// ones.
func Meanwhile(request string, do func(n int)) Option {
	var seen atomic.Int64
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Method+" "+r.URL.Path, request) && fromProvider(r) {
				do(int(seen.Add(1)) - 1)
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Together calls do for each number below n, with limited parallelism, and waits for all calls.
func Together(n, parallelism int, do func(k int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for k := range n {
		slots <- struct{}{}
		running.Go(func() {
			do(k)
			<-slots
		})
	}
	running.Wait()
}

func fromProvider(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "terraform-provider-agentyard/")
}
