package contract

import (
	"bytes"
	"net/http"
)

// recorder passes a response on as it is written and keeps a copy.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	if status >= http.StatusOK { // Lower ones only announce the response.
		r.status, r.header = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}
