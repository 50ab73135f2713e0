package value

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func TestTime(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]time.Time{
		"2026-03-01T00:00:00.5Z": time.Date(2026, 3, 1, 1, 0, 0, 5e8, time.FixedZone("", 3600)),
		"2026-03-01T00:00:00Z":   time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	} {
		check.Is(t, "the time", Time(at).ValueString(), want)
	}
	if !Time(time.Time{}).IsNull() || !StringOrNull("").IsNull() || StringOrNull("a").ValueString() != "a" {
		t.Error("unset is not null")
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 70)
	// Rejected values, and the errors for them.
	for name, tc := range map[string]struct {
		validator validator.String
		good      []string
		bad       map[string]string
	}{
		"UUID": {UUID(), []string{"1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1B4E28BA-2FA1-41D2-883F-0016D3CCA427"}, map[string]string{
			"": `x must be a UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427, not "".`, "x": `not "x".`,
			"1b4e28ba2fa141d2883f0016d3cca427": "", "1b4e28ba-2fa1-41d2-883f-0016d3cca427 ": "",
		}},
		"time": {RFC3339(), []string{"2027-01-31T08:00:00Z", "2027-01-31T08:00:00.5+01:00"}, map[string]string{
			"": "", "2027-01-31": `x must be an RFC 3339 time, such as 2027-01-31T08:00:00Z, not "2027-01-31".`, "tomorrow": "",
		}},
		"duration": {DurationAtLeast(time.Second, "30s", "2m"), []string{"1s", "30d"}, map[string]string{
			"": "", "999ms": `x must be a duration of at least 1s, such as "30s", "2m", not "999ms".`, "-1h": "", "soon": `not "soon".`,
		}},
		"duration without examples": {DurationAtLeast(time.Minute), []string{"1m"}, map[string]string{"59s": `x must be a duration of at least 1m0s, not "59s".`}},
		"URI": {URI(), []string{"https://git.example/acme/app", "ssh://git@git.example/a", "urn:x:y"}, map[string]string{
			"": "", "acme/app": `x must be an absolute URI, such as https://git.example/acme/app, not "acme/app".`, "//git.example/a": "", "https://": "", "https://a b": "", ":": "",
		}},
		"repository": {RepositoryURL(), []string{"https://code.example/acme/api", "http://code.example:8080/a.git", "HTTPS://code.example/a/", "https://code.example/ä", "https://code.example/a..b/...", "https://code.example//a"}, map[string]string{
			"": "", "acme/api": `x must be the http or https URL of a repository, without a user name, whitespace, query, fragment, encoded slash, ".", or "..", such as https://code.example/acme/api, not "acme/api".`,
			"git@code.example:acme/api.git": "", "ssh://code.example/a": "", "//code.example/a": "", "https://": "", "https:///a": "", "https://code.example/a?b": "", "https://code.example/a?": "",
			"https://code.example/a#b": "", "https://code.example/a#": "", "https://code.example/a b": "", " https://code.example/a": "", "https://code.example/a\u00a0": "", "https://code.example/a\n": "",
			"https://code.example": "", "https://code.example/": "", "https://code.example/..": "", "https://code.example/a/../b": "", "https://code.example/./a": "", "https://code.example/%2E%2e/a": "",
			"https://code.example/%2f": "", "https://code.example/a%2Fb": "", "https://code.example/a%5cb": "", "https://me@code.example/a": "", "https://me:hunter2@code.example/a": `not "https://…@code.example/a".`, "https://@code.example/a": `not "https://…@code.example/a".`,
		}},
		"blank": {NotBlank("Omit it."), []string{"a", " a "}, map[string]string{"": "x must not be blank. Omit it.", " \t\n": ""}},
		"commit": {CommitHash("Omit it."), []string{"c0ffee0", "C0FFEE0", strings.Repeat("0aF9", 10)}, map[string]string{
			"": "", "HEAD": `x must be 7 to 64 hexadecimal digits, not "HEAD". Omit it.`, "c0ffee": "", "v1.2.3": "", "c0ffee0 ": "", "c0ffee0\n": "", "g0ffee0": "", strings.Repeat("0", 65): "",
		}},
		"branch": {BranchName("Omit it."), []string{"main", "feature/x", "prefs/x", "heads/refs/"}, map[string]string{
			"": "", " ": "", "refs/heads/main": `x must be the name of a branch, such as main, without refs/heads/, not "refs/heads/main". Omit it.`, "refs/tags/v1": "",
		}},
		"email": {Email(), []string{"avery@agentyard.example", "Avery.O'Neil+ci@agentyard.example", "a@b"}, map[string]string{
			"": "", "avery": `x must be an email address, such as avery@agentyard.example, not "avery".`, "avery@": "", "@agentyard.example": "",
			"Avery <avery@agentyard.example>": "", "<avery@agentyard.example>": "", "a@b, c@d": "", " a@b": "", "a@b ": "", "a b@c": "", "a@b\n": "",
		}},
		"day": {Day(), []string{"2026-02-28", "2028-02-29", "1999-12-31"}, map[string]string{
			"": "", "yesterday": `x must be a date in the format YYYY-MM-DD, such as 2026-02-28, not "yesterday".`, "2026-02-29": "", "2026-13-01": "", "2026-00-10": "", "2026-02-00": "",
			"2026-2-8": "", "2026-02-28T00:00:00Z": "", "28.02.2026": "", "02/28/2026": "", "20260228": "", "2026-02-28 ": "", " 2026-02-28": "", "26-02-28": "", "12026-02-28": "",
		}},
		"length": {Length(1, 63), []string{"a", strings.Repeat("ä", 63)}, map[string]string{
			"": "x must be 1 to 63 characters long, not 0.", long: "x must be 1 to 63 characters long, not 70.",
		}},
		"length without a least": {Length(0, 63), []string{"", "a"}, map[string]string{long: "x must be at most 63 characters long, not 70."}},
		"not empty":              {NotEmpty(), []string{"a", " "}, map[string]string{"": "x must not be empty."}},
		"one of":                 {OneOf("low", "high"), []string{"low", "high"}, map[string]string{"": "", "Low": `x must be "low" or "high", not "Low".`}},
		"except":                 {Except("own", "Use another resource."), []string{"", "other"}, map[string]string{"own": `x must not be "own". Use another resource.`}},
	} {
		checkAt := func(at path.Path, v types.String) string {
			resp := &validator.StringResponse{}
			tc.validator.ValidateString(t.Context(), validator.StringRequest{Path: at, ConfigValue: v}, resp)
			for _, d := range resp.Diagnostics {
				return d.Detail()
			}
			return ""
		}
		refusal := func(v types.String) string { return checkAt(path.Root("x"), v) }
		for _, s := range tc.good {
			check.Is(t, name+" refuses "+s, refusal(types.StringValue(s)), "")
		}
		for s, want := range tc.bad {
			if said := refusal(types.StringValue(s)); said == "" || !strings.Contains(said, want) {
				t.Errorf("%s: %q is answered %q, want %q", name, s, said, want)
			} else if inSet := checkAt(path.Root("x").AtSetValue(types.StringValue(s)), types.StringValue(s)); inSet != fmt.Sprintf("x[%q]", s)+said[1:] {
				t.Errorf("%s: %q in a set is answered %q", name, s, inSet)
			}
		}
		if refusal(types.StringNull()) != "" || refusal(types.StringUnknown()) != "" {
			t.Errorf("%s: null or unknown is refused", name)
		}
		check.Is(t, name+" lacks a description", tc.validator.MarkdownDescription(t.Context()) == "", false)
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "x must be from 1 to 2,000, not 0.", 1: "", 2000: "", 2001: "x must be from 1 to 2,000, not 2,001."} {
		resp := &validator.Int64Response{}
		Between(1, 2000).ValidateInt64(t.Context(), validator.Int64Request{Path: path.Root("x"), ConfigValue: types.Int64Value(n)}, resp)
		check.Is(t, fmt.Sprint("the response to ", n), append(resp.Diagnostics, diag.NewErrorDiagnostic("", ""))[0].Detail(), want)
	}
}

