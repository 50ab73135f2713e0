package apierror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

const (
	fixedRoute = "/api/v0/things"
	idRoute    = "/api/v0/things/{thingId}"
	acted      = "The service may have completed the request. It is safe to run again."
)

var thingFields = Options{
	Fields{"hostId": path.Root("host_id"), "name": path.Root("name"), "repositories": path.Root("repositories")},
	Unique{"hostId"}, Unique{"name"},
}

// translate returns the path and the two paragraphs of the only error.
func translate(t *testing.T, verb string, err error, options ...Option) (at, what, remedy string) {
	t.Helper()
	diags := For(verb, "computer", err, options...)
	if len(diags) != 1 || diags[0].Severity() != diag.SeverityError || diags[0].Summary() != "Cannot "+verb+" computer" {
		t.Fatalf("got %v", diags)
	}
	if d, ok := diags[0].(diag.DiagnosticWithPath); ok {
		at = d.Path().String()
	}
	what, remedy, _ = strings.Cut(diags[0].Detail(), "\n\n")
	return at, what, remedy
}

func TestFor_answersOfTheService(t *testing.T) {
	t.Parallel()
	const (
		slow    = " " + staySlow
		failed  = "The service failed, and the provider used all retries (max_retries). Try again later."
		lostWay = " Otherwise, check the path in base_url."
		noRef   = "An object that the computer refers to was not found, or the provider's API key cannot see it. Check the IDs in the configuration."
		gone    = "It no longer exists, or the provider's API key can no longer see it. Plan again: the plan shows what is left."
		unseen  = "The object was not found, or the provider's API key cannot see it. Check the IDs and the API key."
	)
	for name, tc := range map[string]struct {
		verb, method, route string
		status              int
		detail, retryAfter  string
		advice              Advice
		known               path.Path
		at, want            string
	}{
		"400 names a field":            {status: 400, detail: "hostId must be a UUID", at: "host_id", want: "Correct the value of host_id."},
		"400 names none":               {status: 400, want: "Correct the configuration."},
		"400 with advice":              {status: 400, advice: Advice{400: "Do that."}, want: "Do that."},
		"400 with advice at a field":   {status: 400, detail: "the name is odd", advice: Advice{400: "Do that."}, at: "name", want: "Do that."},
		"400 with advice on another":   {status: 400, advice: Advice{404: "Do that."}, want: "Correct the configuration."},
		"422 names a field":            {status: 422, detail: "the name is odd", at: "name", want: "Correct the value of name."},
		"422 names none":               {status: 422, want: "Correct the configuration."},
		"401":                          {status: 401, want: "The API key is wrong, revoked, or expired. Set api_key (or AGENTYARD_API_KEY) to a valid key."},
		"402":                          {status: 402, want: "The organization's plan does not include this. Upgrade the plan, or remove the computer from the configuration."},
		"402 of an update":             {status: 402, verb: "update", want: "The organization's plan does not include this. Upgrade the plan, or remove the computer from the configuration."},
		"402 of a second step":         {status: 402, verb: "set the status of", want: "The organization's plan does not include this. Upgrade the plan, or remove the computer from the configuration."},
		"402 of a delete":              {status: 402, verb: "delete", method: "DELETE", want: "The organization's plan does not include this. Upgrade the plan."},
		"402 of an action":             {status: 402, verb: "restart", want: "The organization's plan does not include this. Upgrade the plan."},
		"403":                          {status: 403, want: "The owner of the API key lacks permission, or the organization's settings forbid this. Service accounts and objects of other owners require the key of a member with the Manager role or higher."},
		"403 names a field":            {status: 403, detail: "the name is odd", want: "The owner of the API key lacks permission, or the organization's settings forbid this. Service accounts and objects of other owners require the key of a member with the Manager role or higher."},
		"404 of a create":              {status: 404, route: idRoute, want: noRef},
		"404 of a create without IDs":  {status: 404, want: noRef + lostWay},
		"404 of a known argument":      {status: 404, verb: "restart", route: idRoute, known: path.Root("host_id"), at: "host_id", want: "The object was not found, or the provider's API key cannot see it. Check host_id and the API key."},
		"404 of a known reference":     {status: 404, route: idRoute, known: path.Root("host_id"), at: "host_id", want: "An object that the computer refers to was not found, or the provider's API key cannot see it. Check host_id in the configuration."},
		"404 of an open":               {status: 404, verb: "open", route: idRoute, want: noRef},
		"404 of an update":             {status: 404, verb: "update", method: "PATCH", route: idRoute, want: gone},
		"404 of a second step":         {status: 404, verb: "set the status of", method: "PATCH", route: idRoute, want: gone},
		"404 of a rotation":            {status: 404, verb: "rotate", route: idRoute, want: gone},
		"404 of a delete":              {status: 404, verb: "delete", method: "DELETE", route: idRoute, want: gone},
		"404 of a read":                {status: 404, verb: "read", method: "GET", route: idRoute, want: unseen},
		"404 of a listing":             {status: 404, verb: "list", method: "GET", want: unseen + lostWay},
		"404 of an action with advice": {status: 404, verb: "restart", route: idRoute, advice: Advice{404: "Do that."}, want: "Do that."},
		"409 names a field":            {status: 409, detail: "hostId is taken", at: "host_id", want: "The value of host_id is already in use. Choose another value."},
		"409 names one among others":   {status: 409, detail: "name is taken", at: "name", want: "The value of name is already in use. Choose another value."},
		"409 names one that is shared": {status: 409, detail: "No source that supports repositories is available.", want: "Resolve the conflict, or wait until the service has finished its work. Then apply again."},
		"409 names what lies below":    {status: 409, detail: "repositories[0].name is busy", want: "Resolve the conflict, or wait until the service has finished its work. Then apply again."},
		"409 names none":               {status: 409, want: "Resolve the conflict, or wait until the service has finished its work. Then apply again."},
		"424":                          {status: 424, want: "The service could not reach another system that it needs. Try again later."},
		"424 of a computer":            {status: 424, route: "/api/v0/computers/{computerId}/files/{fileName}/create-upload", want: "The computer's daemon or the file storage could not be reached. Check that the computer is active, then try again."},
		"429":                          {status: 429, want: "The service's rate limit was exceeded, and the provider stopped waiting." + slow},
		"429 with a long Retry-After":  {status: 429, retryAfter: "86400", want: "The service's rate limit requires a longer wait than the provider allows. The service returned Retry-After 86400. Try again after that time."},
		"429 with Retry-After":         {status: 429, retryAfter: "7", want: "The service's rate limit was exceeded, and the provider stopped waiting. The service returned Retry-After 7." + slow},
		"500 of a POST":                {status: 500, want: "The service failed. Try again later. " + acted},
		"500 of a PATCH":               {status: 500, method: "PATCH", want: failed + " " + acted},
		"502 of a DELETE":              {status: 502, method: "DELETE", want: failed + " " + acted},
		"503 of a PUT":                 {status: 503, method: "PUT", want: failed + " " + acted},
		"504 of a GET":                 {status: 504, method: "GET", want: failed},
		"507 of a GET":                 {status: 507, method: "GET", want: "The service failed. Try again later."},
		"501":                          {status: 501, want: "This server does not offer the operation."},
		"405":                          {status: 405, want: "The service does not return this status for this request. Check base_url."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &transport.APIError{
				Operation: "useThing", Method: cmp.Or(tc.method, "POST"), Route: cmp.Or(tc.route, fixedRoute),
				Status: tc.status, Detail: cmp.Or(tc.detail, "no"), RetryAfter: tc.retryAfter, TooLong: tc.retryAfter == "86400", FromService: true,
			}
			verb, known := cmp.Or(tc.verb, "create"), AtStatus{}
			if tc.known.String() != "" {
				known[tc.status] = tc.known
			}
			at, what, remedy := translate(t, verb, fmt.Errorf("wrapped: %w", e), thingFields, tc.advice, known)
			if at != tc.at || remedy != tc.want {
				t.Errorf("at %q:\n%s\nwant at %q:\n%s", at, remedy, tc.at, tc.want)
			}
			if want := sentence("wrapped: " + e.Error()); what != want {
				t.Errorf("got %q, want %q", what, want)
			}
		})
	}
}

