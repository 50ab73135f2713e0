package contract

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// exchanges yields an exchange for each operation, status, and form of a choice: every parameter, field, and header is there.
// The function change gets each text that a service or a person could have written, and returns what is there instead.
func exchanges(t *testing.T, d *Document, forms []int, change func(any) any, yield func(x *Exchange)) {
	t.Helper()
	for i := range d.routes {
		rt := &d.routes[i]
		path, query := rt.Path, url.Values{}
		for _, ref := range slices.Concat(rt.declared.PathItem.Parameters, rt.declared.Operation.Parameters) {
			value := fmt.Sprint(change(sample(ref.Value.Schema.Value, 0, 0)))
			if ref.Value.In == openapi3.ParameterInPath {
				path = strings.ReplaceAll(path, "{"+ref.Value.Name+"}", url.PathEscape(value))
			} else {
				query.Set(ref.Value.Name, value)
			}
		}
		for _, form := range forms {
			var sent []byte
			if body := rt.declared.Operation.RequestBody; body != nil {
				sent = mustJSON(change(sample(body.Value.Content["application/json"].Schema.Value, form, 0)))
			}
			for status, response := range rt.declared.Operation.Responses.Map() {
				x := &Exchange{Request: httptest.NewRequestWithContext(t.Context(), rt.Method, path+"?"+query.Encode(), nil), Sent: sent, Header: http.Header{}}
				x.Request.Header.Set("Authorization", fmt.Sprint("Bearer ", strings.ReplaceAll(fmt.Sprint(change("key")), " ", "")))
				x.Request.Header.Set("Content-Type", "application/json")
				x.Status, _ = strconv.Atoi(status)
				for name, header := range response.Value.Headers {
					x.Header.Set(name, fmt.Sprint(change(sample(header.Value.Schema.Value, 0, 0))))
				}
				if media := response.Value.Content["application/json"]; media != nil {
					x.Header.Set("Content-Type", "application/json")
					x.Received = mustJSON(change(sample(media.Schema.Value, form, 0)))
				}
				yield(x)
			}
		}
	}
}

// An object in a field of its own is one deviation, and what else differs inside is another one.
func TestCheck_namesAWrappedObject(t *testing.T) {
	t.Parallel()
	d, wrapped := document(t), 0
	exchanges(t, d, []int{0, 1}, func(v any) any { return v }, func(x *Exchange) {
		if x.Status >= 300 || !strings.HasPrefix(string(x.Received), `{"`) {
			return
		}
		wrapped++
		x.Received = fmt.Appendf(nil, `{"noun":{"colour":"red",%s}`, x.Received[1:])
		c := d.Check(t.Context(), x)
		var got []string
		for _, deviation := range c.Response {
			got = append(got, fmt.Sprintf("%s at %s: %s", deviation.Kind, deviation.Place, deviation.Found))
		}
		if want := "wrapped at /: a field noun with the object"; len(got) == 0 || len(got) > 2 || got[0] != want || len(got) == 2 && got[1] != "new field at /noun/colour: string" {
			t.Errorf("%s: got %q", c.Operation.ID, got)
		}
	})
	if wrapped < 50 {
		t.Errorf("only %d answers were wrapped", wrapped)
	}
}

// An assumption about a form that no exchange could confirm would be "not seen" forever.
func TestCheck_confirmsEachForm(t *testing.T) {
	t.Parallel()
	d, confirmed := document(t), map[string]bool{}
	exchanges(t, d, []int{0, 1, 2, 3, 4, 5}, func(v any) any { return v }, func(x *Exchange) {
		c := d.Check(t.Context(), x)
		for _, id := range c.Confirmed {
			confirmed[id] = true
		}
	})
	for _, a := range d.Assumptions() {
		if a.Rule == confirmed[a.ID] {
			t.Errorf("%s (%s): a rule is %t, and confirmed by a form is %t", a.ID, a.Place, a.Rule, confirmed[a.ID])
		}
	}
}

// canaries are texts that a service or a person may have written anywhere.
var canaries = []string{
	"sk_live_4eC39HqLyjWDarjtT1zdp7dc", "AKIAIOSFODNN7CANARY1", "ghp_canary16C7e42F292c6912E7710c838347Ae178B4a",
	"c0ffee00-0000-4000-8000-00000000cafe", "Ada", "Ada Lovelace", "ada.lovelace@canary.example", "https://canary.example/secret",
	"Fix the login of Ada before the canary sings.", "eyJhbGciOiJIUzI1NiJ9.canary.sig", "10.99.88.77",
}

