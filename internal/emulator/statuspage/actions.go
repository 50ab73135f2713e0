package statuspage

import "strings"

// Action is a button: a request to the emulator.
type Action struct {
	Label, Method, Path, Body string
	Confirm                   bool   // The browser asks before it carries it out.
	Note                      string // Why there is no button.
}

// defaultCreation is the operation that faults of the page affect, unless another one is chosen.
const defaultCreation = "createComputer"

// Creations are the operations that create objects.
var Creations = []string{
	defaultCreation, "bulkCreateComputers", "createApiKey", "createEnvironment", "createEnvironmentBuild", "createServiceAccount", "createSession", "createWikiRun",
	"editCiWorkflow", "inviteMember", "sendSessionMessage", "setGlobalUsageLimit", "setUserUsageLimits",
}

// pageActions are the actions of the status page: they move the clock, or let the next creation fail.
type pageActions struct {
	Clock, Faults []Action
	Creations     []string
	Default       string
}

func actionsOfPage() pageActions {
	const clock, faults, operation = "/_emulator/clock", "/_emulator/faults", `{"operation":"` + defaultCreation + `","kind":`
	return pageActions{
		[]Action{
			{Label: "Forward 1 day", Method: "POST", Path: clock, Body: `{"advance":"1d"}`},
			{Label: "Forward 30 days", Method: "POST", Path: clock, Body: `{"advance":"30d"}`},
		},
		[]Action{
			{Label: "Return 503", Method: "POST", Path: faults, Body: operation + `"status-before-commit","status":503}`},
			{Label: "Lose the response", Method: "POST", Path: faults, Body: operation + `"drop-after-commit"}`},
			{Label: "Clear faults of requests", Method: "DELETE", Path: faults},
		},
		Creations, defaultCreation,
	}
}

// ShellText is a word of a command line, in quotes if it needs them.
func ShellText(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
