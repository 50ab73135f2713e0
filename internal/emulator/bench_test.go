package emulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func benchRequest(b *testing.B, c *http.Client, e *emulator.Emulator, method, path, body string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, e.URL()+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+e.BootstrapKey())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode >= 300 {
		b.Fatal(resp.Status, err)
	}
}

func BenchmarkCreateComputer(b *testing.B) {
	e, err := emulator.Start(b.Context(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	n := 0
	for b.Loop() {
		n++
		benchRequest(b, http.DefaultClient, e, "POST", "/api/v0/computers", fmt.Sprintf(`{"name":"c-%d"}`, n))
	}
}

func BenchmarkListThousandComputers(b *testing.B) {
	e, err := emulator.Start(b.Context(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i := range 50 {
		benchRequest(b, http.DefaultClient, e, "POST", "/api/v0/computers/bulk", fmt.Sprintf(`{"quantity":20,"namePrefix":"c%d","autoInstallDeps":true}`, i))
	}
	for b.Loop() {
		benchRequest(b, http.DefaultClient, e, "GET", "/api/v0/computers?includeProvisioningSteps=true", "")
	}
}

func BenchmarkListThousandEnvironments(b *testing.B) {
	e, err := emulator.Start(b.Context(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i := range 1000 {
		benchRequest(b, http.DefaultClient, e, "POST", environments, fmt.Sprintf(`{"name":"e-%d","repositories":[{"url":"https://git.example/acme/app.git","script":"make"}]}`, i))
	}
	for b.Loop() {
		benchRequest(b, http.DefaultClient, e, "GET", environments, "")
	}
}
