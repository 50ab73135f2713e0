package trials

// Untried says of each other rule why no trial can show it.
var Untried = map[string]string{
	"create-computer-200":                  "The receipt of a software draft comes from the service's web application, and no operation makes one.",
	"install-computer-deps":                "It shows on a computer whose dependencies are about to be installed, or could not be, which takes a repository of the organization that has some.",
	"invitation-result-status":             "It shows when an existing member is invited. If the assumption is wrong, the role of that member changes.",
	"list-session-children":                "Subagents are started by an agent at work, which nobody can make do so reliably.",
	"provision-default-environment":        "It shows in an organization without a default environment. The one that it makes cannot be taken back.",
	"provisioning-step-install-session-id": "It shows while dependencies of a repository are installed, which takes a repository of the organization that has some.",
}
