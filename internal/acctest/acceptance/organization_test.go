package acceptance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
)

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
	present, err := c.Environments.DefaultNow(t.Context())
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