// poison replaces all texts in a value with one canary after the other, adds fields that the contract does not have, and gives
// each open object keys of its own.
func poison(v any, next func() string) any {
	switch v := v.(type) {
	case string:
		return next()
	case []any:
		for i := range v {
			v[i] = poison(v[i], next)
		}
		return append(v, next())
	case map[string]any:
		poisoned := map[string]any{next(): next(), "colour": map[string]any{"ada": next(), next(): []any{next(), map[string]any{"ada": 1}}}}
		for name, field := range v {
			poisoned[name] = poison(field, next)
			if name == "any key" {
				poisoned[next()] = poisoned[name]
				delete(poisoned, name)
			}
		}
		return poisoned
	default:
		return v
	}
}

func TestCheck_showsNoValues(t *testing.T) {
	t.Parallel()
	d, found, used := document(t), 0, 0
	next := func() string {
		used++
		return canaries[used%len(canaries)]
	}
	look := func(x *Exchange) {
		c := d.Check(t.Context(), x)
		shown := []any{c.Operation, c.Confirmed}
		for _, deviation := range slices.Concat(c.Request, c.Response) {
			found++
			shown = append(shown, deviation.Kind, deviation.Place, deviation.Expected, deviation.Found, deviation.Assumption)
		}
		text := strings.ToLower(string(mustJSON(shown)))
		for _, canary := range append(canaries, "canary", `ada"`, "/ada") {
			if canary != "Ada" && strings.Contains(text, strings.ToLower(canary)) {
				t.Fatalf("%q in %s", canary, text)
			}
		}
	}
	exchanges(t, d, []int{0, 1, 2, 3}, func(v any) any { return poison(v, next) }, func(x *Exchange) {
		look(x)
		other := *x
		other.Request = x.Request.Clone(t.Context())
		other.Request.URL.RawQuery = url.Values{next(): {next()}}.Encode()
		other.Status, other.Header = 418, http.Header{"Content-Type": {next()}, next(): {next()}}
		look(&other)
		other.Status, other.Received = 200, []byte(next())
		look(&other)
		other.Request.URL.Path += "/" + next() // No operation.
		look(&other)
	})
	if found < 1000 {
		t.Errorf("only %d deviations", found)
	}
}

func TestShownWord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		known []any
		given any
		want  string
	}{
		{[]any{"active", "error"}, "asleep", "asleep"},
		{[]any{"active", "error"}, "Active", "Active"},
		{[]any{"active", "error"}, "Ada", "another string"},
		{[]any{"active", "error"}, "not a word", "another string"},
		{[]any{"auto-low"}, "auto-xhigh2", "auto-xhigh2"},
		{[]any{"auto-low"}, "a1b2c3", "another string"},
		{[]any{"ACTIVE"}, "ASLEEP", "ASLEEP"},
		{[]any{"active"}, 7, "another number"},
	} {
		check.Is(t, fmt.Sprint(tc.given, " of ", tc.known), shownWord(&openapi3.Schema{Enum: tc.known}, tc.given), tc.want)
	}
}

// A new field inside of each element of a long list does not make another form of the object the closest one.
func TestCheck_namesNewFieldsAlone(t *testing.T) {
	t.Parallel()
	var extend func(v any) any
	extend = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				v[name] = extend(field)
			}
			v["future"] = true
		case []any:
			for i := range v {
				v[i] = extend(v[i])
			}
			if len(v) > 0 {
				return slices.Repeat(v[:1], 9)
			}
		}
		return v
	}
	d := document(t)
	exchanges(t, d, []int{0, 1, 2, 3, 4, 5}, func(v any) any { return v }, func(x *Exchange) {
		value, ok := decode(x.Received)
		if !ok {
			return
		}
		x.Received = mustJSON(extend(value))
		c := d.Check(t.Context(), x)
		for _, r := range c.Response {
			if r.Kind == MissingField || r.Kind == NewField && !strings.HasSuffix(r.Place, "/future") {
				t.Errorf("%s %d: %s at %s", c.Operation.ID, x.Status, r.Kind, r.Place)
			}
		}
	})
}
