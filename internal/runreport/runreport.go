// Package runreport is the format of run reports, which the client writes and the emulator's command reads, and what both read alike from
// requests and responses: so the emulator's status page says the same of a run as its report.
package runreport

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Version is the version of the format.
const Version = 1

// The reasons of waits.
const (
	WaitRate   = "rate limit"
	WaitAfter  = "Retry-After"
	WaitRetry  = "retry"
	WaitStatus = "status"
	WaitSearch = "search after a lost response"
)

// StateFound is the state of an object that was found after a lost response.
const StateFound = "found"

// Line is a line of a report: its head, an attempt at a request, a wait, or an object that was read.
type Line struct {
	Version      int       `json:"agentyard_run_report,omitempty"` // Of the head, as is Agent.
	Agent        string    `json:"agent,omitempty"`
	Time         time.Time `json:"time,omitzero"`
	Milliseconds float64   `json:"ms,omitempty"`
	Operation    string    `json:"operation,omitempty"`
	Method       string    `json:"method,omitempty"`
	Route        string    `json:"route,omitempty"`
	Path         []Object  `json:"path,omitempty"`  // What the placeholders of the route stand for.
	Query        string    `json:"query,omitempty"` // Without escapes.
	Name         string    `json:"name,omitempty"`  // Of the object in the body.
	Hash         string    `json:"hash,omitempty"`  // Equal requests of a process have the same.
	Status       int       `json:"status,omitempty"`
	Unusable     bool      `json:"unusable,omitempty"` // Nobody can read the response.
	RequestID    string    `json:"request_id,omitempty"`
	Refusals     []string  `json:"refusals,omitempty"` // Why the service refused the request, or parts of it.
	Objects      []Object  `json:"objects,omitempty"`  // What the request created or changed, or what was read.
	Wait         string    `json:"wait,omitempty"`
	State        string    `json:"state,omitempty"` // The status that a wait ended with, or that was read, and after a colon why.
}

// Object is an object of the service.
type Object struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// NameIn is the name of the object in the body of a request; empty if there is none.
func NameIn(body []byte) string {
	var named struct {
		Name, NamePrefix, Email, RepoURL, EnvironmentID string
		Users                                           []struct{ Email string }
	}
	_ = json.Unmarshal(body, &named) // Not every request has a body.
	names := []string{named.Name, named.NamePrefix, named.Email, named.RepoURL, named.EnvironmentID}
	for _, user := range named.Users {
		names = append(names, user.Email)
	}
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), ", ")
}

// Answer returns the objects in the response to a request that changes something, why the service refused the request or parts of it, and
// its ID of the request, if it gives one.
func Answer(operation string, body []byte) (objects []Object, refusals []string, requestID string) {
	type part struct {
		Email, RepoFullName string
		Error               any
	}
	var whole struct {
		part
		Detail, RequestID string
		Errors, Sessions  []part
		Computers         []any
		RequestedQuantity int
	}
	var fields map[string]any
	_, _ = json.Unmarshal(body, &whole), json.Unmarshal(body, &fields) // Fields of other types count as missing.
	noun := strings.TrimSuffix(strings.ToLower(operation), "s")
	objects = objectIn(noun, fields)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if strings.Contains(strings.ToLower(operation), strings.ToLower(name)) { // Such as apiKey, or computers.
			rows, isList := fields[name].([]any)
			if !isList {
				rows = []any{fields[name]}
			}
			for _, row := range rows {
				objects = append(objects, objectIn(noun, row)...)
			}
		}
	}
	if whole.Detail != "" {
		refusals = []string{whole.Detail}
	}
	for _, p := range slices.Concat([]part{whole.part}, whole.Errors, whole.Sessions) {
		switch refusal := p.Error.(type) {
		case nil:
		case string:
			refusals = append(refusals, strings.TrimPrefix(p.Email+p.RepoFullName+": "+refusal, ": "))
		case map[string]any:
			refusals = append(refusals, fmt.Sprintf("%d of %d computers created: %v", len(whole.Computers), whole.RequestedQuantity, refusal["message"]))
		}
	}
	return objects, refusals, whole.RequestID
}

// objectIn returns the object that a part of an answer describes, if it has the ID of one: the field id, or one such as sessionId, with the
// noun at the end of the operation's name.
func objectIn(operation string, part any) []Object {
	fields, _ := part.(map[string]any)
	name, _ := fields["name"].(string)
	for _, field := range append([]string{"id"}, slices.Sorted(maps.Keys(fields))...) {
		noun, isID := strings.CutSuffix(strings.ToLower(field), "id")
		if id, _ := fields[field].(string); id != "" && isID && strings.HasSuffix(operation, noun) {
			return []Object{{id, name}}
		}
	}
	return nil
}
