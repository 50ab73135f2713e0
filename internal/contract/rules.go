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
	Spec      Source = "the spec"
	Reference Source = "the reference"
	Assumed   Source = "an assumption of this project"
)

// Rules returns all rules. Whoever adds one says here where it comes from; without that a refusal is a violation.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	// Texts and bodies.
	{"body-size", nil, "A body has at most 1 MiB, that of a wiki's upload or of a message 16 MiB.", Assumed},
	{"nul-character", nil, "A NUL character is part of no name and no ID.", Assumed},
	{"repeated-field", nil, "A JSON object has each field once; decoders differ on which of two counts.", Assumed},

	// Computers.
	{"byom-unsupported", []string{"recordComputerActivity", "restartComputer", "getComputerMetrics"}, "The operation is not supported for BYOM computers.", Spec},
	{"not-active", []string{"recordComputerActivity", "restartComputer", "getComputerMetrics", "installComputerDeps"}, "The operation needs an active computer.", Spec},
	{"install-not-configured", []string{"installComputerDeps"}, "Dependencies are installed on managed computers that are configured for it.", Spec},
	{"provider-unknown", []string{"createComputer", "bulkCreateComputers"}, "The identifiers of providers are a fixed set, and a bulk creation makes managed computers.", Spec},
	{"provider-unavailable", []string{"createComputer", "bulkCreateComputers"}, "Only some of the managed providers are available to the organization.", Spec},
	{"byom-field", []string{"createComputer"}, "Repositories, dependencies and sources are set up on managed computers only.", Assumed},
	{"byom-clone", []string{"createComputer"}, "A registered machine cannot be copied.", Assumed},
	{"account-inactive", []string{"createComputer", "bulkCreateComputers"}, "A service account that is not active gets no computers.", Assumed},
	{"upload-missing", []string{"completeFileUpload"}, "An upload is completed after the file was sent to the returned address.", Spec},
	{"upload-size", []string{"completeFileUpload"}, "The size that completes an upload is that of the file.", Assumed},

	// Environments.
	{"environment-name", []string{"createEnvironment", "updateEnvironment"}, "The name of an environment has at most 128 characters.", Assumed},
	{"repository-count", []string{"createEnvironment", "updateEnvironment"}, "An environment is given at most 50 repositories.", Assumed},
	{"repository-twice", []string{"createEnvironment", "updateEnvironment"}, "The repositories of an environment have different addresses.", Assumed},
	{"script-size", []string{"createEnvironment", "updateEnvironment"}, "A script has at most 64 KiB.", Assumed},
	{"source-repositories", []string{"createEnvironment", "updateEnvironment"}, "Repositories need a source that supports them.", Assumed},
	{"source-setup-script", []string{"createEnvironment", "updateEnvironment"}, "A setup script needs a source that supports setup scripts.", Assumed},
	{"default-scope", []string{"createEnvironment", "setDefaultEnvironment"}, "Only an environment of organization scope can be the organization's default.", Assumed},
	{"account-unknown", []string{"listEnvironments", "getEnvironmentBuildStatuses"}, "The service account exists; 404 is no answer of these operations.", Assumed},
	{"environment-ids", []string{"getEnvironmentBuildStatuses"}, "At most 100 environments are asked about at once.", Assumed},

	// Analytics.
	{"date-order", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "The last day is not before the first.", Assumed},
	{"date-history", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "There is data from 2026-01-14 on, so nobody asks about an earlier day.", Assumed},
	{"date-unavailable", []string{"getTokenAnalytics", "queryMyCost", "getToolAnalytics", "getActivityAnalytics", "getProductivityAnalytics", "getUserAnalytics"}, "There is data through yesterday in UTC.", Spec},
	{"date-range", []string{"queryMyCost"}, "The caller's own credits are asked about for at most 90 days, the first and the last included.", Spec},

	// Sessions.
	{"session-computer", []string{"createSession", "sendSessionMessage"}, "A session runs on an active computer that the caller may use; 404 is no answer of its creation.", Assumed},
	{"attachment-data", []string{"sendSessionMessage"}, "The data of an image, and that of a file in Base64, is standard Base64 with padding.", Assumed},
	{"autonomy-contradiction", []string{"createSession", "updateSession"}, "The deprecated autonomyMode agrees with the interactionMode and the autonomyLevel beside it.", Assumed},

	// Wiki runs.
	{"wiki-tree", []string{"createWikiRun"}, "The pages of an upload have different paths and IDs, and each node of their tree is of one of them.", Assumed},
	{"wiki-depth", []string{"createWikiRun"}, "A tree of pages has at most five levels.", Reference},
	{"wiki-path", []string{"createWikiRun"}, "The path of a page is relative, stays in the wiki and is not that of the export's own file.", Assumed},

	// API keys.
	{"expiry-past", []string{"createApiKey", "rotateApiKey"}, "A key that is made does not expire before it lives.", Assumed},
	{"grace-beyond-expiry", []string{"rotateApiKey"}, "The old key must not expire before its grace period ends, even if that has no length.", Reference},

	// CI automation.
	{"ci-changes", []string{"editCiWorkflow"}, "An edit says what to change.", Reference},
	{"ci-path", []string{"editCiWorkflow"}, "A workflow is a file under .github/workflows/, also in a folder there, with a name before .yml or .yaml. Its path is in its shortest form, without two dots in a row and control characters, and has at most 1024 bytes.", Assumed},
	{"ci-twice", []string{"editCiWorkflow"}, "A request names each file of a repository once, whatever the case of the repository. A new file without a path has the name that it is given.", Assumed},
	{"ci-schedule", []string{"editCiWorkflow"}, "A schedule is empty or a cron expression: five fields with blanks between and none at its ends. Each field is a list of values, ranges and *, with steps or without. Values are numbers of at most two digits in their bounds, and English names of three letters for months and days of the week. A step is from 1 to 99.", Assumed},

	// Organization.
	{"cursor-unknown", []string{"listEnterpriseControlHistory", "listMembers", "getUserAnalytics", "listSessions", "listSessionMessages"}, "A cursor is one that an answer of this listing gave.", Assumed},
	{"limit-size", []string{"setGlobalUsageLimit", "setUserUsageLimits"}, "A limit is an integer that JSON carries exactly, at most 2^53-1.", Assumed},
	{"email-twice", []string{"setUserUsageLimits"}, "A request names each user once; which of two limits counts would be open.", Assumed},
	{"email-form", []string{"removeMember", "inviteMember"}, "Who is removed or invited is named by an email address alone, without blanks or a name around it.", Assumed},
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
