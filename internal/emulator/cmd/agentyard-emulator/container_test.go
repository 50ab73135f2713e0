//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// What the Dockerfile starts needs nothing but its binary and a folder, and is healthy. Clients with another name for it get addresses of
// files that they can use. Only the ports are others here.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../Dockerfile")
	check.Must(t, err)
	line := func(pattern string) string {
		return regexp.MustCompile("(?m)" + pattern + " (.*)$").FindStringSubmatch(string(text))[1]
	}
	root, environment := t.TempDir(), strings.Fields(line("^ENV"))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(root, "agentyard-emulator"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	check.Must(t, os.Mkdir(filepath.Join(root, "data"), 0o700))
	command := func(ctx context.Context, words string, more ...string) *exec.Cmd {
		if os.Getuid() != 0 { // Only root can change the root.
			words = strings.ReplaceAll(words, `"/`, `"`+root+"/")
		}
		var args []string
		check.Must(t, json.Unmarshal([]byte(words), &args))
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env, cmd.Dir = append(slices.Clone(environment), more...), "/"
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		}
		return cmd
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	emulator := command(ctx, regexp.MustCompile(`0\.0\.0\.0:\d+`).ReplaceAllString(line("^ENTRYPOINT"), "127.0.0.1:0"))
	emulator.Stderr = os.Stderr
	out, err := emulator.StdoutPipe()
	check.Must(t, err)
	check.Must(t, emulator.Start())
	defer func() { stop(); _ = emulator.Wait() }()
	first, _ := bufio.NewReader(out).ReadString('\n')
	url := strings.TrimSpace(strings.TrimPrefix(first, "export AGENTYARD_BASE_URL="))
	if found, err := command(t.Context(), line("HEALTHCHECK.* CMD"), "AGENTYARD_BASE_URL="+url).CombinedOutput(); err != nil {
		t.Errorf("not healthy: %v %s", err, found)
	}
	ask := func(method, path, authorization string) (status int, text []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		check.Must(t, err)
		r.Host = "emulator:8787"
		r.Header.Set("Authorization", authorization)
		resp, err := http.DefaultClient.Do(r)
		check.Must(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err = io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return resp.StatusCode, text
	}
	if status, _ := ask("GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("health: %d", status)
	}
	if _, text := ask("POST", "/api/v0/wiki/video-upload-url", "Bearer fk-emulator"); !strings.Contains(string(text), `"url":"http://emulator:8788/`) {
		t.Errorf("uploads go to %s", text)
	}
	stop()
	_ = emulator.Wait()
	if out, err := command(t.Context(), line("^ENTRYPOINT"), "AGENTYARD_EMULATOR_API_KEY=fk-other").CombinedOutput(); err == nil || !strings.Contains(string(out), "another API key") {
		t.Errorf("the data of another key: %v %s", err, out)
	}
}
