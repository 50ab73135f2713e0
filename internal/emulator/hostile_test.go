package emulator_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// attack is what a hostile client sends on a connection of its own.
type attack struct {
	name string
	// text is the bytes. HOST stands for the address, and KEY for the manager's key.
	text string
	// want are the statuses of the responses, in their order, and "cut" where the last one is missing. Empty is any, where the
	// HTTP server of another Go version may differ.
	want string
	// creates is the computer that the request may create. All others change nothing.
	creates string
}

// sharedLog is a log that goroutines write and the test reads.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns what was written since the last time.
func (l *sharedLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// besieged is an emulator with an object of each kind, and what it said.
type besieged struct {
	*env
	log    *sharedLog
	object string            // The path of a computer.
	before map[string]string // What the organization was, by path.
	seen   int               // How many entries of the journal.
}

func besiege(t *testing.T) *besieged {
	t.Helper()
	log := &sharedLog{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v := start(t, emulator.Options{DataFile: dataFile(t), Logger: logger, SessionDelay: -1, SessionListDelay: -1, MessageDelay: -1})
	b := &besieged{env: v, log: log}
	b.object = computers + "/" + idOf(everything(v)["agentyard_computer"])
	b.before = b.organization()
	return b
}

// organization is everything that a request could have created or changed. Each of these requests must be answered as always.
func (b *besieged) organization() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	for _, path := range []string{
		computers, accounts, environments, sessions, members, globalLimits, userLimits, wiki, "/api/v0/automations/ci/jobs",
		"/_emulator/faults", "/_emulator/clock",
	} {
		all[path] = string(b.call(200, "GET", path, nil).raw)
	}
	return all
}

// dial opens a connection and sends bytes, as far as the emulator reads them.
func (b *besieged) dial(address, text string) *net.TCPConn {
	b.t.Helper()
	host := strings.TrimPrefix(address, "http://")
	conn, err := (&net.Dialer{}).DialContext(b.t.Context(), "tcp", host)
	must(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close() })
	must(b.t, conn.SetDeadline(time.Now().Add(time.Minute))) // Only for an emulator that hangs.
	_, _ = io.WriteString(conn, strings.NewReplacer("HOST", host, "KEY", b.BootstrapKey()).Replace(text))
	return conn.(*net.TCPConn)
}

// rest says that no more bytes come, and returns all that comes back. An emulator that refuses early does not read everything.
func (b *besieged) rest(conn *net.TCPConn) string {
	_ = conn.CloseWrite()
	got, _ := io.ReadAll(conn)
	return string(got)
}

// statuses are those of the responses that came back.
func statuses(text, got string) string {
	method, _, _ := strings.Cut(text, " ")
	var list []string
	for rest := bufio.NewReader(strings.NewReader(got)); ; {
		if _, err := rest.Peek(1); err != nil {
			break
		}
		resp, err := http.ReadResponse(rest, &http.Request{Method: method})
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		if err != nil {
			list = append(list, "cut")
			break
		}
		list = append(list, fmt.Sprint(resp.StatusCode))
	}
	if len(list) == 0 {
		return "cut"
	}
	return strings.Join(list, " ")
}

// survived holds the emulator against what every attack must leave as it was.
func (b *besieged) survived(c attack, got string) {
	b.t.Helper()
	if c.creates != "" {
		id := b.call(200, "GET", computers+"/name/"+c.creates, nil).object(b.t)["id"].(string)
		b.call(204, "DELETE", computers+"/"+id, nil)
	}
	now := b.organization()
	for path, was := range b.before {
		if now[path] != was {
			b.t.Errorf("%s was %.500s, and is %.500s", path, was, now[path])
		}
	}
	b.before = now
	said := b.log.take()
	for _, secret := range append(secrets, b.BootstrapKey()) {
		if strings.Contains(got, secret) {
			b.t.Errorf("the response contains %q: %.2000s", secret, got)
		}
		if strings.Contains(said, secret) {
			b.t.Errorf("the log contains %q", secret)
		}
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			b.t.Errorf("the log says: %s", line)
		}
	}
	for _, e := range b.Journal().Entries()[b.seen:] {
		b.seen++
		if e.Status == http.StatusInternalServerError {
			b.t.Errorf("%s %.200q was answered with 500", e.Method, e.Path)
		}
	}
}
