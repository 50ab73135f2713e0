package contract

import (
	"maps"
	"net/http"
	"slices"
)

// expected is a second reading of the API's documentation, made independently of openapi.yaml.
type expected struct {
	id, method, path string
	success          []int
	// documented are the error statuses that the documentation lists, assumed those that this project adds.
	documented, assumed []int
}

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

var expectedByTag = map[string][]expected{
	"computers": {
		{"listComputers", get, "/api/v0/computers", []int{200}, []int{400, 401, 402, 403, 404, 500}, []int{429}},
		{"createComputer", post, "/api/v0/computers", []int{200, 201}, []int{400, 401, 402, 403, 404, 409, 500}, []int{429}},
		{"bulkCreateComputers", post, "/api/v0/computers/bulk", []int{201}, []int{400, 401, 402, 403, 404, 409, 500, 503}, []int{429}},
		{"getComputerByName", get, "/api/v0/computers/name/{name}", []int{200}, []int{401, 402, 403, 404, 500}, []int{400, 429}},
		{"listComputerProviders", get, "/api/v0/computers/providers", []int{200}, []int{401, 500}, []int{400, 429}},
		{"getComputer", get, "/api/v0/computers/{computerId}", []int{200}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"deleteComputer", remove, "/api/v0/computers/{computerId}", []int{204}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"updateComputer", patch, "/api/v0/computers/{computerId}", []int{200}, []int{400, 401, 403, 404, 409, 500}, []int{429}},
		{"recordComputerActivity", post, "/api/v0/computers/{computerId}/activity", []int{200}, []int{400, 401, 403, 404, 500}, []int{429}},
		{"createFileUpload", post, "/api/v0/computers/{computerId}/files/{fileName}/create-upload", []int{200}, []int{400, 401, 403, 404, 424, 500, 503}, []int{429}},
		{"completeFileUpload", post, "/api/v0/computers/{computerId}/files/{fileName}/complete-upload", []int{200}, []int{400, 401, 403, 404, 409, 424, 500, 503}, []int{429}},
		{"createFileDownload", post, "/api/v0/computers/{computerId}/files/{fileName}/create-download", []int{200}, []int{400, 401, 403, 404, 424, 500, 503}, []int{429}},
		{"installComputerDeps", post, "/api/v0/computers/{computerId}/install-deps", []int{202}, []int{400, 401, 404, 409, 500}, []int{403, 429}},
		{"getComputerMetrics", get, "/api/v0/computers/{computerId}/metrics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"refreshComputer", post, "/api/v0/computers/{computerId}/refresh", []int{200}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"restartComputer", post, "/api/v0/computers/{computerId}/restart", []int{200}, []int{400, 401, 402, 403, 404, 500}, []int{429}},
	},
	// The documentation lists no error statuses of these.
	"service-accounts": {
		{"listServiceAccounts", get, "/api/v0/service-accounts", []int{200}, nil, []int{400, 401, 402, 403, 429, 500}},
		{"createServiceAccount", post, "/api/v0/service-accounts", []int{201}, nil, []int{400, 401, 402, 403, 409, 429, 500}},
		{"getServiceAccount", get, "/api/v0/service-accounts/{serviceAccountId}", []int{200}, nil, []int{400, 401, 402, 403, 404, 429, 500}},
		{"updateServiceAccount", patch, "/api/v0/service-accounts/{serviceAccountId}", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"deleteServiceAccount", remove, "/api/v0/service-accounts/{serviceAccountId}", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"listApiKeys", get, "/api/v0/service-accounts/{serviceAccountId}/api-keys", []int{200}, nil, []int{400, 401, 402, 403, 404, 429, 500}},
		{"createApiKey", post, "/api/v0/service-accounts/{serviceAccountId}/api-keys", []int{201}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"revokeApiKey", post, "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/revoke", []int{204}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"rotateApiKey", post, "/api/v0/service-accounts/{serviceAccountId}/api-keys/{keyId}/rotate", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
	},
	"environments": {
		{"listEnvironments", get, "/api/v0/environments", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"createEnvironment", post, "/api/v0/environments", []int{201}, []int{400, 401, 403, 404, 405, 409, 500, 503}, []int{429}},
		{"getEnvironmentBuildStatuses", get, "/api/v0/environments/build-statuses", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"provisionDefaultEnvironment", post, "/api/v0/environments/default", []int{204}, []int{401, 403, 500, 503}, []int{400, 429}},
		{"setDefaultEnvironment", put, "/api/v0/environments/default", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getEnvironmentSourceOptions", get, "/api/v0/environments/source-options", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"getEnvironment", get, "/api/v0/environments/{environmentId}", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"deleteEnvironment", remove, "/api/v0/environments/{environmentId}", []int{204}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"updateEnvironment", patch, "/api/v0/environments/{environmentId}", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getEnvironmentBuildDiagnostics", get, "/api/v0/environments/{environmentId}/build-diagnostics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"createEnvironmentBuild", post, "/api/v0/environments/{environmentId}/builds", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"cancelEnvironmentBuild", post, "/api/v0/environments/{environmentId}/builds/{buildId}/cancel", []int{204}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getBuildDiagnostics", get, "/api/v0/environments/{environmentId}/builds/{buildId}/diagnostics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
	},
	"wiki": {
		{"listWikiRuns", get, "/api/v0/wiki", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"createWikiRun", post, "/api/v0/wiki", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"getWikiHistory", get, "/api/v0/wiki/history/{repoUrl}", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"createWikiVideoUploadUrl", post, "/api/v0/wiki/video-upload-url", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"getWikiRun", get, "/api/v0/wiki/{wikiRunId}", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"deleteWikiRun", remove, "/api/v0/wiki/{wikiRunId}", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"exportWikiRun", get, "/api/v0/wiki/{wikiRunId}/export", []int{200, 302}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"getWikiPage", get, "/api/v0/wiki/{wikiRunId}/pages/{pageId}", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"updateWikiPrivacy", post, "/api/v0/wiki/{wikiRunId}/privacy", []int{200}, []int{401, 500}, []int{400, 403, 404, 422, 429}},
		{"searchWikiRun", get, "/api/v0/wiki/{wikiRunId}/search", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
	},
	"ci": {
		{"editCiWorkflow", post, "/api/v0/automations/ci/edit", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"listCiJobs", get, "/api/v0/automations/ci/jobs", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRepositories", get, "/api/v0/automations/ci/repositories", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRepositoryOwners", get, "/api/v0/automations/ci/repository-owners", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRuns", get, "/api/v0/automations/ci/runs", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"scanCiWorkflows", get, "/api/v0/automations/ci/scan", []int{200}, []int{401, 500}, []int{400, 403, 429}},
	},
	"sessions": {
		{"listSessions", get, "/api/v0/sessions", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"createSession", post, "/api/v0/sessions", []int{201}, []int{400, 401, 403, 429, 500, 503, 504}, nil},
		{"getSession", get, "/api/v0/sessions/{sessionId}", []int{200}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"deleteSession", remove, "/api/v0/sessions/{sessionId}", []int{204}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"updateSession", patch, "/api/v0/sessions/{sessionId}", []int{200}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"interruptSession", post, "/api/v0/sessions/{sessionId}/interrupt", []int{200}, []int{400, 401, 403}, []int{404, 429, 500, 503}},
	},
	"organization": {
		{"listEnterpriseControlHistory", get, "/api/v0/organization/enterprise-controls/history", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getGlobalUsageLimit", get, "/api/v0/organization/usage/limits/global", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"setGlobalUsageLimit", put, "/api/v0/organization/usage/limits/global", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getUserUsageLimits", get, "/api/v0/organization/usage/limits/users", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"setUserUsageLimits", put, "/api/v0/organization/usage/limits/users", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"listMembers", get, "/api/v0/organization/users", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"removeMember", remove, "/api/v0/organization/users", []int{204}, []int{400, 401, 403, 404, 409}, []int{429, 500}},
	},
	"analytics": {
		{"getTokenAnalytics", get, "/api/v1/analytics/tokens", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"queryMyCost", get, "/api/v1/analytics/cost/me/query", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getToolAnalytics", get, "/api/v1/analytics/tools", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getActivityAnalytics", get, "/api/v1/analytics/activity", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getProductivityAnalytics", get, "/api/v1/analytics/productivity", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getUserAnalytics", get, "/api/v1/analytics/users", []int{200}, []int{400, 401, 403, 500}, []int{429}},
	},
}

// expectedBeyond are operations that the API's documentation lacks. The contract says with x-beyond where each comes from.
var expectedBeyond = map[string][]expected{
	"organization": {
		{"inviteMember", post, "/api/v0/organization/users/invite", []int{200}, nil, []int{400, 401, 403, 429, 500}},
	},
	"sessions": {
		{"listSessionMessages", get, "/api/v0/sessions/{sessionId}/messages", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
		{"sendSessionMessage", post, "/api/v0/sessions/{sessionId}/messages", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
		{"listSessionChildren", get, "/api/v0/sessions/{sessionId}/children", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
	},
}

// allExpected returns the operations of both tables, by tag.
func allExpected() map[string][]expected {
	all := maps.Clone(expectedByTag)
	for tag, operations := range expectedBeyond {
		all[tag] = append(slices.Clone(all[tag]), operations...)
	}
	return all
}
