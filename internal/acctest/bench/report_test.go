package bench

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// instant sends requests to a handler without a network, in no time.
type instant struct{ http.Handler }

func (d instant) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := recorder{httptest.NewRecorder()}
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

var (
	headline = regexp.MustCompile(`(?s)<p class="changes">.*?</p>`)
	failures = regexp.MustCompile(`(?s)<ul class="failures".*?</ul>`)
	reason   = regexp.MustCompile(`(?s)<p class="reason">.*?</p>`)
	tag      = regexp.MustCompile(`(?s)<details.*?</details>|<[^>]*>`)
)

// said is what a page says of its first run: what changed, what failed and why, and what took time.
func said(page string) string {
	var texts []string
	for _, part := range []*regexp.Regexp{headline, failures, reason} {
		text := html.UnescapeString(tag.ReplaceAllString(part.FindString(page), " "))
		texts = append(texts, strings.NewReplacer(" ,", ",", " :", ":").Replace(strings.Join(strings.Fields(text), " ")))
	}
	return strings.Join(texts, "\n")
}

// Whoever knows the page of the emulator finds the same in the report of a run, which a real service can have too.
func TestReport_agreesWithTheStatusPage(t *testing.T) {
	for name, tc := range map[string]struct {
		n       int
		options emulator.Options
		prepare func(e *emulator.Emulator)
		waits   bool
		says    string
	}{
		"5 objects": {5, emulator.Options{}, nil, false, "Created service account robots and computers c-0 to c-4\n\n"},
		"200 that are waited for, some of which fail": {
			200, emulator.Options{Provisioning: emulator.Provisioning{Step: 2 * time.Second}}, func(e *emulator.Emulator) {
				e.FailProvisioning(emulator.FailStep{Name: "c-1*", Step: "install-agent", Error: "out of disk", Times: 3})
				e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 403, Operation: "createComputer", After: 30, Times: 2})
			}, true, "",
		},
		"200 that are refused": {
			200, emulator.Options{}, func(e *emulator.Emulator) {
				e.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 400, Operation: "createComputer", Times: -1})
			}, false, "200 failed. Created service account robots 200 × 400\n" +
				"createComputer c-0, c-1, c-2 and 197 more: 400, A programmed fault answered this request. Nothing was changed. Fix the cause, and apply again.\n",
		},
		"1000 under a rate limit": {1000, emulator.Options{RequestsPerSecond: 20}, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := started(t, tc.options)
			if tc.prepare != nil {
				tc.prepare(e)
			}
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				c, err := client.New(transport.Config{
					BaseURL: e.URL(), APIKey: e.BootstrapKey(), MaxRetries: 8, Transport: instant{e.Handler()}, Random: seeded(1),
					UserAgent: statuspage.ProviderAgent + "1.2.3 Terraform/1.16.4", ReportFolder: folder,
				})
				check.Must(t, err)
				account, err := c.ServiceAccounts.Create(t.Context(), serviceaccounts.CreateRequest{Name: "robots"})
				check.Must(t, err)
				each(t, tc.n, func(ctx context.Context, i int) error {
					time.Sleep(time.Duration(i) * time.Microsecond) // So that no two requests are sent at the same time.
					made, err := c.Computers.Create(ctx, computers.CreateRequest{Name: fmt.Sprint("c-", i), ServiceAccountID: account.ID})
					if err != nil || !tc.waits {
						return nil //nolint:nilerr // The page and the report say it.
					}
					watch := c.Computers.Watch(made.ID, account.ID)
					defer watch.Close()
					_, _ = wait.For(ctx, c.Conn.Clock, 30*time.Minute, wait.Object[computers.Computer]{
						Start: made, Next: watch.Next, Status: func(c *computers.Computer) string { return c.Status },
						States: wait.States{Done: []string{computers.StatusActive}, InProgress: []string{computers.StatusProvisioning}, Failed: []string{computers.StatusError}},
					})
					return nil
				})
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/runs/1", nil)
				r.RemoteAddr, r.Host = "127.0.0.1:5", "localhost"
				e.Handler().ServeHTTP(w, r)
				report, err := statuspage.ReadReport(folder)
				check.Must(t, err)
				var file strings.Builder
				check.Must(t, report.Write(&file, "html"))
				reported := said(file.String())
				page := strings.ReplaceAll(said(w.Body.String()), ": out of disk", "; the reason is in Terraform's output") // A report has no texts of steps.
				if page != reported || tc.says != "" && page != tc.says {
					t.Errorf("the report says\n%s\nthe page says\n%s", reported, page)
				}
			})
		})
	}
}

// Nothing that a configuration or the service keeps secret is in a report.
func TestReport_hasNoSecrets(t *testing.T) {
	t.Parallel()
	e, folder := started(t, emulator.Options{Provisioning: emulator.Provisioning{Step: time.Millisecond}, SessionDelay: -1}), t.TempDir()
	c, err := client.New(transport.Config{BaseURL: e.URL(), APIKey: e.BootstrapKey(), UserAgent: "agent", ReportFolder: folder})
	check.Must(t, err)
	ctx := t.Context()
	account, err := c.ServiceAccounts.Create(ctx, serviceaccounts.CreateRequest{Name: "robots", Description: "planted-description"})
	check.Must(t, err)
	key, err := c.ServiceAccounts.CreateKey(ctx, serviceaccounts.NewAPIKey{AccountID: account.ID, Name: "ci"})
	check.Must(t, err)
	_, err = c.Environments.Create(ctx, environments.CreateRequest{
		Name: "app", SetupScript: "planted-setup", Repositories: []environments.Repository{{URL: "https://planted-user:planted-password@code.example/acme/api", Script: "planted-script"}},
	})
	check.Must(t, err)
	made, err := c.Computers.Create(ctx, computers.CreateRequest{Name: "c", Repos: []string{"https://planted-user@code.example/acme/api"}})
	check.Must(t, err)
	watch := c.Computers.Watch(made.ID, "")
	for made.Status != computers.StatusActive {
		made, err = watch.Next(ctx, time.Millisecond)
		check.Must(t, err)
	}
	watch.Close()
	upload, err := c.Computers.CreateFileUpload(ctx, made.ID, "planted-file", computers.FileContent{Size: 4})
	check.Must(t, err)
	session, err := c.Sessions.Create(ctx, sessions.CreateRequest{ComputerID: made.ID, Cwd: "/planted-folder"})
	check.Must(t, err)
	_, err = c.Sessions.Send(ctx, session.ID, sessions.MessageRequest{Text: "planted-prompt"})
	check.Must(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	check.Must(t, err)
	text, err := os.ReadFile(files[0])
	check.Must(t, err)
	for _, secret := range []string{"planted", "signature", "Bearer", e.BootstrapKey(), key.Value, upload.URL} {
		if secret == "" || strings.Contains(string(text), secret) {
			t.Errorf("the report contains %q: %s", secret, text)
		}
	}
	if lines := strings.Count(string(text), "\n"); lines < 10 || !strings.Contains(string(text), `"session"`) && !strings.Contains(string(text), session.ID) {
		t.Errorf("the report has %d lines: %s", lines, text)
	}
}
