package sessions

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// settingsOf returns settings with a value in one field.
func settingsOf(t *testing.T, field, value string) *Settings {
	t.Helper()
	settings := &Settings{}
	check.Must(t, json.Unmarshal([]byte(`{"`+field+`":`+value+`}`), settings))
	return settings
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check.Must(t, err)
	return string(text)
}

// settingValues has two different values of each setting, and the first one in another form.
var settingValues = map[string]struct{ one, other, same string }{
	"model":                           {`"a"`, `"b"`, `"a"`},
	"reasoningEffort":                 {`"low"`, `"high"`, `"low"`},
	"interactionMode":                 {`"agi"`, `"spec"`, `"mission"`},
	"autonomyLevel":                   {`"low"`, `"high"`, `"low"`},
	"autonomyMode":                    {`"auto-low"`, `"auto-high"`, `"auto-low"`},
	"specModeModel":                   {`"a"`, `"b"`, `"a"`},
	"specModeReasoningEffort":         {`"low"`, `"high"`, `"low"`},
	"providerLock":                    {`"a"`, `"b"`, `"a"`},
	"providerLockTimestamp":           {`"2026-03-01T00:00:00Z"`, `"2026-03-01T00:00:01Z"`, `"2026-03-01T01:00:00.000+01:00"`},
	"apiProviderLock":                 {`"a"`, `"b"`, `"a"`},
	"archivedAt":                      {`"2026-03-01T00:00:00Z"`, `"2026-03-02T00:00:00Z"`, `"2026-03-01T00:00:00.000Z"`},
	"tags":                            {`[{"name":"a","metadata":{"k":"v"}},{"name":"b"}]`, `[{"name":"a","metadata":{"k":"w"}},{"name":"b"}]`, `[{"name":"b","metadata":{}},{"name":"a","metadata":{"k":"v"}}]`},
	"worktree":                        {`{"repoRoot":"/r","branch":"a"}`, `{"repoRoot":"/r","branch":"b"}`, `{"repoRoot":"/r","branch":"a","path":"/p"}`},
	"setupProfileId":                  {`"a"`, `"b"`, `"a"`},
	"enabledToolIds":                  {`["x","y"]`, `["x"]`, `["y","x"]`},
	"disabledToolIds":                 {`["x","y"]`, `[]`, `["y","x","y"]`},
	"restrictToolIds":                 {`[]`, `["x"]`, `[]`},
	"compactionModel":                 {`"current-model"`, `"custom:b"`, `"current-model"`},
	"compactionThresholdCheckEnabled": {`false`, `true`, `false`},
	"toolExecutionMode":               {`"direct_only"`, `"script_only"`, `"direct_only"`},
	"allowSubagentsInScripts":         {`true`, `false`, `true`},
}

// Every setting must be in the table, so that the tests compare, count, and keep it.
func TestSessionSettings_everyFieldIsInTheTable(t *testing.T) {
	t.Parallel()
	var fields []string
	for field := range reflect.TypeFor[Settings]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	slices.Sort(fields)
	check.Is(t, "fields of the settings, and of the table", fields, slices.Sorted(maps.Keys(settingValues)))
}

func TestSessionSettings_eachField(t *testing.T) {
	t.Parallel()
	for field, tc := range settingValues {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			none, one, other, same := &Settings{}, settingsOf(t, field, tc.one), settingsOf(t, field, tc.other), settingsOf(t, field, tc.same)
			if one.IsEmpty() || len(one.fields()) != 1 || !none.IsEmpty() || jsonOf(t, none) != "{}" {
				t.Errorf("%s is empty, or %d settings", jsonOf(t, one), len(one.fields()))
			}
			check.Is(t, "sent", jsonOf(t, one), `{"`+field+`":`+tc.one+`}`)
			isCreateOnly := field == "toolExecutionMode" || field == "allowSubagentsInScripts"
			for name, c := range map[string]struct {
				wanted, prior *Settings
				isChange      bool
			}{
				"new":                 {one, none, true},
				"new, nothing known":  {one, nil, true},
				"other":               {other, one, true},
				"the same":            {one, one, false},
				"the same once more":  {one, same, false},
				"not set any more":    {none, one, false},
				"an equal older form": {one, settingsOf(t, field, tc.one), false},
			} {
				changes := c.wanted.Changes(c.prior)
				if changes.IsEmpty() == (c.isChange && !isCreateOnly) || c.isChange && !isCreateOnly && jsonOf(t, changes) != jsonOf(t, c.wanted) {
					t.Errorf("%s: the changes are %s", name, jsonOf(t, changes))
				}
			}
			for name, h := range map[string]struct {
				wanted, there *Settings
				want          bool
			}{
				"itself":             {one, one, true},
				"another form":       {one, same, true},
				"other":              {one, other, false},
				"the other way":      {other, one, false},
				"nothing is told":    {one, nil, false},
				"nothing is wanted":  {nil, one, true},
				"nothing of it":      {none, one, true},
				"nothing by nothing": {nil, nil, true},
				"not told":           {one, none, tc.one == "[]"}, // An empty list equals none.
			} {
				check.Is(t, name+": "+jsonOf(t, h.wanted)+" holds in "+jsonOf(t, h.there), h.wanted.HoldsIn(h.there), h.want)
			}
			unset := none
			if isCreateOnly {
				unset = one
			}
			for name, k := range map[string]struct{ answer, known, want *Settings }{
				"nothing is told":      {nil, one, one},
				"it is unset":          {none, one, unset},
				"nothing is known":     {one, nil, one},
				"it is not known":      {one, none, one},
				"neither":              {nil, nil, nil},
				"told as it was":       {one, one, one},
				"told in another form": {same, one, one},
				"told otherwise":       {other, one, other},
			} {
				if field == "worktree" && name == "told in another form" {
					continue // It implies other settings; see below.
				}
				before := jsonOf(t, []any{k.answer, k.known})
				check.Is(t, name, jsonOf(t, k.answer.Keeping(k.known)), jsonOf(t, k.want))
				check.Is(t, name+": what was given is changed", jsonOf(t, []any{k.answer, k.known}), before)
			}
		})
	}
}

// An empty list equals none, except if it restricts the tools.
func TestSessionSettings_keepsEmptyLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ answer, known, want string }{
		{`{"tags":[],"enabledToolIds":[]}`, `{}`, `{"tags":[],"enabledToolIds":[]}`},
		{`{"tags":null,"enabledToolIds":null}`, `{}`, `{}`},
		{`{}`, `{"tags":[],"enabledToolIds":[],"disabledToolIds":[],"restrictToolIds":[]}`, `{"tags":[],"enabledToolIds":[],"disabledToolIds":[]}`},
	} {
		var answer, known Settings
		if json.Unmarshal([]byte(tc.answer), &answer) != nil || json.Unmarshal([]byte(tc.known), &known) != nil {
			t.Fatal(tc)
		}
		check.Is(t, tc.answer+": kept", jsonOf(t, answer.Keeping(&known)), tc.want)
	}
}

func TestSameText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"agi", "mission", true}, {"mission", "agi", true}, {"agi", "agi", true}, {"agi", "auto", false}, {"auto", "mission", false}, {"a", "A", false},
		{"2026-03-01T00:00:00Z", "2026-03-01T00:00:00+00:00", true}, {"2026-03-01T00:00:00Z", "2026-03-01T00:00:00.001Z", false}, {"2026-03-01T00:00:00Z", "soon", false}, {"", "", true},
	} {
		check.Is(t, tc.a+" and "+tc.b+" are the same", sameText(tc.a, tc.b), tc.want)
	}
}
