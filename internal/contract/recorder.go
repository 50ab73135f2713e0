package contract

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net"
	"net/http"
)

// recorder passes a response on as it is written and keeps a copy.
type recorder struct {
	http.ResponseWriter
	status   int
	header   http.Header
	body     bytes.Buffer
	hijacked bool
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

// Flush, Hijack and Unwrap let handlers do with the connection what they could do without a recorder.
func (r *recorder) Flush() {
	r.WriteHeader(http.StatusOK)
	// A writer that cannot flush sends the response at its end, which is all that can be done here.
	_ = http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack hands the connection over; what is sent on it afterwards is no response that could be checked.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	r.hijacked = err == nil
	return conn, buffered, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// replay reads a body again that was read already, and closes the original.
type replay struct {
	io.Reader
	io.Closer
}

// Again returns a reader of what was read already. It ends with the error that ended the original, if one did.
func Again(body []byte, err error) io.Reader {
	return io.MultiReader(bytes.NewReader(body), failing{err})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }
