package environments

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

var aCreation = CreateRequest{Name: "ci", Scope: ScopeUser, Repositories: []Repository{{URL: "u", Script: "s"}}}

func TestCreateEnvironment_sendsOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]CreateRequest{
		`{"name":"ci","scope":"user","repositories":[{"url":"u","script":"s"}]}`: aCreation,
		`{"name":"ci","repositories":[]}`:                                        {Name: "ci", Repositories: []Repository{}},
		`{"name":"ci","scope":"organization","repositories":[{"url":"u","script":"s"}],"setupScript":"x","sourceId":"src_1","makeOrganizationDefault":true}`: {Name: "ci", Scope: ScopeOrganization, Repositories: aCreation.Repositories, SetupScript: "x", SourceID: "src_1", MakeOrganizationDefault: true},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET ": listed(), "POST ": `201 {"id":"env_1","buildId":"bld_1"}`}))
		made, err := c.Create(t.Context(), body)
		check.Must(t, err)
		check.Is(t, "sent", rec.Bodies[len(rec.Bodies)-1], want)
		if made.ID != "env_1" || made.Name != body.Name || made.Scope != body.Scope || !slices.Equal(made.Repositories, body.Repositories) || made.SetupScript != body.SetupScript || made.LatestBuildID() != "bld_1" {
			t.Errorf("made %+v", made)
		}
	}
}

func TestCreateEnvironment_reconcilesALostAnswer(t *testing.T) {
	t.Parallel()
	const asked = `,"repositories":[{"url":"u","script":"s"}]`
	mine := env("env_new", "ci", asked+`,"scope":"user","latestBuild":{"id":"bld_9"}`)
	shared := env("env_shared", "ci", asked+`,"scope":"organization"`)
	const answered = `201 {"id":"env_new","buildId":"bld_9"}`
	exists, lost := clienttest.Is[*create.ExistsError], clienttest.Is[*create.LostError]
	for name, tc := range map[string]struct {
		scope         string // Other than "user".
		before, after []string
		post          string
		posts         int
		wantID        string
		wantBuild     string
		wantErr       func(error) bool
	}{
		"answered, wrapped":                  {post: `201 {"environment":{"id":"env_new","buildId":"bld_9"}}`, posts: 1, wantID: "env_new", wantBuild: "bld_9"},
		"taken in another scope":             {before: []string{shared}, post: answered, posts: 1, wantID: "env_new", wantBuild: "bld_9"},
		"taken in a scope that is not told":  {before: []string{env("env_old", "ci", "")}, wantErr: exists},
		"taken, whatever the scope is":       {scope: "any", before: []string{shared}, wantErr: exists},
		"lost, and another scope's is there": {before: []string{shared}, after: []string{shared, mine}, post: "drop", posts: 1, wantID: "env_new", wantBuild: "bld_9"},
		"lost, and another scope's appears":  {after: []string{shared}, post: "drop", posts: 1, wantErr: lost},
		"lost, whatever the scope is":        {scope: "any", after: []string{shared}, post: "drop", posts: 1, wantID: "env_shared"},
		"lost, and the scope is not told":    {after: []string{env("env_new", "ci", asked)}, post: "drop", posts: 1, wantID: "env_new"},
		"lost, with other repositories":      {after: []string{env("env_new", "ci", `,"scope":"user"`)}, post: "drop", posts: 1, wantErr: lost},
		"lost, with a setup script":          {after: []string{env("env_new", "ci", asked+`,"setupScript":"theirs"`)}, post: "drop", posts: 1, wantErr: lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listing := tc.before
			c, rec, _ := area.ServeShort(t, func(call string) string {
				if call == "POST " {
					listing = tc.after
					return tc.post
				}
				return listed(listing...)
			})
			body := aCreation
			if tc.scope != "" {
				body.Scope = ""
			}
			got, err := c.Create(t.Context(), body)
			if !clienttest.IsA(err, tc.wantErr) || err == nil && (got.ID != tc.wantID || got.LatestBuildID() != tc.wantBuild) {
				t.Errorf("got %+v, %v", got, err)
			}
			rec.WantCount(t, http.MethodPost, tc.posts)
			if tc.wantErr == nil {
				return
			}
			var taken *create.ExistsError
			if errors.As(err, &taken) && (taken.Found[0].Object != "environment" || taken.Found[0].Name != "ci" || !strings.HasPrefix(taken.Found[0].ID, "env_") || taken.Found[0].CreatedAt.IsZero()) {
				t.Errorf("the error tells %+v", taken)
			}
			// A failed request may have changed something, so the cached reads are invalidated.
			before := len(rec.Calls())
			if _, err := c.List(t.Context(), ""); err != nil || len(rec.Calls()) != before+1 {
				t.Errorf("a read afterwards: %v", rec.Calls()[before:])
			}
		})
	}
}

// A renamed environment has its new name in its scope, and its old name is free at once.
func TestCreateEnvironment_afterARename(t *testing.T) {
	t.Parallel()
	made := 0
	c, rec, _ := area.ServeShort(t, func(call string) string {
		switch call {
		case "GET ":
			return listed()
		case "POST ":
			made++
			return fmt.Sprintf(`201 {"id":"env_%d"}`, made)
		}
		return `200 {"id":"env_1"}`
	})
	creates := func(name, scope string) error {
		_, err := c.Create(t.Context(), CreateRequest{Name: name, Scope: scope})
		return err
	}
	check.Must(t, creates("old", ScopeUser))
	name := "new"
	_, err := c.Update(t.Context(), "env_1", ScopeUser, UpdateRequest{Name: &name})
	check.Must(t, err)
	check.Must(t, creates("old", ScopeUser))
	check.Must(t, creates("new", ScopeOrganization))
	rec.Want(t, "GET ", "POST ", "PATCH /env_1", "POST ", "POST ")
	if err := creates("new", ScopeUser); !clienttest.Is[*create.ExistsError](err) {
		t.Errorf("got %v", err)
	}
}

func TestCreateEnvironment_theSourceIsPartOfTheProof(t *testing.T) {
	t.Parallel()
	for source, proven := range map[string]bool{`,"source":{"id":"src_1"}`: true, `,"source":{"id":"src_2"}`: false, "": false} {
		var list []string
		c, _, _ := area.ServeShort(t, func(call string) string {
			if call == "POST " {
				list = []string{env("env_1", "ci", source)}
				return "drop"
			}
			return listed(list...)
		})
		if _, err := c.Create(t.Context(), CreateRequest{Name: "ci", SourceID: "src_1", Repositories: []Repository{}}); (err == nil) != proven {
			t.Errorf("%q: got %v", source, err)
		}
	}
}
