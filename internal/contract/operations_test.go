package contract

import (
	"maps"
	"slices"
)

// expected is an operation with the statuses that this project adds to those in testdata/documents.txt.
type expected struct {
	id      string
	assumed []int
}

var expectedByTag = map[string][]expected{
	"computers": {
		{"listComputers", []int{429}},
		{"createComputer", []int{429}},
		{"bulkCreateComputers", []int{429}},
		{"getComputerByName", []int{400, 429}},
		{"listComputerProviders", []int{400, 429}},
		{"getComputer", []int{400, 429}},
		{"deleteComputer", []int{400, 429}},
		{"updateComputer", []int{429}},
		{"recordComputerActivity", []int{429}},
		{"createFileUpload", []int{429}},
		{"completeFileUpload", []int{429}},
		{"createFileDownload", []int{429}},
		{"installComputerDeps", []int{403, 429}},
		{"getComputerMetrics", []int{429}},
		{"refreshComputer", []int{400, 429}},
		{"restartComputer", []int{429}},
	},
	"service-accounts": {
		{"listServiceAccounts", []int{400, 401, 402, 403, 429, 500}},
		{"createServiceAccount", []int{400, 401, 402, 403, 409, 429, 500}},
		{"getServiceAccount", []int{400, 401, 402, 403, 404, 429, 500}},
		{"updateServiceAccount", []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"deleteServiceAccount", []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"listApiKeys", []int{400, 401, 402, 403, 404, 429, 500}},
		{"createApiKey", []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"revokeApiKey", []int{400, 401, 402, 403, 404, 409, 429, 500}},
		{"rotateApiKey", []int{400, 401, 402, 403, 404, 409, 429, 500}},
	},
	"environments": {
		{"listEnvironments", []int{429}},
		{"createEnvironment", []int{429}},
		{"getEnvironmentBuildStatuses", []int{429}},
		{"provisionDefaultEnvironment", []int{400, 429}},
		{"setDefaultEnvironment", []int{429}},
		{"getEnvironmentSourceOptions", []int{429}},
		{"getEnvironment", []int{429}},
		{"deleteEnvironment", []int{429}},
		{"updateEnvironment", []int{429}},
		{"getEnvironmentBuildDiagnostics", []int{429}},
		{"createEnvironmentBuild", []int{429}},
		{"cancelEnvironmentBuild", []int{429}},
		{"getBuildDiagnostics", []int{429}},
	},
	"wiki": {
		{"listWikiRuns", []int{400, 403, 429}},
		{"createWikiRun", []int{400, 403, 404, 429}},
		{"getWikiHistory", []int{400, 403, 404, 429}},
		{"createWikiVideoUploadUrl", []int{400, 403, 429}},
		{"getWikiRun", []int{400, 403, 404, 429}},
		{"deleteWikiRun", []int{400, 403, 404, 429}},
		{"exportWikiRun", []int{302, 400, 403, 404, 429}},
		{"getWikiPage", []int{400, 403, 404, 429}},
		{"updateWikiPrivacy", []int{400, 403, 404, 422, 429}},
		{"searchWikiRun", []int{400, 403, 404, 429}},
	},
	"ci": {
		{"editCiWorkflow", []int{400, 403, 404, 429}},
		{"listCiJobs", []int{400, 403, 429}},
		{"listCiRepositories", []int{400, 403, 429}},
		{"listCiRepositoryOwners", []int{400, 403, 429}},
		{"listCiRuns", []int{400, 403, 429}},
		{"scanCiWorkflows", []int{400, 403, 429}},
	},
	"sessions": {
		{"listSessions", []int{400, 429}},
		{"createSession", nil},
		{"getSession", []int{400, 429}},
		{"deleteSession", []int{400, 429}},
		{"updateSession", []int{400, 429}},
		{"interruptSession", []int{404, 429, 500, 503}},
	},
	"organization": {
		{"listEnterpriseControlHistory", []int{429}},
		{"getGlobalUsageLimit", []int{400, 429}},
		{"setGlobalUsageLimit", []int{429}},
		{"getUserUsageLimits", []int{400, 429}},
		{"setUserUsageLimits", []int{429}},
		{"listMembers", []int{400, 429}},
		{"removeMember", []int{429, 500}},
	},
	"analytics": {
		{"getTokenAnalytics", []int{429}},
		{"queryMyCost", []int{429}},
		{"getToolAnalytics", []int{429}},
		{"getActivityAnalytics", []int{429}},
		{"getProductivityAnalytics", []int{429}},
		{"getUserAnalytics", []int{429}},
	},
}

// expectedBeyond are operations that the API's documentation lacks. The contract says with x-beyond where each comes from.
var expectedBeyond = map[string][]expected{
	"organization": {
		{"inviteMember", []int{200, 400, 401, 403, 429, 500}},
	},
	"sessions": {
		{"listSessionMessages", []int{200, 400, 401, 403, 404, 429, 500, 503}},
		{"sendSessionMessage", []int{200, 400, 401, 403, 404, 429, 500, 503}},
		{"listSessionChildren", []int{200, 400, 401, 403, 404, 429, 500, 503}},
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
