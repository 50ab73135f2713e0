package environment

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// A new field of a request needs an argument here, so that neither the request nor the plan of a build forgets it.
func TestEnvironmentModel_sendsEachField(t *testing.T) {
	t.Parallel()
	repository := types.ObjectValueMust(repositoryType.AttrTypes, map[string]attr.Value{"url": types.StringValue("u"), "script": types.StringValue("")})
	changes := map[string]func(*environmentModel){
		"Name": func(m *environmentModel) { m.Name = types.StringValue("n") },
		"Repositories": func(m *environmentModel) {
			m.Repositories = types.ListValueMust(repositoryType, []attr.Value{repository})
		},
		"SetupScript": func(m *environmentModel) { m.SetupScript = types.StringValue("s") },
		"SourceID":    func(m *environmentModel) { m.SourceID = types.StringValue("src") },
		// Only a creation sends these. With a wait, the default is set after the build.
		"Scope": func(m *environmentModel) { m.Scope = types.StringValue(environments.ScopeOrganization) },
		"MakeOrganizationDefault": func(m *environmentModel) {
			m.MakeOrganizationDefault, m.WaitForBuild = types.BoolValue(true), types.BoolValue(false)
		},
	}
	startsNoBuild := []string{"Name"}
	var state environmentModel
	state.Repositories = types.ListNull(repositoryType)
	plan := state
	for _, change := range changes {
		change(&plan)
	}
	created, diags := plan.createRequest(t.Context())
	for field, sent := range reflect.ValueOf(created).Fields() {
		if changes[field.Name] == nil || sent.IsZero() || diags.HasError() {
			t.Errorf("a creation does not send %s; %v", field.Name, diags)
		}
	}
	updated, diags := plan.updateRequest(t.Context(), &state)
	for field, sent := range reflect.ValueOf(updated).Fields() {
		if changes[field.Name] == nil || sent.IsZero() || diags.HasError() {
			t.Errorf("an update does not send %s; %v", field.Name, diags)
			continue
		}
		changed := state
		changes[field.Name](&changed)
		check.Is(t, field.Name+" starts a build", changed.changesBuild(&state), !slices.Contains(startsNoBuild, field.Name))
	}
}

// Each status of a build in the contract is in a group of a wait, is described, and says the same status of the environment as its group.
func TestBuildStates(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	check.Must(t, err)
	statuses := document.Declared("getEnvironmentBuildStatuses").Responses.Value("200").Value.Content.Get("application/json").Schema.Value
	build := statuses.Properties["builds"].Value.Items.Value.Properties["latestBuild"].Value
	for _, status := range build.Properties["status"].Value.Enum {
		word, want := status.(string), "no status"
		switch {
		case word == environments.BuildSuperseded:
			want = "of the newer one"
		case slices.Contains(buildStates.InProgress, word):
			want = environments.StatusBuilding
		case slices.Contains(buildStates.Done, word):
			want = environments.StatusReady
		case slices.Contains(buildStates.Failed, word):
			want = environments.StatusFailed
		}
		check.Is(t, "the environment after "+word, environments.StateOf("of the newer one", word), want)
		check.Says(t, buildResults["status"].Text, "`"+word+"`")
	}
}
