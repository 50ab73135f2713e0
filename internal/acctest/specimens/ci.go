package specimens

const workflow = ".github/workflows/old.yml"

var ciData = []Read{
	{Type: "agentyard_ci_jobs"},
	{Type: "agentyard_ci_repositories"},
	{Type: "agentyard_ci_repositories", Name: "of an owner", Values: Values{"owner": "acme"}, NotAtService: "A service has other owners."},
	{Type: "agentyard_ci_repository_owners"},
	{Type: "agentyard_ci_runs"},
	{Type: "agentyard_ci_scan"},
	{Type: "agentyard_ci_scan", Name: "again", Values: Values{"force_refresh": true}, NotAtService: "It reads all repositories."},
}

const onlyOneRepository = "A service has other repositories."

var pullRequest = map[string]string{"pull_request_url": "*", "automation_id": "*"}

var ciOperations = []Operation{
	{
		Type: "agentyard_ci_workflow_edit", Request: "editCiWorkflow", Results: pullRequest,
		Values: Values{
			"action": "create", "mode_id": "custom", "automation_name": "$name", "repos": []any{Values{"repo_full_name": "$ci_repository"}},
			"changes": Values{"name": "$name", "custom_prompt": "Do nothing."},
		},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "of the default mode", Request: "editCiWorkflow", Results: pullRequest, NotAtService: onlyOneRepository,
		Values: Values{"action": "create", "repos": []any{Values{"repo_full_name": "acme/api"}}}, Equal: []Values{{"mode_id": "code-review"}},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "that creates", Request: "editCiWorkflow", NotAtService: onlyOneRepository,
		Values: Values{
			"action": "create", "repos": []any{Values{"repo_full_name": "acme/web", "file_path": ".github/workflows/other.yml"}},
			"automation_name": "Nightly", "service_automation_id": host, "mode_id": "custom",
		},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "that deletes", Request: "editCiWorkflow", NotAtService: onlyOneRepository,
		Values: Values{"action": "delete", "repos": []any{Values{"repo_full_name": "acme/api", "file_path": workflow}}},
		Equal:  []Values{{"mode_id": "wiki", "automation_name": "x"}, {"changes": Values{"name": "x"}}},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "in another order", Request: "editCiWorkflow", NotAtService: onlyOneRepository,
		Values: Values{
			"action": "create", "repos": []any{Values{"repo_full_name": "acme/api"}, Values{"repo_full_name": "robin/tools"}}, "changes": Values{"github_events": []any{"push", "pr-opened"}},
		},
		Equal: []Values{
			{"repos": []any{Values{"repo_full_name": "Robin/Tools"}, Values{"repo_full_name": "acme/api"}}},
			{"changes": Values{"github_events": []any{"pr-opened", "push"}}},
		},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "of two", Request: "editCiWorkflow", NotAtService: onlyOneRepository,
		Values: Values{
			"action": "edit", "changes": Values{"yaml_params": "review_depth: deep"},
			"repos": []any{Values{"repo_full_name": "acme/api", "file_path": workflow}, Values{"repo_full_name": "acme/web", "file_path": workflow}},
		},
	},
	{
		Type: "agentyard_ci_workflow_edit", Name: "of everything", Request: "editCiWorkflow", NotAtService: onlyOneRepository,
		Values: Values{"action": "edit", "repos": []any{Values{"repo_full_name": "acme/api", "file_path": workflow}}, "changes": Values{
			"name": "Review", "custom_prompt": "Review.", "schedule": "0 3 * * *", "github_events": []any{"push"}, "custom_ci_model": "model-light", "custom_ci_reasoning_effort": "low",
		}},
	},
}