func TestPointersAndLists(t *testing.T) {
	t.Parallel()
	if StringPointer(types.StringNull()) != nil || StringPointer(types.StringUnknown()) != nil || *StringPointer(types.StringValue("")) != "" {
		t.Error("StringPointer mixes up null, unknown and empty")
	}
	if BoolPointer(types.BoolNull()) != nil || BoolPointer(types.BoolUnknown()) != nil || *BoolPointer(types.BoolValue(false)) {
		t.Error("BoolPointer mixes up null, unknown and false")
	}
	two := types.ListValueMust(types.StringType, []attr.Value{types.StringValue("a"), types.StringValue("b")})
	if strings.Join(Strings(two), "") != "ab" || Strings(types.ListNull(types.StringType)) != nil {
		t.Error("Strings mixes up null and a list")
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"b": [1, 2.50, 12345678901234567890],
		  "a": {"d": null, "c": "<x> & y"}}`: `{"a":{"c":"<x> & y","d":null},"b":[1,2.50,12345678901234567890]}`,
		` [ ] `: `[]`,
		`"x"`:   `"x"`,
		`null`:  "",
		``:      "",
	} {
		got, err := JSON(json.RawMessage(raw))
		if err != nil || got.ValueString() != want || got.IsNull() != (want == "") {
			t.Errorf("%s: got %s, %v", raw, got, err)
		}
	}
	if got, err := JSON(json.RawMessage(`{"a":`)); err == nil || !got.IsNull() {
		t.Errorf("broken JSON: %s, %v", got, err)
	}
}