// The error of an unknown ID says how to look up a name, if an argument has one.
func TestFor_idsThatMayBeNames(t *testing.T) {
	t.Parallel()
	const hint = `If "ci" is the service account's name, look up the ID with the data source agentyard_service_account.`
	account, source := path.Root("service_account_id"), path.Root("source_id")
	for name, tc := range map[string]struct {
		status   int
		options  Options
		at, want string
	}{
		"at the argument":      {404, Options{AtStatus{404: account}}, "service_account_id", `No service account with the ID "ci" exists, or the provider's API key cannot see it. ` + hint},
		"with advice":          {404, Options{AtStatus{404: account}, Advice{404: "Do that."}}, "service_account_id", "Do that. " + hint},
		"at no argument":       {404, Options{Advice{404: "Do that."}}, "", "Do that. " + hint},
		"at another argument":  {404, Options{AtStatus{404: source}, Advice{404: "Do that."}}, "source_id", "Do that."},
		"400 at the argument":  {400, Options{AtStatus{400: account}, Advice{400: "Do that."}}, "service_account_id", "Do that. " + hint},
		"with another status":  {409, Options{AtStatus{409: account}, Advice{409: "Do that."}}, "service_account_id", "Do that."},
		"400 at no argument":   {400, Options{Advice{400: "Do that."}}, "", "Do that."},
		"without the argument": {404, Options{Advice{404: "Do that."}, Given(func(string) string { return "" })}, "", "Do that."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := Given(func(argument string) string {
				return map[string]string{"service_account_id": "ci", "name": "n"}[argument]
			})
			err := &transport.APIError{Operation: "useThing", Method: "POST", Route: idRoute, Status: tc.status, Detail: "no", FromService: true}
			at, _, remedy := translate(t, "create", err, given, tc.options)
			if at != tc.at || remedy != tc.want {
				t.Errorf("at %q:\n%s\nwant at %q:\n%s", at, remedy, tc.at, tc.want)
			}
		})
	}
}

