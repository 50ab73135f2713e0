package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

func target(name, file string) Target {
	if file == "" {
		return Target{RepoFullName: name}
	}
	return Target{RepoFullName: name, FilePath: &file}
}

// deletion is an edit in two repositories.
var deletion = EditWorkflowRequest{Action: "delete", Repos: []Target{target("acme/api", "a.yml"), target("acme/web", "b.yml")}}

// Every repository gets its own outcomes, in any order and case of names.
func TestEditCIWorkflow_outcomes(t *testing.T) {
	t.Parallel()
	outcome := func(name, url string) string { return `{"repoFullName":"` + name + `","prUrl":"` + url + `"}` }
	twice := []Target{target("acme/api", "a.yml"), target("acme/web", ""), target("acme/API", "b.yml")}
	for name, tc := range map[string]struct {
		targets      []Target
		answer       string
		want, others string
	}{
		"in order":                    {twice[:2], outcome("acme/api", "1") + "," + outcome("acme/web", "2"), "1:1 1:2", ""},
		"in another order":            {twice[:2], outcome("Acme/Web", "2") + "," + outcome("acme/api", "1"), "1:1 1:2", ""},
		"a repository twice":          {twice, outcome("acme/api", "1") + "," + outcome("acme/api", "3") + "," + outcome("acme/web", "2"), "2:1,3 1:2", ""},
		"one is missing":              {twice[:2], outcome("acme/web", "2"), "1: 1:2", ""},
		"one of two is missing":       {twice, outcome("acme/web", "2") + "," + outcome("acme/api", "1"), "2:1 1:2", ""},
		"none":                        {twice, "", "2: 1:", ""},
		"not asked for":               {twice[:1], outcome("acme/api", "1") + "," + outcome("robin/tools", "9"), "1:1", "robin/tools"},
		"once too often":              {twice[:2], outcome("acme/api", "1") + "," + outcome("acme/web", "2") + "," + outcome("ACME/api", "9"), "1:1,9 1:2", ""},
		"one without a repository":    {twice[:2], outcome("acme/api", "1") + `,{"prUrl":"9"}`, "1:1 1:9", ""},
		"two without a repository":    {twice[:2], `{"prUrl":"8"},{"prUrl":"9"}`, "1: 1:", " "},
		"whose it is is not certain":  {twice[:2], `{"prUrl":"9"}`, "1: 1:", ""},
		"nobody's":                    {twice[:1], outcome("acme/api", "1") + `,{"prUrl":"9"}`, "1:1", ""},
		"without anything":            {twice[:1], `null`, "1:", ""},
		"for a repository with files": {twice, outcome("acme/web", "2") + `,{"prUrl":"9"}`, "2: 1:2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.ServeShort(t, func(string) string { return `200 {"sessions":[` + tc.answer + `],"new":1}` })
			edit, err := c.EditWorkflow(t.Context(), EditWorkflowRequest{Action: "create", Repos: tc.targets})
			clienttest.Must(t, err)
			got := texts(edit.Repositories, func(r RepositoryEdit) string {
				return fmt.Sprintf("%d:%s", len(r.Targets), strings.ReplaceAll(texts(r.Outcomes, func(o Outcome) string { return string(o.PullRequest) }), " ", ","))
			})
			if others := texts(edit.Others, func(o Outcome) string { return string(o.RepoFullName) }); got != tc.want || others != tc.others {
				t.Errorf("got %q and %q", got, others)
			}
		})
	}
}

