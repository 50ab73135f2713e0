package crud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

var (
	errRefused  = &transport.APIError{Op: transport.Operation{Name: "doThing"}, Status: 400, Detail: "odd", FromService: true}
	errNotFound = &transport.APIError{Op: transport.Operation{Name: "doThing"}, Status: 404, Detail: "none", FromService: true}
	errGone     = fmt.Errorf("looking: %w", &collection.MissingError{Err: errNotFound})
)

var anyThing = &Resource{Client: client.Unconfigured("api_key", clock.System), Name: "thing"}

// said formats diagnostics, one per line: "Error: summary: detail".
func said(diags diag.Diagnostics) string {
	var lines []string
	for _, d := range diags {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", d.Severity(), d.Summary(), d.Detail()))
	}
	return strings.Join(lines, "\n")
}

// tells fails the test unless there is exactly one diagnostic, with this start and these parts. An empty start means none.
func tells(t *testing.T, diags diag.Diagnostics, start string, parts ...string) {
	t.Helper()
	text := said(diags)
	if start == "" && text != "" || len(diags) > 1 || !strings.HasPrefix(text, start) {
		t.Errorf("said %q, want %q", text, start)
	}
	check.Says(t, text, parts...)
}

// private returns an empty private state, whose type is in an internal package.
func private[T any](*T) *T { return new(T) }

func noIdentity() *tfsdk.ResourceIdentity {
	schema := IDSchema("The ID.")
	return &tfsdk.ResourceIdentity{Schema: schema, Raw: tftypes.NewValue(schema.Type().TerraformType(context.Background()), nil)}
}

func idIn(t *testing.T, identity *tfsdk.ResourceIdentity) string {
	t.Helper()
	var id types.String
	if diags := identity.GetAttribute(t.Context(), path.Root("id"), &id); diags.HasError() {
		t.Fatal(diags)
	}
	return id.ValueString()
}

func prior() tfsdk.State { return stateOf(map[string]string{"id": "1", "name": "a", "mood": "calm"}) }

// bare is a thing without an identity.
type bare struct{ thingModel }

func (*bare) Identity() any { return nil }

func TestCreate(t *testing.T) {
	t.Parallel()
	create := func(made *thing, err error) (*resource.CreateResponse, *thingModel, *thing) {
		req := resource.CreateRequest{Plan: tfsdk.Plan{Raw: raw(map[string]string{"id": "?", "name": "a", "mood": "?"}), Schema: thingSchema}}
		resp := &resource.CreateResponse{State: tfsdk.State{Raw: tftypes.NewValue(thingType, nil), Schema: thingSchema}, Identity: noIdentity()}
		resp.Private = private(resp.Private)
		m, got := Create(t.Context(), anyThing, req, resp, func(_ context.Context, m *thingModel) (*thing, error) {
			check.Is(t, "the planned name", m.Name.ValueString(), "a")
			return made, err
		})
		return resp, m, got
	}
	record := &thing{"1", "a", "calm"}
	made, m, got := create(record, nil)
	tells(t, made.Diagnostics, "")
	if got != record || m == nil || m.Mood.ValueString() != "calm" {
		t.Errorf("returned %+v and %+v", m, got)
	}
	if id, mood := get(t, made.State, "id"), get(t, made.State, "mood"); id != "1" || mood != "calm" || idIn(t, made.Identity) != "1" {
		t.Errorf("stored %s, %s with the identity %s", id, mood, idIn(t, made.Identity))
	}
	for start, err := range map[string]error{
		"Error: Cannot create thing: doThing":  errRefused,
		"Error: Odd: The plan cannot be read.": Failure(diag.Diagnostics{diag.NewErrorDiagnostic("Odd", "The plan cannot be read.")}),
	} {
		failed, m, got := create(nil, err)
		tells(t, failed.Diagnostics, start)
		if !failed.State.Raw.IsNull() || m != nil || got != nil {
			t.Errorf("a creation that failed with %v stored %v, and returned %+v and %+v", err, failed.State.Raw, m, got)
		}
	}
}