func TestFor_requestsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	const (
		network   = "Check base_url, the network, and any proxy."
		slow      = "The service did not respond within request_timeout. To allow more time, raise request_timeout in the provider block."
		outOfTime = "The operation exceeded its timeout. To allow more time, raise it in the timeouts block."
	)
	for timeout, want := range map[string]string{"": network, "request_timeout": slow, "timeouts": outOfTime} {
		for _, changes := range []bool{true, false} {
			for _, unsent := range []bool{true, false} {
				for _, verb := range []string{"create", "read", "update", "delete"} {
					e := &transport.TransportError{Operation: "useThing", Method: "PATCH", Route: idRoute, Unsent: unsent, Changes: changes, Timeout: timeout, Err: errors.New("EOF")}
					want := want + " Then run again."
					if changes && !unsent {
						want = strings.TrimSuffix(want, "Then run again.") + acted
					}
					if _, what, remedy := translate(t, verb, fmt.Errorf("wrapped: %w", e)); remedy != want || !strings.Contains(what, "useThing") || !strings.Contains(what, "EOF") {
						t.Errorf("changes %t, unsent %t, timeout %q, %s: %s\n%s\nwant:\n%s", changes, unsent, timeout, verb, what, remedy, want)
					}
				}
			}
		}
	}
}

