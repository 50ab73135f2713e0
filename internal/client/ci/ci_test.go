package ci

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
)

var area = areatest.New[*Client](New)

func texts[T any](items []T, text func(T) string) string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = text(item)
	}
	return strings.Join(all, " ")
}

// The service may ignore the filter. Case does not matter.
func TestCIRepositories_ofManyOwners(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `200 {"repositories":[{"fullName":"a/1"},{"fullName":"b/1"},{"fullName":"b/2"},{"fullName":"c/1"}]}`
	})
	for _, tc := range [][2]string{{"a", "a/1"}, {"A", "a/1"}, {"b", "b/1 b/2"}, {"none", ""}, {"", "a/1 b/1 b/2 c/1"}} {
		found, err := c.Repositories(t.Context(), tc[0])
		if err != nil || texts(found, func(r Repository) string { return r.FullName }) != tc[1] {
			t.Errorf("%s: got %+v, %v", tc[0], found, err)
		}
	}
	from := "GET /api/v0/automations/ci/repositories"
	rec.Want(t, from+"?owner=a", from+"?owner=A", from+"?owner=b", from+"?owner=none", from)
}

// The fields of a run are not documented, so the whole item is kept, and likely fields are read if possible.
func TestCIRuns_keepsWholeItems(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, func(string) string {
		return `200 {"runs":[{"id":12345678901234567890,"repoFullName":"acme/api","status":"odd","conclusion":null,"jobs":[{"n":1.50}]},{"id":"r2","status":{"a": 1}},"text",null]}`
	})
	found, err := c.Runs(t.Context())
	if err != nil || len(found.Runs) != 4 || found.Integration != nil {
		t.Fatalf("got %+v, %v", found, err)
	}
	one := found.Runs[0]
	if one.ID != "12345678901234567890" || one.RepoFullName != "acme/api" || one.Status != "odd" || one.Conclusion != "" || !strings.Contains(string(one.Raw), `"jobs":[{"n":1.50}]`) {
		t.Errorf("got %+v", one)
	}
	if two := found.Runs[1]; two.ID != "r2" || two.Status != `{"a":1}` || two.RepoFullName != "" {
		t.Errorf("got %+v", two)
	}
	if string(found.Runs[2].Raw) != `"text"` || string(found.Runs[3].Raw) != "null" || found.Runs[2].ID != "" {
		t.Errorf("got %+v", found.Runs[2:])
	}
	rec.Want(t, "GET /api/v0/automations/ci/runs")
}
