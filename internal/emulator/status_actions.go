package emulator

import (
	"encoding/json"
	"net/url"
	"strings"
)

// statusAction is a button of the status page.
type statusAction struct {
	Label, Method, Path, Body string
	Confirm                   bool   // The browser asks before it carries it out.
	Note                      string // Why there is no button.
}

// controlAction is an operation of the control API.
func controlAction(label, method, path, body string) statusAction {
	return statusAction{Label: label, Method: method, Path: controlPrefix + path, Body: body}
}

// apiAction is an operation of the API itself. It is in the journal, and faults affect it, as for anybody else.
func apiAction(label, method, path, body string) statusAction {
	return statusAction{Label: label, Method: method, Path: path, Body: body}
}

func (a statusAction) confirmed() statusAction {
	a.Confirm = true
	return a
}

func removeMemberAction(label, email string) statusAction {
	return apiAction(label, "DELETE", "/api/v0/organization/users?email="+queryText(email), "").confirmed()
}

func queryText(text string) string { return url.QueryEscape(text) }

func jsonText(body any) string {
	data, _ := json.Marshal(body) // Bodies are plain structs of ours.
	return string(data)
}

// clockActions move the clock.
func clockActions() []statusAction {
	return []statusAction{
		controlAction("Forward 1 day", "POST", "clock", jsonText(struct {
			Advance string `json:"advance"`
		}{"1d"})),
		controlAction("Forward 30 days", "POST", "clock", jsonText(struct {
			Advance string `json:"advance"`
		}{"30d"})),
	}
}

// defaultCreation is the operation that faults of the page affect, unless another one is chosen.
const defaultCreation = "createComputer"

// creations are the operations that create objects.
func creations() []string {
	return []string{
		defaultCreation, "bulkCreateComputers", "createApiKey", "createEnvironment", "createEnvironmentBuild", "createServiceAccount", "createSession", "createWikiRun",
		"editCiWorkflow", "inviteMember", "sendSessionMessage", "setGlobalUsageLimit", "setUserUsageLimits",
	}
}

// faultActions let the next creation fail.
func faultActions() []statusAction {
	type body struct {
		Operation string    `json:"operation"`
		Kind      FaultKind `json:"kind"`
		Status    int       `json:"status,omitempty"`
	}
	return []statusAction{
		controlAction("Return 503", "POST", "faults", jsonText(body{defaultCreation, FaultStatusBeforeCommit, 503})),
		controlAction("Lose the response", "POST", "faults", jsonText(body{defaultCreation, FaultDropAfterCommit, 0})),
		controlAction("Clear faults of requests", "DELETE", "faults", ""),
	}
}

// pageActions are the actions of the status page.
type pageActions struct {
	Clock, Faults []statusAction
	Creations     []string
	Default       string
}

func actionsOfPage() pageActions {
	return pageActions{clockActions(), faultActions(), creations(), defaultCreation}
}

// shellText is a word of a command line, in quotes if it needs them.
func shellText(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
