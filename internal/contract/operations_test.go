package contract

import (
	"maps"
	"slices"
)

// expected is a second reading of the API's documentation, made independently of openapi.yaml. The routes are in the client
// and in the emulator too, so they are not repeated here.
type expected struct {
	id      string
	success []int
	// documented are the error statuses that the documentation lists, assumed those that this project adds.
	documented, assumed []int
}

var expectedByTag = map[string][]expected{
	"computers": {
		{"listComputers", []int{200}, []int{400, 401, 402, 403, 404, 500}, []int{429}},
		{"createComputer", []int{200, 201}, []int{400, 401, 402, 403, 404, 409, 500}, []int{429}},
		{"bulkCreateComputers", []int{201}, []int{400, 401, 402, 403, 404, 409, 500, 503}, []int{429}},
		{"getComputerByName", []int{200}, []int{401, 402, 403, 404, 500}, []int{400, 429}},
		{"listComputerProviders", []int{200}, []int{401, 500}, []int{400, 429}},
		{"getComputer", []int{200}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"deleteComputer", []int{204}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"updateComputer", []int{200}, []int{400, 401, 403, 404, 409, 500}, []int{429}},
		{"recordComputerActivity", []int{200}, []int{400, 401, 403, 404, 500}, []int{429}},
		{"createFileUpload", []int{200}, []int{400, 401, 403, 404, 424, 500, 503}, []int{429}},
		{"completeFileUpload", []int{200}, []int{400, 401, 403, 404, 409, 424, 500, 503}, []int{429}},
		{"createFileDownload", []int{200}, []int{400, 401, 403, 404, 424, 500, 503}, []int{429}},
		{"installComputerDeps", []int{202}, []int{400, 401, 404, 409, 500}, []int{403, 429}},
		{"getComputerMetrics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"refreshComputer", []int{200}, []int{401, 403, 404, 500}, []int{400, 429}},
		{"restartComputer", []int{200}, []int{400, 401, 402, 403, 404, 500}, []int{429}},
	},
	// The documentation lists no error statuses of these.
	"service-accounts": {
		{"listServiceAccounts", []int{200}, nil, []int{400, 401, 402, 403, 429, 500}},
		{"createServiceAccount", []int{201}, nil, []int{400, 401, 402, 403, 409, 429, 500}},
		{"getServiceAccount", []int{200}, nil, []int{400, 401, 402, 403, 404, 429, 500}},
		{"updateServiceAccount", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"deleteServiceAccount", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"listApiKeys", []int{200}, nil, []int{400, 401, 402, 403, 404, 429, 500}},
		{"createApiKey", []int{201}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"revokeApiKey", []int{204}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"rotateApiKey", []int{200}, nil, []int{400, 401, 402, 403, 404, 409, 429, 500}},
	},
	"environments": {
		{"listEnvironments", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"createEnvironment", []int{201}, []int{400, 401, 403, 404, 405, 409, 500, 503}, []int{429}},
		{"getEnvironmentBuildStatuses", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"provisionDefaultEnvironment", []int{204}, []int{401, 403, 500, 503}, []int{400, 429}},
		{"setDefaultEnvironment", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getEnvironmentSourceOptions", []int{200}, []int{400, 401, 403, 500, 503}, []int{429}},
		{"getEnvironment", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"deleteEnvironment", []int{204}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"updateEnvironment", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getEnvironmentBuildDiagnostics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
		{"createEnvironmentBuild", []int{200}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"cancelEnvironmentBuild", []int{204}, []int{400, 401, 403, 404, 409, 500, 503}, []int{429}},
		{"getBuildDiagnostics", []int{200}, []int{400, 401, 403, 404, 500, 503}, []int{429}},
	},
	"wiki": {
		{"listWikiRuns", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"createWikiRun", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"getWikiHistory", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"createWikiVideoUploadUrl", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"getWikiRun", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"deleteWikiRun", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"exportWikiRun", []int{200, 302}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"getWikiPage", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"updateWikiPrivacy", []int{200}, []int{401, 500}, []int{400, 403, 404, 422, 429}},
		{"searchWikiRun", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
	},
	"ci": {
		{"editCiWorkflow", []int{200}, []int{401, 500}, []int{400, 403, 404, 429}},
		{"listCiJobs", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRepositories", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRepositoryOwners", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"listCiRuns", []int{200}, []int{401, 500}, []int{400, 403, 429}},
		{"scanCiWorkflows", []int{200}, []int{401, 500}, []int{400, 403, 429}},
	},
	"sessions": {
		{"listSessions", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"createSession", []int{201}, []int{400, 401, 403, 429, 500, 503, 504}, nil},
		{"getSession", []int{200}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"deleteSession", []int{204}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"updateSession", []int{200}, []int{401, 403, 404, 500, 503}, []int{400, 429}},
		{"interruptSession", []int{200}, []int{400, 401, 403}, []int{404, 429, 500, 503}},
	},
	"organization": {
		{"listEnterpriseControlHistory", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getGlobalUsageLimit", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"setGlobalUsageLimit", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getUserUsageLimits", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"setUserUsageLimits", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"listMembers", []int{200}, []int{401, 403, 500}, []int{400, 429}},
		{"removeMember", []int{204}, []int{400, 401, 403, 404, 409}, []int{429, 500}},
	},
	"analytics": {
		{"getTokenAnalytics", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"queryMyCost", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getToolAnalytics", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getActivityAnalytics", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getProductivityAnalytics", []int{200}, []int{400, 401, 403, 500}, []int{429}},
		{"getUserAnalytics", []int{200}, []int{400, 401, 403, 500}, []int{429}},
	},
}

// expectedBeyond are operations that the API's documentation lacks. The contract says with x-beyond where each comes from.
var expectedBeyond = map[string][]expected{
	"organization": {
		{"inviteMember", []int{200}, nil, []int{400, 401, 403, 429, 500}},
	},
	"sessions": {
		{"listSessionMessages", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
		{"sendSessionMessage", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
		{"listSessionChildren", []int{200}, nil, []int{400, 401, 403, 404, 429, 500, 503}},
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
