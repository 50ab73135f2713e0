package evidence

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// Proxy forwards requests to the service at base, through Transport.
func (r *Recorder) Proxy(base *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(base)
			p.Out.Header.Del("Accept-Encoding") // So that the transport decompresses, and the recorder can read.
		},
		Transport: r.Transport(http.DefaultTransport),
		ErrorLog:  log.New(io.Discard, "", 0), // It would name the host.
		// A client has to see that there was no answer; a status would be one of the service.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// Trial is Proxy for requests that try out a rule on purpose: there, neither a request that breaks the contract nor its refusal is
// a deviation. Everything else is checked as usual.
func (r *Recorder) Trial(base *url.URL) http.Handler {
	proxy := r.Proxy(base)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		proxy.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), trial{}, true)))
	})
}
