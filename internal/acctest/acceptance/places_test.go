package acceptance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// places returns what stands for the places of specimens in a test: the same each time. It skips the test if the key's owner may not have
// such an object, or has not opted in.
func places(t *testing.T) specimens.Fill {
	t.Helper()
	known := map[string]any{}
	return func(place string) any {
		if _, ok := known[place]; !ok {
			for name, v := range valuesOf(t, place) {
				known[name] = v
			}
		}
		return known[place]
	}
}

// Each place that a test against a service fills in has a value here.
func TestPlaces_everyOne(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("places_test.go")
	check.Must(t, err)
	isElsewhere := func(r specimens.Read) bool { return r.NotAtService != "" }
	used := []any{slices.DeleteFunc(slices.Concat(specimens.Data, specimens.Lists, specimens.Ephemerals), isElsewhere)}
	for _, r := range specimens.Resources {
		used = append(used, r.Least, r.Changed, r.Listing)
	}
	for _, o := range specimens.Operations {
		if o.NotAtService == "" {
			used = append(used, o.Values)
		}
	}
	specimens.Fill(func(place string) any {
		if !strings.Contains(string(source), strconv.Quote(place)) {
			t.Errorf("there is no case for %s", place)
		}
		return nil
	}).Text(fmt.Sprint(used))
}

// valuesOf returns the value of a place, and of those that belong to it.
func valuesOf(t *testing.T, place string) map[string]any {
	t.Helper()
	switch place {
	case "$first", "$second":
		return defaultEnvironments(t)
	case "$member":
		return map[string]any{place: memberWithoutLimit(t)}
	case "$run", "$page":
		run, page := anyWiki(t)
		if place == "$page" && page == "" {
			skip(t, envWiki, "no wiki run has pages")
		}
		return map[string]any{"$run": run, "$page": page}
	}
	return map[string]any{place: value(t, place)}
}

