package emulator

import "slices"

// laterRoutes are the operations of the areas that are not served yet: authenticated callers get 501.
// An area that comes to be served moves from here into a file of its own.
func laterRoutes() []route {
	return slices.Concat(
		[]route{
			{operation: "listWikiRuns", method: "GET", pattern: "/api/v0/wiki"},
			{operation: "createWikiRun", method: "POST", pattern: "/api/v0/wiki"},
			{operation: "getWikiHistory", method: "GET", pattern: "/api/v0/wiki/history/{repoUrl}"},
			{operation: "createWikiVideoUploadUrl", method: "POST", pattern: "/api/v0/wiki/video-upload-url"},
			{operation: "getWikiRun", method: "GET", pattern: "/api/v0/wiki/{wikiRunId}"},
			{operation: "deleteWikiRun", method: "DELETE", pattern: "/api/v0/wiki/{wikiRunId}"},
			{operation: "exportWikiRun", method: "GET", pattern: "/api/v0/wiki/{wikiRunId}/export"},
			{operation: "getWikiPage", method: "GET", pattern: "/api/v0/wiki/{wikiRunId}/pages/{pageId}"},
			{operation: "updateWikiPrivacy", method: "POST", pattern: "/api/v0/wiki/{wikiRunId}/privacy"},
			{operation: "searchWikiRun", method: "GET", pattern: "/api/v0/wiki/{wikiRunId}/search"},
		},
		[]route{
			{operation: "editCiWorkflow", method: "POST", pattern: "/api/v0/automations/ci/edit"},
			{operation: "listCiJobs", method: "GET", pattern: "/api/v0/automations/ci/jobs"},
			{operation: "listCiRepositories", method: "GET", pattern: "/api/v0/automations/ci/repositories"},
			{operation: "listCiRepositoryOwners", method: "GET", pattern: "/api/v0/automations/ci/repository-owners"},
			{operation: "listCiRuns", method: "GET", pattern: "/api/v0/automations/ci/runs"},
			{operation: "scanCiWorkflows", method: "GET", pattern: "/api/v0/automations/ci/scan"},
		},
		[]route{
			{operation: "listSessions", method: "GET", pattern: "/api/v0/sessions"},
			{operation: "createSession", method: "POST", pattern: "/api/v0/sessions"},
			{operation: "getSession", method: "GET", pattern: "/api/v0/sessions/{sessionId}"},
			{operation: "deleteSession", method: "DELETE", pattern: "/api/v0/sessions/{sessionId}"},
			{operation: "updateSession", method: "PATCH", pattern: "/api/v0/sessions/{sessionId}"},
			{operation: "interruptSession", method: "POST", pattern: "/api/v0/sessions/{sessionId}/interrupt"},
		},
	)
}