// What only the cause of an error decides is added to what the call knows.
func TestExplained(t *testing.T) {
	t.Parallel()
	check.Must(t, Explained(nil))
	diags := explain("update", "thing", Explained(errRefused, apierror.Advice{400: "Choose another mood."}), []apierror.Option{apierror.AtStatus{400: path.Root("mood")}})
	tells(t, diags, "Error: Cannot update thing: ", "Choose another mood.")
	if at, ok := diags[0].(diag.DiagnosticWithPath); !ok || !at.Path().Equal(path.Root("mood")) {
		t.Errorf("the argument at fault is missing: %v", diags)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	unknown := &transport.UnconfiguredError{Setting: "base_url"}
	for name, tc := range map[string]struct {
		found    *thing
		err      error
		imported bool
		tells    string
		parts    []string
		// mood is the expected value in the state. Empty if the state is empty.
		mood string
		// unidentified means that no identity is set.
		unidentified bool
	}{
		"it is there":                    {found: &thing{"1", "a", "busy"}, mood: "busy"},
		"it was just imported":           {found: &thing{"1", "a", "busy"}, imported: true, mood: "imported"},
		"it is gone":                     {err: errGone, tells: "Warning: Thing not found: The thing 1 no longer exists. It is removed from the state. If it is still configured, the next apply creates it again."},
		"it is gone during an import":    {err: errGone, imported: true, mood: "calm", unidentified: true, tells: `Error: Cannot import thing: No thing with the ID "1" exists, or the provider's API key cannot see it. Check the ID.`},
		"it is not set during an import": {err: &UnsetError{}, imported: true, mood: "calm", unidentified: true, tells: "Error: Cannot import thing: No thing is set. To set one, apply without the import."},
		"it is not set":                  {err: &UnsetError{}, tells: "Warning: Thing is not set: No thing is set. It is removed from the state. If it is still configured, the next apply sets it again."},
		"a plain 404":                    {err: errNotFound, tells: "Error: Cannot read thing: ", mood: "calm", unidentified: true},
		"it was refused":                 {err: errRefused, tells: "Error: Cannot read thing: ", mood: "calm", unidentified: true},
		"a setting is unknown":           {err: unknown, mood: "calm", tells: "Warning: State not refreshed: The provider's base_url is not known yet"},
		"a setting is unknown during an import": {
			err: unknown, imported: true, mood: "calm", unidentified: true,
			tells: "Error: Cannot import thing yet: The thing cannot be read, because the provider's base_url is not known yet", parts: []string{"First apply what base_url depends on"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp := &resource.ReadResponse{State: prior(), Identity: noIdentity()}
			resp.Private = private(resp.Private)
			if tc.imported {
				privatestate.MarkImported(t.Context(), resp.Private)
			}
			Read(t.Context(), anyThing, resource.ReadRequest{State: prior()}, resp, func(m *thingModel) (*thing, error) {
				check.Is(t, "the prior ID", m.ID.ValueString(), "1")
				return tc.found, tc.err
			})
			tells(t, resp.Diagnostics, tc.tells, tc.parts...)
			check.Is(t, "has no identity", idIn(t, resp.Identity) == "", tc.unidentified)
			if tc.mood == "" {
				check.Is(t, "the state is empty", resp.State.Raw.IsNull(), true)
				return
			}
			var m thingModel
			if diags := resp.State.Get(t.Context(), &m); diags.HasError() || m.Mood.ValueString() != tc.mood || m.Wait.ValueBool() != (tc.err == nil) {
				t.Errorf("the state holds %+v, %v", m, diags)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		updated *thing
		err     error
		tells   string
		name    string
		// adopts means that values can still be adopted after an import.
		adopts bool
	}{
		"the service answers": {updated: &thing{"1", "B", "busy"}, name: "b"},
		"nothing was sent":    {name: "b"},
		"it was refused":      {err: errRefused, tells: "Error: Cannot update thing: ", name: "a", adopts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := resource.UpdateRequest{
				Config: tfsdk.Config{Raw: raw(map[string]string{"name": "b"}), Schema: thingSchema},
				Plan:   tfsdk.Plan{Raw: raw(map[string]string{"id": "1", "name": "b", "mood": "calm"}), Schema: thingSchema},
				State:  prior(),
			}
			resp := &resource.UpdateResponse{State: prior(), Identity: noIdentity()}
			resp.Private = private(resp.Private)
			privatestate.MarkImported(t.Context(), resp.Private)
			stored := Update(t.Context(), anyThing, req, resp, func(plan, state *thingModel) (*thing, error) {
				if plan.Name.ValueString() != "b" || state.Name.ValueString() != "a" {
					t.Errorf("from %v to %v", state.Name, plan.Name)
				}
				return tc.updated, tc.err
			})
			tells(t, resp.Diagnostics, tc.tells)
			if (stored == nil) != (tc.err != nil) || stored != nil && stored.Name.ValueString() == "a" {
				t.Errorf("returned %+v", stored)
			}
			check.Is(t, "the name in the state", get(t, resp.State, "name"), tc.name)
			check.Is(t, "a result became in spite of the plan", get(t, resp.State, "mood"), "calm")
			check.Is(t, "has its identity", idIn(t, resp.Identity) == "1", tc.err == nil)
			check.Is(t, "arguments are adopted after it", privatestate.MayAdopt(t.Context(), resp.Private, types.StringNull()), tc.adopts)
		})
	}
}

// Terraform shows no address with an error of a delete, so the error names the object.
func TestDelete(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state map[string]string
		err   error
		tells string
	}{
		"it is deleted":      {nil, nil, ""},
		"it was gone":        {nil, errGone, ""},
		"a plain 404":        {nil, errNotFound, `Error: Cannot delete thing: Deleting the thing "a" (1): doThing`},
		"it was refused":     {nil, errRefused, `Error: Cannot delete thing: Deleting the thing "a" (1): doThing`},
		"one without a name": {map[string]string{"id": "1"}, errRefused, "Error: Cannot delete thing: Deleting the thing 1: doThing"},
		"one without an ID":  {map[string]string{"name": "a"}, errRefused, `Error: Cannot delete thing: Deleting the thing "a": doThing`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := prior()
			if tc.state != nil {
				state = stateOf(tc.state)
			}
			var resp resource.DeleteResponse
			Delete(t.Context(), anyThing, resource.DeleteRequest{State: state}, &resp, func(m *thingModel) error {
				check.Is(t, "the deleted ID", m.ID.ValueString(), get(t, state, "id"))
				return tc.err
			})
			tells(t, resp.Diagnostics, tc.tells)
		})
	}
}

func TestList_yieldsItsFailure(t *testing.T) {
	t.Parallel()
	req := list.ListRequest{Config: tfsdk.Config{Raw: raw(nil), Schema: thingSchema}, ResourceSchema: thingSchema, ResourceIdentitySchema: IDSchema("The ID.")}
	broken := func(yield func(thing, error) bool) { _ = yield(thing{id: "1"}, nil) && yield(thing{}, errRefused) }
	var stream list.ListResultsStream
	List[thingModel](t.Context(), "things", req, &stream, broken, func(t *thing) string { return t.id })
	var results []list.ListResult
	for result := range stream.Results {
		results = append(results, result)
	}
	if len(results) != 2 || results[0].DisplayName != "1" {
		t.Fatalf("got %v", results)
	}
	tells(t, results[0].Diagnostics, "")
	tells(t, results[1].Diagnostics, "Error: Cannot list things: ")
	check.Is(t, "the identity", idIn(t, results[0].Identity), "1")
	check.Is(t, "the resource that nobody asked for is left out", results[0].Resource.Raw.IsNull(), true)
}

// The state identifies the object even if the CLI does not support identities.
func TestGone_withoutAnIdentity(t *testing.T) {
	t.Parallel()
	resp := &resource.ReadResponse{State: prior()}
	HandleGone(t.Context(), &Resource{Client: anyThing.Client, Name: "api_key"}, &bare{}, resp)
	tells(t, resp.Diagnostics, "Warning: API key not found: The API key 1 no longer exists.")
}

// hideable is a thing that may be visible only to its owner.
type hideable struct{ thingModel }

func (m *hideable) OwnerOnly() bool { return m.Mood.ValueString() == "shy" }

// providers answers each request as the list of providers, which shows that base_url leads to the API.
type providers struct{}

func (providers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"providers": []}`)), Request: r}, nil
}

// keyed returns a client with an API key and a key_owner, which may be empty.
func keyed(t *testing.T, key, owner string) *client.Client {
	t.Helper()
	c, err := client.New(transport.Config{BaseURL: "https://api.agentyard.example", APIKey: key, KeyOwner: owner, Transport: providers{}})
	check.Must(t, err)
	return c
}

// An owner-only object is gone only if the API key that last read it, or a key of the same key_owner, gets a 404. The warning
// about any other object says that it was last read with another one.
func TestGone_withAnotherKey(t *testing.T) {
	t.Parallel()
	const (
		other      = " It was last read with another API key or key_owner."
		prevention = " If each run uses a new key, set key_owner in the provider block to prevent this error."
	)
	own, successor := keyed(t, "own", ""), keyed(t, "successor", "")
	owned, ownedSuccessor, stranger := keyed(t, "own", "ci"), keyed(t, "successor", "ci"), keyed(t, "own", "blue")
	for name, tc := range map[string]struct {
		saw, asks *client.Client
		// reader is empty if the object is gone.
		reader string
		// prevention is the last sentence of the error.
		prevention string
	}{
		"the same key":                         {saw: own, asks: own},
		"another key":                          {saw: own, asks: successor, reader: other, prevention: prevention},
		"a state without a mark":               {asks: successor},
		"another key of the same owner":        {saw: owned, asks: ownedSuccessor},
		"a key of another owner":               {saw: owned, asks: stranger, reader: other},
		"key_owner was set since":              {saw: own, asks: owned, reader: other},
		"key_owner was set, and a key changed": {saw: own, asks: ownedSuccessor, reader: other},
		"key_owner was removed since":          {saw: owned, asks: own, reader: other, prevention: prevention},
	} {
		for _, mood := range []string{"shy", "calm"} {
			t.Run(name+", "+mood, func(t *testing.T) {
				t.Parallel()
				state := stateOf(map[string]string{"id": "1", "name": "a", "mood": mood})
				resp := &resource.ReadResponse{State: state, Identity: noIdentity()}
				resp.Private = private(resp.Private)
				if tc.saw != nil {
					Read(t.Context(), &Resource{Client: tc.saw, Name: "thing"}, resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) {
						return &thing{"1", "a", mood}, nil
					})
				}
				Read(t.Context(), &Resource{Client: tc.asks, Name: "thing"}, resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) { return nil, errGone })
				deletion := &resource.DeleteResponse{}
				Delete(t.Context(), &Resource{Client: tc.asks, Name: "thing"}, resource.DeleteRequest{State: state, Private: resp.Private}, deletion, func(*hideable) error { return errGone })
				isHidden := mood == "shy" && tc.reader != ""
				if resp.State.Raw.IsNull() == isHidden {
					t.Errorf("the state holds %v", resp.State.Raw)
				}
				if isHidden {
					text := "Thing 1 is not visible to the provider's API key." + tc.reader + " If the thing was deleted, run terraform state rm ADDRESS. Otherwise, use a key of its owner." + tc.prevention
					equals(t, resp.Diagnostics, "Error: Cannot read thing: "+text)
					equals(t, deletion.Diagnostics, "Error: Cannot delete thing: "+text)
					return
				}
				hint, deleted := "", ""
				if tc.reader != "" {
					hint = tc.reader + " If that key belongs to another organization, do not apply."
					deleted = "Warning: Thing not found: The thing 1 was not found, so it is removed from the state." + tc.reader +
						" If that key belongs to another organization, the thing still exists there."
				}
				equals(t, resp.Diagnostics, "Warning: Thing not found: The thing 1 no longer exists. It is removed from the state. If it is still configured, the next apply creates it again."+hint)
				equals(t, deletion.Diagnostics, deleted)
			})
		}
	}
}

func equals(t *testing.T, diags diag.Diagnostics, want string) {
	t.Helper()
	check.Is(t, "said", said(diags), want)
}

// Terraform compares private state, so it must not change with every read, nor with every key of a key_owner.
func TestRecordReader_isWrittenOnce(t *testing.T) {
	t.Parallel()
	var resp resource.ReadResponse
	resp.Private = private(resp.Private)
	var marks []string
	for _, c := range []*client.Client{
		keyed(t, "own", ""), keyed(t, "own", ""), keyed(t, "own", "ci"), keyed(t, "own", "ci"), keyed(t, "successor", "ci"), keyed(t, "own", "blue"), keyed(t, "own", ""), keyed(t, "successor", ""),
	} {
		tells(t, RecordReader(t.Context(), c, resp.Private), "")
		mark, _ := resp.Private.GetKey(t.Context(), "seen_by")
		if n := len(marks); n == 0 || marks[n-1] != string(mark) {
			marks = append(marks, string(mark))
		}
		if text := string(mark); strings.Contains(text, "own\"") || strings.Contains(text, "ci") || len(text) > 64 {
			t.Errorf("the mark is %s", text)
		}
	}
	check.Is(t, "marks", len(marks), 5)
}

// What a creation found after a lost response is one warning. An ordinary creation has none.
func TestWithFound(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	computer := func(id string) create.Found {
		return create.Found{Ref: wire.Ref{Object: "computer", Name: "ci-" + id, ID: id, CreatedAt: at}}
	}
	key := create.Found{Ref: wire.Ref{Object: "API key", Name: "ci", ID: "k1", CreatedAt: at}, Revoked: "f1"}
	for name, tc := range map[string]struct {
		found []create.Found
		start string
		parts []string
	}{
		"nothing": {},
		"one": {
			[]create.Found{computer("1")}, "Warning: Found after a lost response: The response to a creation was lost or unusable.",
			[]string{`computer "ci-1" (1, created at 2026-03-01T12:00:00Z)`, "If another run created this, two states have it", "terraform state rm"},
		},
		"several": {[]create.Found{computer("1"), computer("2")}, "Warning: Found after a lost response: ", []string{`computer "ci-1" (1, `, `, "ci-2" (2, `}},
		"a key": {
			[]create.Found{key}, "Warning: Found after a lost response: The response to a request for a new API key was lost or unusable.",
			[]string{`revoked the API key "ci" (k1, created at 2026-03-01T12:00:00Z) with the fingerprint f1`, "does not work there any more"},
		},
	} {
		ctx, found := WithFound(t.Context())
		for _, f := range tc.found {
			create.NoteFound(ctx, &transport.Conn{}, f)
		}
		diags := found()
		tells(t, diags, tc.start, tc.parts...)
		check.Is(t, name+": a warning", len(diags) == 1, len(tc.found) > 0)
	}
}

func TestCreate_warnsOfWhatItFound(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errRefused} {
		req := resource.CreateRequest{Plan: tfsdk.Plan{Raw: raw(map[string]string{"id": "?", "name": "a", "mood": "?"}), Schema: thingSchema}}
		resp := &resource.CreateResponse{State: tfsdk.State{Raw: tftypes.NewValue(thingType, nil), Schema: thingSchema}, Identity: noIdentity()}
		resp.Private = private(resp.Private)
		Create(t.Context(), anyThing, req, resp, func(ctx context.Context, _ *thingModel) (*thing, error) {
			create.NoteFound(ctx, &transport.Conn{}, create.Found{Ref: wire.Ref{Object: "thing", ID: "1"}})
			return &thing{"1", "a", "calm"}, err
		})
		want := "Warning: Found after a lost response: "
		if err != nil {
			want = "Error: Cannot create thing: " // Nothing is in the state.
		}
		tells(t, resp.Diagnostics, want)
	}
}
