package collection

import "sync"

// InParallel runs work for 0 to n-1, at most so many workers at a time, and returns their errors in that order.
func InParallel(workers, n int, work func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = work(i)
		})
	}
	running.Wait()
	return errs
}
