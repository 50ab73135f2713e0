package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Where the service promises no order, answers differ in it.
func TestShuffledLists(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ShuffleLists: true})
	var builds []string
	var limits []object
	for i := range 8 {
		name := fmt.Sprint("n", i)
		v.call(201, "POST", accounts, object{"name": name})
		builds = append(builds, "environmentIds="+v.environment(object{"name": name}))
		v.outcomes(ciBody("create", ciTarget("acme/api", ".github/workflows/"+name+".yml")))
		v.merge("acme/api", ".github/workflows/"+name+".yml")
		repository := fmt.Sprintf("https://code.example/owner%d/name", i)
		must(t, v.ConnectRepository(emulator.Repository{URL: repository}))
		v.wikiRun(repository, nil)
		v.join(name + "@people.example")
		limits = append(limits, object{"email": name + "@people.example", "limit": 1_000_000}, object{"email": name, "limit": nil})
	}
	for _, c := range []struct {
		request
		list   string
		length int
	}{
		{request{"GET", accounts, nil}, "serviceAccounts", 8},
		{request{"GET", environments + "/build-statuses?" + strings.Join(builds, "&"), nil}, "builds", 8},
		{request{"GET", ciAutomation + "/repository-owners", nil}, "owners", 10},
		{request{"GET", ciAutomation + "/repositories", nil}, "repositories", 12},
		{request{"GET", ciAutomation + "/scan", nil}, "workflows", 9},
		{request{"GET", wiki, nil}, "wikiRuns", 8},
		{request{"GET", userLimits, nil}, "userLimits", 9},
		{request{"PUT", userLimits, object{"users": limits}}, "updated", 8},
		{request{"PUT", userLimits, object{"users": limits}}, "errors", 8},
	} {
		orders := map[string]bool{}
		for range 20 { // Twenty equal orders of eight come once in 10^87 times.
			list := v.call(200, c.method, c.path, c.body).object(t)[c.list].([]any)
			same(t, c.list, len(list), c.length)
			orders[fmt.Sprint(list)] = true
		}
		if len(orders) < 2 {
			t.Errorf("%s are always in the same order", c.list)
		}
	}
}

// The lists in a record, whose order the API leaves open, differ in it too.
func TestShuffledLists_inRecords(t *testing.T) {
	t.Parallel()
	v, box := startSessionsWith(t, emulator.Options{ShuffleLists: true})
	session := v.session(object{"computerId": box, "sessionSettings": object{"enabledToolIds": []string{"a", "b", "c", "d", "e", "f", "g", "h", "a"}}})
	v.staff()
	same(t, "each tool once", len(v.settingsOf(session)["enabledToolIds"].([]any)), 8)
	var repositories, urls []any
	for i := range 8 {
		url := fmt.Sprintf("https://code.example/acme/n%d", i)
		repositories, urls = append(repositories, object{"url": url, "script": "make"}), append(urls, url)
	}
	machine := v.computer(object{"name": "cloner", "repos": urls})["id"].(string)
	environment := environments + "/" + v.ready(object{"name": "e", "repositories": repositories})
	for name, list := range map[string]func() any{
		"repositories":        func() any { return v.call(200, "GET", environment, nil).object(t)["repositories"] },
		"active repositories": func() any { return v.call(200, "GET", environment, nil).object(t)["activeRepositories"] },
		"built repositories": func() any {
			return v.call(200, "GET", environment, nil).object(t)["latestBuild"].(object)["repositories"]
		},
		"directories": func() any {
			return v.call(200, "GET", computers+"/"+machine, nil).object(t)["clonedRepoDirectories"]
		},
		"users of a day":  func() any { return v.rows("/tokens", "startDate=2026-04-01&endDate=2026-04-01")[0]["by_user"] },
		"groups of a day": func() any { return v.rows("/tokens", "startDate=2026-04-01&endDate=2026-04-01&group_by=model") },
		"tools":           func() any { return v.settingsOf(session)["enabledToolIds"] },
		"sources": func() any {
			return v.call(200, "GET", environments+"/source-options", nil).object(t)["providers"].([]any)[0].(object)["sources"]
		},
	} {
		orders := map[string]bool{}
		for range 20 {
			orders[fmt.Sprint(list())] = true
		}
		if len(orders) < 2 {
			t.Errorf("%s are always in the same order: %v", name, orders)
		}
	}
}