// An edit is retried only if the service did not act. Any unclear outcome is an error that says so.
func TestEditCIWorkflow_faults(t *testing.T) {
	t.Parallel()
	const done = `200 {"sessions":[{"repoFullName":"acme/api","prUrl":"1"},{"repoFullName":"acme/web","prUrl":"2"}]}`
	for name, tc := range map[string]struct {
		first       string
		isUncertain bool
		want        string
		posts       int
	}{
		"done":                     {done, false, "", 1},
		"rate limit":               {`429 {"detail":"slow down"}`, false, "", 2},
		"dropped":                  {"drop", true, ") failed: ", 1},
		"cut off":                  {"cut", true, "was cut off", 1},
		"a page":                   {"200 <html>", true, "not JSON", 1},
		"nothing":                  {"200 ", true, "not JSON", 1},
		"another shape":            {`200 {}`, true, "the field sessions is missing", 1},
		"another shape of entries": {`200 {"sessions":{}}`, true, "unexpected response", 1},
		"500":                      {`500 {"detail":"broken"}`, true, "returned 500: broken", 1},
		"502 of a gateway":         {`502 <html>`, true, "returned 502", 1},
		"503":                      {`503 {"detail":"broken"}`, true, "returned 503", 1},
		"504":                      {`504 {"detail":"late"}`, true, "returned 504", 1},
		"501":                      {`501 {"detail":"not here"}`, false, "returned 501", 1},
		"408":                      {`408 {"detail":"late"}`, true, "returned 408: late", 1},
		"499 of a gateway":         {`499 <html>`, true, "returned 499", 1},
		"404 of another server":    {`404 <html>`, true, "returned 404", 1},
		"400":                      {`400 {"detail":"no"}`, false, "returned 400: no", 1},
		"401":                      {`401 {"detail":"no"}`, false, "returned 401", 1},
		"403":                      {`403 {"detail":"no"}`, false, "returned 403", 1},
		"404":                      {`404 {"detail":"no"}`, false, "returned 404", 1},
		"a redirect":               {`302 `, true, "returned 302", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				switch {
				case n > 1:
					clienttest.Say(w, done)
				case tc.first == "cut":
					clienttest.Cut(w, 200)
				default:
					clienttest.Say(w, tc.first)
				}
			})
			edit, err := c.EditWorkflow(t.Context(), deletion)
			if (err != nil) != (tc.want != "") || (edit == nil) != (tc.want != "") || err != nil && (!strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "editCiWorkflow")) {
				t.Errorf("got %+v, %v", edit, err)
			}
			var uncertain *UncertainEditError
			if errors.As(err, &uncertain) != tc.isUncertain {
				t.Errorf("uncertain is %v: %v", !tc.isUncertain, err)
			}
			if tc.isUncertain && !strings.Contains(err.Error(), "pull requests may have been opened in acme/api (a.yml), acme/web (b.yml)") {
				t.Errorf("the error does not name the repositories: %v", err)
			}
			rec.WantCount(t, http.MethodPost, tc.posts)
		})
	}
}

// To find the result of an edit, users compare with the service's time before it. The local clock may differ, so if no
// response had a date yet, one request is sent to get it.
func TestTimeBeforeEdit(t *testing.T) {
	t.Parallel()
	const getJobs = "GET " + route + "jobs"
	for _, answer := range []string{`200 {"jobs":[]}`, `403 {"detail":"no"}`} {
		c, rec, _ := area.ServeShort(t, func(string) string { return answer })
		for range 2 {
			if at := c.TimeBeforeEdit(t.Context()); at != c.conn.ServiceTime().UTC().Format(time.RFC3339) || c.conn.ServiceTime().IsZero() {
				t.Errorf("got %q", at)
			}
		}
		rec.Want(t, getJobs)
	}
	c, rec, _ := area.ServeShort(t, func(string) string { return "drop" })
	if at := c.TimeBeforeEdit(t.Context()); at != "" || rec.Count(http.MethodGet) == 0 {
		t.Errorf("got %q after %v", at, rec.Calls())
	}
}

// A service that is slow to return its time does not delay an edit, and a run that is stopped meanwhile sends no edit.
func TestTimeBeforeEdit_isNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		look  time.Duration
		stops bool
		posts int
	}{
		"slow":    {time.Millisecond, false, 1},
		"stopped": {time.Hour, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			release := make(chan struct{})
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method == http.MethodPost {
					clienttest.Say(w, `200 {"sessions":[]}`)
					return
				}
				if tc.stops {
					stop()
				}
				select {
				case <-release:
				case <-time.After(time.Minute): // A call without a time limit would get the service's time here.
				}
				clienttest.Say(w, `200 {"jobs":[]}`)
			})
			defer close(release)
			c.lookForTime = tc.look
			if at := c.TimeBeforeEdit(ctx); at != "" {
				t.Errorf("the answer was waited for: %s", at)
			}
			if tc.stops {
				<-ctx.Done()
			}
			_, err := c.EditWorkflow(ctx, deletion)
			var uncertain *UncertainEditError
			if errors.Is(err, context.Canceled) != tc.stops || !tc.stops && err != nil || errors.As(err, &uncertain) {
				t.Error(err)
			}
			rec.WantCount(t, http.MethodPost, tc.posts)
		})
	}
}

// An edit invalidates the cached reads, even if its response was lost.
func TestEditCIWorkflow_discardsWhatItChanges(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`200 {"sessions":[]}`, "drop", `403 {"detail":"no"}`} {
		c, rec, _ := area.ServeShort(t, func(call string) string {
			if strings.HasPrefix(call, http.MethodPost) {
				return answer
			}
			return `200 {"jobs":[],"repositories":[],"owners":[],"runs":[],"workflows":[]}`
		})
		for range 2 {
			for _, of := range readsOfCI {
				clienttest.Must(t, of.read(t.Context(), c))
			}
			_, _ = c.EditWorkflow(t.Context(), deletion)
		}
		// An edit does not change repositories and owners, so their cached reads stay valid.
		if n := rec.Count(http.MethodGet); n != 2*3+2 {
			t.Errorf("%s: %d reads", answer, n)
		}
	}
}
