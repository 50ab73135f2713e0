package contract

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// RuleHeader names the rules by which a request was answered 400 although the schemas of the contract allow it.
// Several are separated by commas.
const RuleHeader = "X-Agentyard-Emulator-Rule"

// Rule is a reason to refuse a request that no schema can express.
type Rule struct {
	// ID is what RuleHeader holds.
	ID string
	// Operations are the IDs of those that the rule applies to; empty means all.
	Operations []string
	// Text states the rule.
	Text string
	// Source says where the rule comes from.
	Source Source
}

// Source is where a rule comes from.
type Source string

// The sources, from the strongest to the weakest.
const (
	Spec    Source = "the spec"
	Assumed Source = "an assumption of this project"
)

// Rules returns all rules. Whoever adds one says here where it comes from; without that a refusal is a violation.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	// Texts and bodies.
	{"body-size", nil, "A body of more than 1 MiB returns 400 or 413. For a wiki's upload, the limit is 16 MiB, and for a message 48 MiB.", Assumed},
	{"nul-character", nil, "A name or an ID with a NUL character returns 400.", Assumed},

	// Computers.
	{"byom-unsupported", []string{"recordComputerActivity", "restartComputer", "getComputerMetrics"}, "The operation is not supported for BYOM computers.", Spec},
	{"not-active", []string{"recordComputerActivity", "restartComputer", "getComputerMetrics", "installComputerDeps"}, "The operation needs an active computer.", Spec},
	{"install-not-configured", []string{"installComputerDeps"}, "Dependencies are installed on managed computers that are configured for it.", Spec},
	{"provider-unknown", []string{"createComputer", "bulkCreateComputers"}, "The identifiers of providers are a fixed set, and a bulk creation makes managed computers.", Spec},
	{"provider-unavailable", []string{"createComputer", "bulkCreateComputers"}, "Only some of the managed providers are available to the organization.", Spec},
	{"byom-field", []string{"createComputer"}, "Repositories, dependencies, or a source for a registered machine return 400.", Assumed},
	{"byom-clone", []string{"createComputer"}, "A copy of a registered machine returns 400.", Assumed},
	{"account-inactive", []string{"createComputer", "bulkCreateComputers"}, "A new computer for a service account that is not active returns 400.", Assumed},
	{"upload-missing", []string{"completeFileUpload"}, "An upload is completed after the file was sent to the returned address.", Spec},
	{"upload-size", []string{"completeFileUpload"}, "Completing an upload with another size than that of the file returns 400.", Assumed},

	// Environments.
	{"environment-name", []string{"createEnvironment", "updateEnvironment"}, "A name of an environment with more than 128 characters returns 400; one with 128 is accepted.", Assumed},
	{"repository-count", []string{"createEnvironment", "updateEnvironment"}, "More than 50 repositories of an environment return 400; 50 are accepted.", Assumed},
	{"repository-twice", []string{"createEnvironment", "updateEnvironment"}, "Two repositories of an environment with the same address return 400.", Assumed},
	{"script-size", []string{"createEnvironment", "updateEnvironment"}, "A script of more than 64 KiB returns 400; one of 64 KiB is accepted.", Assumed},
	{"source-repositories", []string{"createEnvironment", "updateEnvironment"}, "Repositories for a source that does not support them return 400.", Assumed},
	{"source-setup-script", []string{"createEnvironment", "updateEnvironment"}, "A setup script for a source that does not support setup scripts returns 400.", Assumed},
	{"default-scope", []string{"createEnvironment", "setDefaultEnvironment"}, "Making an environment of the scope `user` the organization's default returns 400.", Assumed},
	{"account-unknown", []string{"listEnvironments", "getEnvironmentBuildStatuses"}, "A `serviceAccountId` of no service account returns 400, not 404 or an empty list.", Assumed},
	{"environment-ids", []string{"getEnvironmentBuildStatuses"}, "More than 100 IDs of environments return 400; 100 are accepted.", Assumed},

	// Analytics.
	{"date-order", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "A last day before the first returns 400.", Assumed},
	{"date-history", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "A first day before 2026-01-14 returns 400, not the days from then on.", Assumed},
	{"date-unavailable", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "There is data through yesterday in UTC.", Spec},
	{"date-range", []string{"queryMyCost"}, "A query of the caller's own credits for 91 days, the first and the last included, returns 400. The spec says at most 90 days.", Assumed},

	// Sessions.
	{"session-computer", []string{"createSession", "sendSessionMessage"}, "A new session on a computer that is unknown, not active, or not for the caller to use returns 400, not 404. So does a message to a session whose computer is not active.", Assumed},
	{"attachment-data", []string{"sendSessionMessage"}, "Data of an image, or of a file in Base64, that is not standard Base64 with padding returns 400.", Assumed},
	{"autonomy-contradiction", []string{"createSession", "updateSession"}, "A deprecated `autonomyMode` that contradicts the `interactionMode` or the `autonomyLevel` beside it returns 400.", Assumed},

	// Wiki runs.
	{"wiki-tree", []string{"createWikiRun"}, "Two pages of an upload with the same path or ID return 400. So does a tree with a node of no page.", Assumed},
	{"wiki-depth", []string{"createWikiRun"}, "A tree of pages with more than five levels returns 400.", Assumed},
	{"wiki-path", []string{"createWikiRun"}, "A page returns 400 if its path is absolute, leads out of the wiki, or is that of the export's own file.", Assumed},

	// API keys.
	{"expiry-past", []string{"createApiKey", "rotateApiKey"}, "A new key, or one from a rotation, whose `expiresAt` is not in the future returns 400.", Assumed},
	{"grace-beyond-expiry", []string{"rotateApiKey"}, "A rotation of a key that expires before its grace period ends, even if that has no length, returns 400.", Assumed},

	// CI automation.
	{"ci-changes", []string{"editCiWorkflow"}, "An edit without `changes` returns 400.", Assumed},
	{"ci-path", []string{"editCiWorkflow"}, "A path returns 400 unless it is that of a file under .github/workflows/, or in a folder there. The file has a name before .yml or .yaml. The path is in its shortest form, without two dots in a row and control characters, and has at most 1024 bytes.", Assumed},
	{"ci-twice", []string{"editCiWorkflow"}, "A request that names a file of a repository twice, in any case of the repository, returns 400. A new file without a path counts by the name that it is given.", Assumed},
	{"ci-schedule", []string{"editCiWorkflow"}, "A schedule returns 400 unless it is empty or a cron expression: five fields with blanks between and none at its ends. Each field is a list of values, ranges and *, with steps or without. Values are numbers of at most two digits in their bounds, and English names of three letters for months and days of the week. A step is from 1 to 99.", Assumed},

	// Organization.
	{"cursor-unknown", []string{"listEnterpriseControlHistory", "listMembers", "getUserAnalytics", "listSessions", "listSessionMessages"}, "A cursor that no answer of the same list gave returns 400, not the first page or an empty one.", Assumed},
	{"limit-size", []string{"setGlobalUsageLimit", "setUserUsageLimits"}, "A limit of more than 2^53-1 returns 400; 2^53-1 is accepted.", Assumed},
	{"email-twice", []string{"setUserUsageLimits"}, "A request that names a member twice returns 400: it would be open which of the two limits applies.", Assumed},
	{"email-form", []string{"removeMember", "inviteMember"}, "An address with blanks or a name around it, or of more than 254 bytes, returns 400.", Assumed},
}

// checkRefusal looks at a response to a request that the contract allows. It may be refused as invalid only by named rules.
func (rt *route) checkRefusal(rec *recorder) error {
	if rec.status != http.StatusBadRequest || rec.header.Get(FaultHeader) != "" {
		return nil
	}
	given := rec.header.Get(RuleHeader)
	if given == "" {
		return errors.New("the contract allows the request, but it was answered 400 and no rule was named; see internal/contract/rules.go")
	}
	for id := range strings.SplitSeq(given, ",") {
		if !slices.ContainsFunc(rules, func(r Rule) bool {
			return r.ID == strings.TrimSpace(id) && (r.Operations == nil || slices.Contains(r.Operations, rt.ID))
		}) {
			return fmt.Errorf("the contract allows the request, but it was answered 400 by the rule %q, which %s does not have; see internal/contract/rules.go", id, rt.ID)
		}
	}
	return nil
}
