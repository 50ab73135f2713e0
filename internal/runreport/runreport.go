// Package runreport is the format of run reports, which the client writes and the emulator's command reads, and what both read alike from
// requests and responses: so the emulator's status page says the same of a run as its report.
package runreport

import (
	"encoding/json"
	"fmt"
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
func Answer(body []byte) (objects []Object, refusals []string, requestID string) {
	type part struct {
		ID, SessionID, WikiRunID, Name, Email, RepoFullName, Detail string
		Error                                                       any
	}
	var whole struct {
		part
		APIKey, Computer, Environment, ServiceAccount, Session, WikiRun part
		Computers, Errors, Sessions                                     []part
		RequestedQuantity                                               int
		RequestID                                                       string
	}
	_ = json.Unmarshal(body, &whole) // Fields of other types count as missing.
	parts := []part{whole.part, whole.APIKey, whole.Computer, whole.Environment, whole.ServiceAccount, whole.Session, whole.WikiRun}
	for _, p := range append(parts, whole.Computers...) {
		if id := p.ID + p.SessionID + p.WikiRunID; id != "" {
			objects = append(objects, Object{id, p.Name})
		}
	}
	if whole.Detail != "" {
		refusals = []string{whole.Detail}
	}
	for _, p := range slices.Concat(parts[:1], whole.Errors, whole.Sessions) {
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