func TestFor_whatElseGoesWrong(t *testing.T) {
	t.Parallel()
	sent := &transport.TransportError{Operation: "createThing", Changes: true, Err: errors.New("EOF")}
	const appears = "Apply again. If the object exists by then, an error reports its ID, and no duplicate is created."
	for name, tc := range map[string]struct {
		err                error
		want, remedy, also string
	}{
		"lost": {
			err:  &create.LostError{Object: "computer", Name: "n", Err: sent},
			want: "The request to create the computer \"n\" has an unknown outcome, and no such computer was found:", remedy: appears,
		},
		"lost after request_timeout": {
			err:    &create.LostError{Object: "computer", Name: "n", Err: &transport.TransportError{Changes: true, Timeout: "request_timeout", Err: context.DeadlineExceeded}},
			remedy: "The service did not respond within request_timeout. To allow more time, raise request_timeout in the provider block. " + appears,
		},
		"504 for a slow read, which is not repeated": {
			err:  &transport.APIError{Operation: "scanThings", Method: "GET", Status: 504, Detail: "late", FromService: true, Slow: true},
			want: "scanThings", remedy: "The service failed. Try again later.",
		},
		"lost after the time of a slow operation": {
			err:    &create.LostError{Object: "computer", Name: "n", Err: &transport.TransportError{Changes: true, Timeout: "request_timeout", AtLeast: 5 * time.Minute, Err: context.DeadlineExceeded}},
			remedy: "The service did not respond within 5m0s, the minimum for this operation. To allow more time, set a higher request_timeout in the provider block. " + appears,
		},
		"lost, and the look failed too": {
			err:  &create.LostError{Object: "computer", Name: "n", Err: errors.Join(sent, &transport.APIError{Operation: "listThings", Method: "GET", Status: 500, Detail: "no", FromService: true})},
			want: "createThing", also: "listThings", remedy: appears,
		},
		"a write without an answer, and a read that failed": {
			err:  errors.Join(sent, &transport.APIError{Operation: "listThings", Method: "GET", Status: 507, Detail: "no", FromService: true}),
			want: "createThing", also: "listThings", remedy: "The service failed. Try again later. " + acted,
		},
		"interrupted":          {err: context.Canceled, want: "Context canceled.", remedy: "The run was interrupted. To continue, run again."},
		"interrupted read":     {err: &transport.TransportError{Err: context.Canceled}, remedy: "The run was interrupted. To continue, run again."},
		"interrupted write":    {err: &transport.TransportError{Changes: true, Err: context.Canceled}, remedy: "The run was interrupted. " + acted},
		"interrupted, unsent":  {err: &transport.TransportError{Changes: true, Unsent: true, Err: context.Canceled}, remedy: "The run was interrupted. To continue, run again."},
		"deadline of a wait":   {err: fmt.Errorf("waiting: %w", context.DeadlineExceeded), remedy: "The operation exceeded its timeout. To allow more time, raise it in the timeouts block. Then run again."},
		"deadline of a look":   {err: &transport.TransportError{Err: context.DeadlineExceeded}, remedy: "Check base_url, the network, and any proxy. Then run again."},
		"too large":            {err: transport.NewTransportError(transport.Operation{}, transport.ErrTooLarge), remedy: "Read less, for example with max_results."},
		"unconfigured":         {err: &transport.UnconfiguredError{Setting: "base_url"}, want: "The provider's base_url is not known yet.", remedy: "If the plan creates the resource that base_url depends on, or updates it in place, such as a key that is rotated, first run terraform apply -target=ADDRESS with its address. If the plan replaces or destroys it, undo that change first."},
		"anything else":        {err: errors.New("odd"), want: "Odd."},
		"an answer and a wait": {err: errors.Join(errors.New("odd"), context.DeadlineExceeded), want: "Odd.\n", also: "Context deadline exceeded.", remedy: "The operation exceeded its timeout. To allow more time, raise it in the timeouts block. Then run again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, what, remedy := translate(t, "create", tc.err, thingFields)
			if at != "" || remedy != tc.remedy || !strings.Contains(what, tc.want) || !strings.Contains(what, tc.also) {
				t.Errorf("at %q: %s\n%s\nwant %q, %q and:\n%s", at, what, remedy, tc.want, tc.also, tc.remedy)
			}
		})
	}
}

