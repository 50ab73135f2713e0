package emulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
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

// startThousands starts an emulator with 10,000 members.
func startThousands(b *testing.B) *emulator.Emulator {
	b.Helper()
	e, err := emulator.Start(b.Context(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	for i := range 10_000 {
		if _, _, err := e.AddHuman(emulator.Human{Email: fmt.Sprintf("m%d@people.example", i), Metadata: map[string]any{"team": "engines"}}); err != nil {
			b.Fatal(err)
		}
	}
	return e
}

func BenchmarkPageOfThousandsOfMembers(b *testing.B) {
	e := startThousands(b)
	for b.Loop() {
		benchRequest(b, http.DefaultClient, e, "GET", members+"?limit=100", "")
	}
}

func BenchmarkLimitsOfThousandsOfMembers(b *testing.B) {
	e := startThousands(b)
	for b.Loop() {
		benchRequest(b, http.DefaultClient, e, "GET", userLimits, "")
	}
}

func BenchmarkTokensOfThousandMembers(b *testing.B) {
	e, err := emulator.Start(b.Context(), emulator.Options{Clock: clock.NewFake(time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i := range 1000 {
		if _, _, err := e.AddHuman(emulator.Human{Email: fmt.Sprintf("m%d@people.example", i)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		benchRequest(b, http.DefaultClient, e, "GET", analytics+"/tokens?startDate=2026-01-14&endDate=2026-11-09", "")
	}
}
