package wikis

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

func TestCreateWikiRun_takesEveryAnswer(t *testing.T) {
	t.Parallel()
	yes := true
	asked := CreateRequest{RepoURL: acmeAPI + ".git", CommitHash: "c0ffee0", Branch: "main", HasLocalChanges: &yes, Pages: []PageUpload{{Path: "a.md"}}}
	mine := strings.Replace(wiki("w1", ""), `"hasLocalChanges":false`, `"hasLocalChanges":true`, 1)
	late := strings.Replace(mine, "1772323200000", "1772323199000", 1)
	known := strings.Replace(wiki("w0", ""), "1772323200000", "1772323100000", 1)
	lost := clienttest.Is[*create.LostError]
	for name, tc := range map[string]struct {
		post, single string
		history      []string
		want         func(error) bool
		branch       string
	}{
		"the record":                       {post: "200 " + mine, branch: "main"},
		"the ID alone":                     {post: `200 {"wikiRunId":"w1"}`, single: "200 " + mine, branch: "main"},
		"the ID alone, and no read":        {post: `200 {"wikiRunId":"w1"}`, single: noSuchWiki, branch: "main"},
		"nothing":                          {post: "200 {}", history: []string{known, mine}, branch: "main"},
		"lost":                             {post: "drop", history: []string{mine}, branch: "main"},
		"lost, and one of before appears":  {post: "drop", history: []string{late}, want: lost},
		"lost, and one of another branch":  {post: "drop", history: []string{strings.Replace(mine, "main", "next", 1)}, want: lost},
		"lost, and one of another commit":  {post: "drop", history: []string{strings.Replace(mine, "c0ffee", "facade", 1)}, want: lost},
		"lost, and one that tells no time": {post: "drop", history: []string{strings.Replace(mine, `"createdAt":1772323200000,`, "", 1)}, want: lost},
		"lost, and the history fails":      {post: "drop", want: lost},
		"created before the request":       {post: "200 " + strings.Replace(mine, "1772323200000", "1772319600000", 1), branch: "main"},
		"the repository is not covered":    {post: notCovered, want: clienttest.Is[*transport.APIError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := wikiFailed
			if tc.history != nil {
				history = wikis(tc.history...)
			}
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getWikis: wikis(known), postWiki: tc.post, getWikiOne: tc.single, historyOf + "api.git": history}))
			_ = c.conn.CheckAccess(t.Context()) // Its response has the service's time.
			got, err := c.Create(t.Context(), asked)
			if !clienttest.IsA(err, tc.want) || err == nil && (got.ID != "w1" || got.Branch != tc.branch) {
				t.Errorf("got %+v, %v", got, err)
			}
			rec.WantCount(t, http.MethodPost, 1)
		})
	}
}

// A run that an agent or another person created is somebody else's.
func TestCreateWikiRunRequest_isWanted(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]bool{
		"": true, `,"sourceSessionId":"s1"`: false, `,"canUpdatePrivacy":false`: false, `,"canUpdatePrivacy":true,"sourceSessionId":""`: true,
	} {
		var run Run
		clienttest.Must(t, json.Unmarshal([]byte(wiki("w1", more)), &run))
		if got := (CreateRequest{RepoURL: acmeAPI}).isWanted(&run); got != want {
			t.Errorf("got %v for %+v", got, run)
		}
	}
}