func TestFor_whatExistsAlready(t *testing.T) {
	t.Parallel()
	made := func(object, id string) wire.Ref {
		return wire.Ref{Object: object, Name: "n", ID: id, ImportID: "import-" + id, CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	}
	taken := func(object string) error { return &create.ExistsError{Found: []wire.Ref{made(object, "1")}} }
	said := func(article, id string) string {
		return fmt.Sprintf("%s named \"n\" already exists with ID %s, created at 2026-03-01T00:00:00Z.", article, id)
	}
	sent := &transport.TransportError{Operation: "createThing", Method: "POST", Route: fixedRoute, Changes: true, Err: errors.New("EOF")}
	sweep := Existing(func(e wire.Ref) string { return "Or sweep " + e.ID + "." })
	others := &computers.ForeignComputersError{Prefix: "web", Account: "sa", Found: []computers.Computer{{ID: "1", Name: "web-1"}, {ID: "2", Name: "web-2"}}}
	const (
		exists  = "Nothing was created.\nIf this run deletes it, apply again.\n"
		exist   = "Nothing was created.\nIf this run deletes them, apply again.\n"
		moved   = "\nIf you renamed the resource, add a moved block."
		replace = "\nIf the resource is replaced with create_before_destroy, change the name too."
		adopt   = "If no resource manages it, in this or another configuration, import it:"
		adopt2  = "If no resource manages them, in this or another configuration, import them:"
		another = "\nOtherwise, apply again to create another one."
	)
	for name, tc := range map[string]struct {
		err     error
		options []Option
		at      string
		want    []string
		remedy  string
	}{
		"one": {
			err: fmt.Errorf("%w", taken("computer")), options: []Option{thingFields}, at: "name", want: []string{said("A computer", "1")},
			remedy: exists + adopt + " terraform import ADDRESS import-1" + moved + replace,
		},
		"one without a name attribute": {
			err: taken("computer"), want: []string{said("A computer", "1")},
			remedy: exists + adopt + " terraform import ADDRESS import-1" + moved + replace,
		},
		"another remedy": {
			err: taken("API key"), options: []Option{thingFields, sweep}, at: "name", want: []string{said("An API key", "1")},
			remedy: exists + adopt + " terraform import ADDRESS import-1\nOr sweep 1." + moved,
		},
		"two": {
			err: &create.ExistsError{Found: []wire.Ref{{Object: "API key", Name: "n", ID: "1", ImportID: "import-1"}, made("API key", "2")}}, options: []Option{thingFields, sweep}, at: "name",
			want:   []string{"An API key named \"n\" already exists with ID 1; others with this name: 2 (created at 2026-03-01T00:00:00Z)."},
			remedy: exist + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2\nOr sweep 1.\nOr sweep 2." + moved,
		},
		"two of which the same is said": {
			err: &create.ExistsError{Found: []wire.Ref{{Object: "computer", Name: "n", ID: "1", ImportID: "import-1"}, made("computer", "2")}}, options: []Option{thingFields}, at: "name",
			remedy: exist + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2" + moved + replace,
		},
		"computers with a fleet's names": {
			err: others, options: []Option{Fields{"namePrefix": path.Root("name_prefix")}, sweep}, at: "name_prefix",
			want:   []string{"Computers named \"web-<number>\" exist that do not belong to this fleet: web-1 (1), web-2 (2)."},
			remedy: exist + adopt2 + " terraform import ADDRESS sa/web\nOr sweep 1.\nOr sweep 2." + moved,
		},
		"computers with a fleet's names after a lost answer": {
			err: &computers.ForeignComputersError{Prefix: "web", Found: others.Found[:1], Err: sent}, options: []Option{sweep},
			want:   []string{"nothing proves which of them it created", "createThing"},
			remedy: "No object was changed or added to the state.\n" + adopt + " terraform import ADDRESS web\nOr sweep 1.",
		},
		"two after a lost answer": {
			err: &create.LostError{Object: "computer", Name: "n", Found: []wire.Ref{made("computer", "1"), made("computer", "2")}, Err: sent}, options: []Option{thingFields},
			want:   []string{"unknown outcome", "createThing", "may have created", "1 (created at", "2 (created at"},
			remedy: "No object was changed or added to the state.\n" + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2",
		},
		"one after a lost answer, without a name": {
			err: &create.LostError{Object: "session on the computer 7", Found: []wire.Ref{made("session", "1")}, Err: sent}, options: []Option{sweep},
			want:   []string{"The request to create the session on the computer 7 has an unknown outcome, and it may have created 1 (created at"},
			remedy: "No object was changed or added to the state.\n" + adopt + " terraform import ADDRESS import-1" + another,
		},
		"none after a lost answer, without a name": {
			err: &create.LostError{Object: "session on the computer 7", Err: sent}, options: []Option{sweep},
			want:   []string{"and no such session on the computer 7 was found: createThing"},
			remedy: "It may still appear. Before you apply again, check the service: the next apply creates another one.",
		},
		"an answer with another object": {
			err: &create.WrongObjectError{Object: "computer", Name: "n", Found: made("computer", "1"), Problem: "existed before"}, options: []Option{thingFields},
			want:   []string{"The request to create the computer \"n\" returned the wrong object, 1 (created at", "it existed before."},
			remedy: "The state was not changed. Before you apply again, check the service for what the request created.",
		},
		"an answer that is none": {
			err:    &transport.TransportError{Operation: "changeThing", Method: "PATCH", Route: idRoute, Changes: true, Err: &wire.ResponseError{Problem: "it has no ID"}},
			want:   []string{"changeThing", "it has no ID."},
			remedy: "The state was not changed. Check base_url, the network, and any proxy. The service may have completed the request. It is safe to run again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, what, remedy := translate(t, "create", tc.err, tc.options...)
			if at != tc.at || remedy != tc.remedy {
				t.Errorf("at %q:\n%s\nwant at %q:\n%s", at, remedy, tc.at, tc.remedy)
			}
			for _, want := range tc.want {
				if !strings.Contains(what, want) {
					t.Errorf("%q is not in %q", want, what)
				}
			}
		})
	}
}

