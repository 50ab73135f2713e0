package provider_test

import (
	"html"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

var (
	pageLink    = regexp.MustCompile(`href="(/objects/[^"]*)"`)
	importBlock = regexp.MustCompile(`(?s)import \{\s+to = (\w+)\.\w+\s+id = "([^"]*)"\s+\}`)
)

// Each import block on the emulator's status page imports its object.
func TestImport_fromStatusPage(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	apply := func(typeName string, config acctest.Values) *acctest.Instance {
		i := p.NewInstance(typeName)
		p.Apply(i, config).MustDo(t, acctest.ActionCreate)
		return i
	}
	account := apply("agentyard_service_account", acctest.Values{"name": "ci"}).ID()
	computer := apply("agentyard_computer", acctest.Values{"name": "Dev 1", "provider_type": "byom"}).ID()
	apply("agentyard_session", acctest.Values{"computer_id": computer})
	apply("agentyard_computer_fleet", acctest.Values{"name_prefix": "web", "quantity": 2})
	apply("agentyard_computer_fleet", acctest.Values{"name_prefix": "ci", "quantity": 2, "service_account_id": account})
	apply("agentyard_api_key", acctest.Values{"service_account_id": account, "name": "a"})
	apply("agentyard_environment", acctest.Values{"name": "e", "repositories": []any{}})
	apply("agentyard_global_usage_limit", acctest.Values{"limit": 5000000})
	apply("agentyard_user_usage_limit", acctest.Values{"email": "manager@agentyard.example", "limit": 2000000})
	apply("agentyard_wiki_run", acctest.Values{"repo_url": "https://code.example/acme/api"})
	e.Clock.Advance(time.Minute)

	imports := map[[2]string]bool{}
	visited := map[string]bool{}
	for paths := []string{"/"}; len(paths) > 0; paths = paths[1:] {
		if visited[paths[0]] {
			continue
		}
		visited[paths[0]] = true
		status, page := e.Try(http.MethodGet, paths[0], nil)
		if status != http.StatusOK {
			t.Fatalf("%s: status %d", paths[0], status)
		}
		for _, m := range pageLink.FindAllStringSubmatch(string(page), -1) {
			paths = append(paths, html.UnescapeString(m[1]))
		}
		for _, m := range importBlock.FindAllStringSubmatch(html.UnescapeString(string(page)), -1) {
			imports[[2]string{m[1], m[2]}] = true
		}
	}
	types := map[string]int{}
	for block := range imports {
		types[block[0]]++
		p.Import(p.NewInstance(block[0]), block[1]).MustSucceed(t)
	}
	for typeName, want := range map[string]int{
		"agentyard_service_account": 1, "agentyard_computer": 5, "agentyard_session": 1, "agentyard_api_key": 1,
		"agentyard_environment": 1, "agentyard_global_usage_limit": 1, "agentyard_user_usage_limit": 1, "agentyard_wiki_run": 1, "agentyard_member_invitation": 1,
	} {
		if types[typeName] != want {
			t.Errorf("%s: %d import blocks, want %d", typeName, types[typeName], want)
		}
	}
}