func value(t *testing.T, place string) any {
	t.Helper()
	day := func(back int) string { return clock.System.Now().UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
	switch place {
	case "$name":
		return newName(t, "life")
	case "$first_day": // The data of a day is there on the next one, in UTC.
		return day(4)
	case "$last_day":
		return day(2)
	case "$start":
		return nil
	case "$account":
		return ownAccount(t).ID
	case "$account_name":
		return ownAccount(t).Name
	case "$key":
		return ownKey(t).ID
	case "$leaked":
		key, err := connect(t).ServiceAccounts.CreateKey(t.Context(), serviceaccounts.NewAPIKey{AccountID: ownAccount(t).ID, Name: newName(t, "key")})
		must(t, err)
		return key.ID
	case "$machine", "$refreshed": // At a service, nothing is changed on a registered machine.
		return ownMachine(t).ID
	case "$machine_name":
		return ownMachine(t).Name
	case "$provider":
		return computers.ProviderBYOM
	case "$host":
		return uuid.NewString()
	case "$user":
		return remoteUser
	case "$managed_provider":
		optIn(t, envManagedComputers)
		return managedProvider(t)
	case "$fleet_provider":
		optIn(t, envManagedComputers)
		managedProvider(t)
		return nil
	case "$managed":
		return ownManaged(t).ID
	case "$measured":
		return activeManaged(t)
	case "$computer":
		return sessionComputer(t)
	case "$file":
		needsCLI(t, 14)
		name := newName(t, "file") + ".txt"
		arguments := specimens.HCL(specimens.Values{"computer_id": ownManaged(t).ID, "file_name": name, "content": "hello"})
		config := specimens.Block("action", "agentyard_computer_file_upload", "config {\n"+arguments+"}\n")
		runSteps(t, nil, resource.TestStep{Config: config + triggered("agentyard_computer_file_upload.test")})
		return name
	case "$environment", "$broken":
		return ownEnvironment(t).ID
	case "$environment_name":
		return ownEnvironment(t).Name
	case "$broken_build":
		found, err := connect(t).Environments.BuildDiagnostics(t.Context(), ownEnvironment(t).ID, "")
		must(t, err)
		return found.BuildID
	case "$built":
		optIn(t, envBuilds)
		id := ownEnvironment(t).ID
		waitForBuild(t, id)
		return id
	case "$building":
		created, err := connect(t).Environments.Create(t.Context(), environmentRequest(t, "canceled", environments.ScopeUser))
		must(t, err)
		cleanUp(t, "environment", func(ctx context.Context, c *client.Client) error { return c.Environments.Delete(ctx, created.ID) })
		return created.ID
	case "$repositories":
		if url := environmentRepository(t); url != "" {
			return []any{specimens.Values{"url": url, "script": "true"}}
		}
		return []any{}
	case "$scope":
		return environments.ScopeUser
	case "$waits":
		if os.Getenv(envBuilds) == "" {
			return false
		}
		return nil
	case "$email":
		return members(t)[0].Email
	case "$member_id":
		return members(t)[0].ID
	case "$lower":
		return harmlessLimit
	case "$higher":
		return harmlessLimit + 1
	case "$session":
		return anySession(t)
	case "$conversation":
		return newSession(t)
	case "$word":
		return "the"
	case "$documented":
		return anyRun(t).RepoURL
	case "$wiki_repository":
		return wikiRepository(t)
	case "$ci_repository":
		return optIn(t, envCIRepository)
	case "$folder":
		return t.TempDir()
	}
	t.Fatalf("nothing is %s", place)
	return nil
}

// activeManaged returns the ID of an active managed computer. Reading the metrics of one that exists changes nothing.
func activeManaged(t *testing.T) string {
	t.Helper()
	all, err := connect(t).Computers.List(t.Context(), computers.Filter{})
	must(t, err)
	for _, c := range all {
		if c.ProviderType != computers.ProviderBYOM && c.Status == computers.StatusActive && !isOurs(c.Name) {
			return c.ID
		}
	}
	return ownManaged(t).ID
}

// anySession returns the ID of a session that nobody deletes meanwhile. Reading one that exists changes nothing.
func anySession(t *testing.T) string {
	t.Helper()
	all, err := connect(t).Sessions.List(t.Context(), "", 20)
	must(t, err)
	names := map[string]string{}
	for _, m := range allMachines(t) {
		names[m.ID] = m.Name
	}
	for _, s := range all {
		if !isOurs(nameOfSession(names[s.ComputerID], s)) {
			return s.ID
		}
	}
	return ownSession(t).ID
}

func allMachines(t *testing.T) []computers.Computer {
	t.Helper()
	all, err := connect(t).Computers.List(t.Context(), computers.Filter{IncludeUnlisted: true})
	must(t, err)
	return all
}

// harmlessLimit is a usage limit that nobody reaches while a test runs.
const harmlessLimit = 1_000_000_000_000

// restoreGlobalLimit restores the present limit after the test.
func restoreGlobalLimit(t *testing.T) {
	t.Helper()
	optIn(t, envOrganization)
	present, err := connect(t).Organization.GlobalUsageLimit(t.Context())
	must(t, err)
	text := "none"
	if present != nil {
		text = fmt.Sprint(*present)
	}
	if present != nil && (*present == harmlessLimit || *present == harmlessLimit+1) {
		skip(t, "", "another run set the global usage limit; if it was killed, set the former limit first")
	}
	restoreSetting(t, "the global usage limit", text, func(ctx context.Context, c *client.Client) error {
		return c.Organization.SetGlobalUsageLimit(ctx, present)
	})
}

// memberWithoutLimit returns the address of a member without a limit of their own, and removes it after the test.
func memberWithoutLimit(t *testing.T) string {
	t.Helper()
	optIn(t, envOrganization)
	all, err := connect(t).Organization.UsageLimits(t.Context())
	must(t, err)
	for _, m := range slices.Backward(members(t)) {
		if all.Of(m.Email) != nil {
			continue
		}
		restoreSetting(t, "the usage limit of a member", "none", func(ctx context.Context, c *client.Client) error {
			return c.Organization.RemoveUserUsageLimit(ctx, m.Email)
		})
		return m.Email
	}
	skip(t, "", "each member has a usage limit, and the suite does not change those")
	return ""
}

// defaultEnvironments creates two environments, and restores the present default after the test.
func defaultEnvironments(t *testing.T) map[string]any {
	t.Helper()
	optIn(t, envOrganization)
	formerDefault(t)
	c := connect(t)
	values := map[string]any{}
	for _, place := range []string{"$first", "$second"} {
		created, err := c.Environments.Create(t.Context(), environmentRequest(t, "default", environments.ScopeOrganization))
		must(t, err)
		values[place] = created.ID
	}
	for _, id := range values {
		waitForBuild(t, id.(string))
	}
	present := formerDefault(t) // Builds take long.
	restoreSetting(t, "the default environment", present, func(ctx context.Context, c *client.Client) error {
		return c.Environments.SetDefault(ctx, present)
	})
	return values
}

// formerDefault returns the ID of the default environment, which has to be restored. That of another run is deleted soon.
func formerDefault(t *testing.T) string {
	t.Helper()
	c := connect(t)
	present, err := c.Environments.DefaultUncached(t.Context())
	must(t, err)
	if present == "" {
		skip(t, "", "the organization has no default environment, and the service cannot remove one; set one first")
	}
	former, err := c.Environments.GetUncached(t.Context(), present)
	must(t, err)
	if isOurs(former.Name) {
		skip(t, "", "another run set the default environment; if it was killed, set the former one first")
	}
	return present
}

// wikiRepository returns the URL of a repository that can have wikis.
func wikiRepository(t *testing.T) string {
	t.Helper()
	value := optIn(t, envWiki)
	if strings.Contains(value, "://") {
		return value
	}
	if runs := wikiRuns(t); len(runs) > 0 {
		return slices.MinFunc(runs, func(a, b wikis.Run) int { return cmp.Compare(a.RepoURL, b.RepoURL) }).RepoURL
	}
	if all := repositories(t); len(all) > 0 {
		return all[0].URL
	}
	skip(t, envWiki, "no connected repository was found; set the variable to the URL of one")
	return ""
}

// A pending invitation is created, kept, and revoked. It cannot be changed or imported, because the service does not list it.
func TestAccInvitation(t *testing.T) {
	t.Parallel()
	template := optIn(t, envInvitation)
	members(t) // Skips if the key's owner is no manager.
	if !strings.Contains(template, "{name}") {
		t.Fatalf("%s must contain {name}, such as ops+{name}@example.com", envInvitation)
	}
	email := strings.ReplaceAll(template, "{name}", newName(t, "invitation"))
	config := fmt.Sprintf("resource \"agentyard_member_invitation\" \"test\" {\n  email = %q\n}\n", email)
	removal := fmt.Sprintf("action \"agentyard_member_remove\" \"test\" {\n  config {\n    email = %q\n  }\n}\n", email)
	cleanUp(t, "the invitation of "+email, func(ctx context.Context, c *client.Client) error {
		return c.Organization.RemoveMember(ctx, email)
	})
	removed := strings.Replace(config, "\n}", "\n  remove_on_destroy = true\n}", 1)
	step := func(config string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{
			Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction("agentyard_member_invitation.test", action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
	}
	steps := []resource.TestStep{step(config, plancheck.ResourceActionCreate), step(removed, plancheck.ResourceActionUpdate)}
	if atLeast(t, 14) { // The destroy at the end then finds nobody.
		steps = append(steps, resource.TestStep{Config: removed + removal + triggered("agentyard_member_remove.test")})
	}
	runSteps(t, nil, steps...)
}

// restoreSetting restores a setting of the organization after the test. It prints the present value first, for the case that the
// process is killed.
func restoreSetting(t *testing.T, what, value string, undo func(context.Context, *client.Client) error) {
	t.Helper()
	fmt.Printf("testacc: %s is now: %s\n", what, value)
	restoreAfter(t, what+", which was: "+value, undo)
}