// An area's own remedy comes before the general one, and is shown at its field if the object has it.
func TestFor_ownRemedies(t *testing.T) {
	t.Parallel()
	notFound := &transport.APIError{Operation: "getThing", Method: "GET", Route: idRoute, Status: 404, Detail: "no", FromService: true}
	own := Own(func(err error) (remedy, field string) {
		if errors.Is(err, notFound) {
			return "Do that.", "email"
		}
		return "", ""
	})
	for _, tc := range []struct {
		err      error
		fields   Fields
		at, want string
	}{
		{fmt.Errorf("wrapped: %w", notFound), Fields{"email": path.Root("email")}, "email", "Do that."},
		{notFound, nil, "", "Do that."},
		{&transport.APIError{Status: 400, FromService: true}, nil, "", "Correct the configuration."},
	} {
		if at, what, remedy := translate(t, "create", tc.err, tc.fields, own); at != tc.at || remedy != tc.want {
			t.Errorf("%s: at %q: %s, want at %q: %s", what, at, remedy, tc.at, tc.want)
		}
	}
}

// Every error says what went wrong and what to do, in sentences, and only once.
func TestFor_matrix(t *testing.T) {
	t.Parallel()
	for _, status := range []int{302, 400, 401, 402, 403, 404, 405, 408, 409, 413, 422, 424, 429, 499, 500, 501, 502, 503, 504, 507} {
		mayHaveActed := status >= 500 && status != 501 || status == 408 || status == 499
		for _, fromService := range []bool{true, false} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
				for _, verb := range []string{"create", "read", "list", "update", "delete", "restart"} {
					e := &transport.APIError{Operation: "useThing", Method: method, Route: idRoute, Status: status, Detail: "no", FromService: fromService}
					at, what, remedy := translate(t, verb, e)
					where := fmt.Sprintf("%d, from the service %t, %s, %s: %s\n%s", status, fromService, method, verb, what, remedy)
					if at != "" || !strings.HasSuffix(what, ".") || !strings.HasSuffix(remedy, ".") || strings.Contains(remedy, "\n") || strings.Contains(remedy, "  ") {
						t.Errorf("no sentences: %s", where)
					}
					if has := strings.Contains(remedy, "may have completed"); has != (mayHaveActed && method != http.MethodGet) {
						t.Errorf("acted %t: %s", has, where)
					}
					if !fromService && !strings.Contains(remedy, "base_url") {
						t.Errorf("base_url is not named: %s", where)
					}
					if strings.Contains(remedy, "max_retries") && (status < 500 || method == http.MethodPost) {
						t.Errorf("nothing was repeated: %s", where)
					}
				}
			}
		}
	}
}

func TestFor_tierOfServiceAccounts(t *testing.T) {
	t.Parallel()
	err := &transport.APIError{Operation: "createServiceAccount", Method: "POST", Route: "/api/v0/service-accounts", Status: 402, FromService: true}
	if _, _, remedy := translate(t, "create", err); remedy != "The organization's plan does not include this. Upgrade the plan to the Team tier or higher, or remove the computer from the configuration." {
		t.Error(remedy)
	}
}
