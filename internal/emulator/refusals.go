package emulator

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// jsonRefusals is a listener that turns the responses of the HTTP server itself into the API's error bodies. The server
// refuses what it cannot read as a request, such as a malformed escape in the path, before any handler sees it.
type jsonRefusals struct{ net.Listener }

func (l jsonRefusals) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return refusingConn{tcp}, err
	}
	return conn, err
}

type refusingConn struct{ *net.TCPConn }

// Write replaces such a response. The server writes it straight to the connection, in one piece and with these headers;
// a response of a handler has at least a date too.
func (c refusingConn) Write(p []byte) (int, error) {
	line, isResponse := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !isResponse {
		return c.TCPConn.Write(p)
	}
	line, rest, _ := bytes.Cut(line, []byte("\r\n"))
	text, isRefusal := bytes.CutPrefix(rest, []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"))
	code, _, _ := strings.Cut(string(line), " ")
	status, err := strconv.Atoi(code)
	if !isRefusal || err != nil {
		return c.TCPConn.Write(p)
	}
	body, err := json.Marshal(errorBody{
		Detail: "The request cannot be read: " + string(text) + ".", Status: status, Title: http.StatusText(status),
	})
	if err != nil {
		return 0, err
	}
	response := "HTTP/1.1 " + string(line) + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + string(body)
	if _, err := c.TCPConn.Write([]byte(response)); err != nil {
		return 0, err
	}
	return len(p), nil
}
