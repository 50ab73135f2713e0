package specimens

var twoRepositories = []any{Values{"url": "https://git.example/acme/app", "script": "make"}, Values{"url": "https://git.example/acme/web", "script": ""}}

var environmentResources = []Resource{
	{
		Type:        "agentyard_environment",
		Least:       Values{"name": "$name", "repositories": "$repositories", "scope": "$scope", "wait_for_build": "$waits"},
		Changed:     Values{"name": "$name-b", "repositories": "$repositories", "scope": "$scope", "wait_for_build": "$waits"},
		Full:        Values{"name": "$name", "scope": "organization", "source_id": "source-base", "setup_script": "make tools", "repositories": twoRepositories},
		FullChanged: Values{"name": "$name-b", "scope": "organization", "source_id": "source-repositories", "repositories": twoRepositories[1:]},
		More: map[string][]Values{
			"as default":                 {{"name": "$name", "scope": "organization", "make_organization_default": true, "source_id": "source-repositories", "repositories": []any{}}},
			"as default, without a wait": {{"name": "$name", "scope": "organization", "make_organization_default": true, "wait_for_build": false, "repositories": []any{}}},
		},
		Exists:   Values{"name": "app", "scope": "organization", "repositories": twoRepositories[:1]},
		Identity: []string{"id"}, NotImported: []string{"make_organization_default"},
		Listing: Listing{Path: "/api/v0/environments", Rows: "environments", Has: []string{`"name":"$name`}},
		Creates: "createEnvironment",
	},
	{
		Type:  "agentyard_default_environment",
		Least: Values{"environment_id": "$first"}, Changed: Values{"environment_id": "$second"},
		Exists:   Values{"environment_id": "$environment"},
		Identity: []string{"id"},
		NoImport: map[string]string{
			"env_01hzy3v7k2m4n6p8q0r2s4t6v8": `Invalid import ID(.|\n)*always\s+"organization"(.|\n)*agentyard_environment`,
			"organization":                   unset,
		},
		NoIdentity: Values{"id": "acme"}, IfDeleted: "-",
	},
}

var environmentData = []Read{
	{Type: "agentyard_environment", Values: Values{"id": "$environment"}, Shows: `self.name == "$environment_name"`},
	{Type: "agentyard_environment", Name: "by name", Values: Values{"name": "$environment_name"}, Shows: `self.id == "$environment"`},
	{Type: "agentyard_environment_build_diagnostics", Values: Values{"environment_id": "$broken"}, Shows: `self.build_id != ""`},
	{Type: "agentyard_environment_build_diagnostics", Name: "of a build", Values: Values{"environment_id": "$broken", "build_id": "$broken_build"}, Shows: `self.build_id == "$broken_build"`},
	{Type: "agentyard_environment_build_statuses", Values: Values{"environment_ids": []any{"$environment"}}, Shows: "length(self.builds) == 1"},
	{Type: "agentyard_environment_build_statuses", Name: "of two", Values: Values{"environment_ids": []any{"$environment", "$broken"}}, NotAtService: "The suite has one."},
	{
		Type: "agentyard_environment_build_statuses", Name: "of an account", Values: Values{"environment_ids": []any{"$environment"}, "service_account_id": "$account"},
		NotAtService: "The account may not see it.",
	},
	{Type: "agentyard_environment_source_options"},
	{Type: "agentyard_environments", Shows: `contains(self.environments[*].id, "$environment")`},
	{Type: "agentyard_environments", Name: "of an account", Values: Values{"service_account_id": "$account"}},
}

var environmentLists = []Read{{Type: "agentyard_environment", Shows: "$environment"}}

var environmentOperations = []Operation{
	{
		Type: "agentyard_environment_build", Values: Values{"environment_id": "$built"}, Equal: []Values{{"wait_for_build": true}, {"wait_for_build": false}},
		Request: "createEnvironmentBuild", Results: map[string]string{"build_id": "*", "status": "succeeded"},
	},
	{
		Type: "agentyard_environment_build_cancel", Values: Values{"environment_id": "$building"},
		Request: "cancelEnvironmentBuild", Results: map[string]string{"canceled_build_id": "*"},
	},
}
