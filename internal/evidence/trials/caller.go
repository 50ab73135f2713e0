package trials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// caller sends requests as they are given, with the client's retries and pace. The client's own calls would hide what a service
// answers, such as the status of a second revocation.
type caller struct {
	ctx  context.Context
	conn *transport.Conn
}

func (c caller) get(route string, ids ...string) answer { return c.send("GET", route, nil, ids) }

func (c caller) post(route string, body any, ids ...string) answer {
	return c.send("POST", route, body, ids)
}

func (c caller) put(route string, body any) answer { return c.send("PUT", route, body, nil) }

func (c caller) patch(route string, body any, ids ...string) answer {
	return c.send("PATCH", route, body, ids)
}

func (c caller) remove(route string, ids ...string) answer { return c.send("DELETE", route, nil, ids) }

func (c caller) removeMember(email string) answer {
	return c.remove(members + "?email=" + url.QueryEscape(email))
}

// send sends a request. The route has a placeholder for each ID, and may have a query.
func (c caller) send(method, route string, body any, ids []string) answer {
	if !strings.HasPrefix(route, "/api/") {
		route = "/api/v0" + route
	}
	got, err := c.conn.Exchange(c.ctx, transport.Request{
		Op: transport.Operation{Name: "trial", Method: method, Route: route}, Path: ids, Body: body,
	}, transport.EmptyOrJSON)
	var a answer
	var refusal *transport.APIError
	switch {
	case errors.As(err, &refusal):
		a.status, a.isForeign, a.isRepeated = refusal.Status, !refusal.FromService, refusal.Repeated
	case err == nil && (len(got.Body) == 0 || json.Unmarshal(got.Body, &a.body) == nil):
		a.status = accepted
	}
	return a
}

// accepted stands for each status of success.
const accepted = http.StatusOK

// answer is what a service answered to a request. The status is 0 if there was no usable answer.
type answer struct {
	status     int
	isForeign  bool // The body is not an error of the service.
	isRepeated bool // An earlier attempt may have had an effect.
	body       any
}

func (a answer) ok() bool { return a.status == accepted }

// said describes the answer within a sentence.
func (a answer) said() string {
	switch {
	case a.status == 0:
		return "without a usable answer"
	case a.ok():
		return "accepted"
	case a.isForeign:
		return fmt.Sprintf("answered %d by another server", a.status)
	}
	return fmt.Sprintf("answered %d", a.status)
}

// isUnclear reports whether the answer has a cause that is not the rule: a permission, a tier, a rate limit, or a failure.
func (a answer) isUnclear() bool {
	return a.status == 0 || a.status >= 500 || a.isForeign || a.isRepeated || slices.Contains([]int{401, 402, 403, 405, 407, 408, 429}, a.status)
}

// object is a JSON object, of a request or of an answer.
type object = evidence.Object

// record returns the object of the answer.
func (a answer) record() object { return evidence.RecordOf(a.body) }

// rows returns the objects of a listing.
func (a answer) rows(field string) []object { return evidence.RowsOf(a.body, field) }

// find returns the first row whose field has a value, or nil.
func find(rows []object, field, value string) object {
	for _, row := range rows {
		if row.Text(field) == value {
			return row
		}
	}
	return nil
}

// The routes that several trials use.
const (
	accounts      = "/service-accounts"
	account       = "/service-accounts/{id}"
	keys          = "/service-accounts/{id}/api-keys"
	revocation    = "/service-accounts/{id}/api-keys/{keyId}/revoke"
	rotation      = "/service-accounts/{id}/api-keys/{keyId}/rotate"
	computers     = "/computers"
	computer      = "/computers/{id}"
	environments  = "/environments"
	environment   = "/environments/{id}"
	defaultChoice = "/environments/default"
	userLimits    = "/organization/usage/limits/users"
	history       = "/organization/enterprise-controls/history"
	members       = "/organization/users"
	sessions      = "/sessions"
	session       = "/sessions/{id}"
	wiki          = "/wiki"
)

// create posts an object, and has it deleted at the end if it was accepted.
func (x *exam) create(route string, body any) answer {
	a := x.post(route, body)
	if a.ok() {
		x.laterDelete(route, a.record().Text("id"))
	}
	return a
}

func (x *exam) laterDelete(route, id string) {
	if route == environments {
		x.laterEnvironment(id)
		return
	}
	if id == "" {
		x.later(func(context.Context) error {
			return fmt.Errorf("a creation under %s was accepted without an ID, so nobody knows what to delete", route)
		})
		return
	}
	x.laterGone(id+" under "+route, func(c caller) answer { return c.remove(route+"/{id}", id) })
}

// laterGone has an object removed at the end, unless it is gone by then.
func (x *exam) laterGone(what string, remove func(caller) answer) {
	x.later(func(ctx context.Context) error {
		a := remove(caller{ctx, x.conn})
		if !a.ok() && a.status != 404 {
			return fmt.Errorf("removing %s was %s", what, a.said())
		}
		return nil
	})
}

// laterEnvironment has an environment deleted, whose build may still run then.
func (x *exam) laterEnvironment(id string) {
	x.later(func(ctx context.Context) error {
		err := x.client.Environments.Delete(ctx, id)
		if err != nil && !transport.IsNotFound(err) && !collection.IsGone(err) {
			// The client cancels a build only if its deletion is answered as assumed.
			c := caller{ctx, x.conn}
			c.post("/environments/{id}/builds/{buildId}/cancel", nil, id, c.get(environment, id).record().Object("latestBuild").Text("id"))
			err = x.client.Environments.Delete(ctx, id)
		}
		if err == nil || transport.IsNotFound(err) || collection.IsGone(err) {
			return nil
		}
		return fmt.Errorf("deleting environment %s: %w", id, err)
	})
}

// unknownID has the form of IDs that services use, and is nobody's.
const unknownID = "7f3f2d0c-5b1e-4a6e-9d53-0c1b2a394857"
