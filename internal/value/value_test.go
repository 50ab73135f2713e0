package value

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "720h": 720 * time.Hour, "30d": 720 * time.Hour, "2w": 336 * time.Hour, "1w12h": 180 * time.Hour,
		"1.5d": 36 * time.Hour, "1d1h1m1s": 25*time.Hour + time.Minute + time.Second, "-1d": -24 * time.Hour, "0s": 0, "100ms": 100 * time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "10", "d", "1y", "1 d", "1dd", "9999999999w"} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), "30d") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]time.Time{
		"2026-03-01T00:00:00.5Z": time.Date(2026, 3, 1, 1, 0, 0, 5e8, time.FixedZone("", 3600)),
		"2026-03-01T00:00:00Z":   time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got := Time(at).ValueString(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !Time(time.Time{}).IsNull() || !StringOrNull("").IsNull() || StringOrNull("a").ValueString() != "a" {
		t.Error("unset is not null")
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		validator validator.String
		good, bad []string
	}{
		"UUID":     {UUID(), []string{"1b4e28ba-2fa1-41d2-883f-0016d3cca427", "1B4E28BA-2FA1-41D2-883F-0016D3CCA427"}, []string{"", "x", "1b4e28ba2fa141d2883f0016d3cca427", "1b4e28ba-2fa1-41d2-883f-0016d3cca427 "}},
		"duration": {DurationAtLeast(time.Second), []string{"1s", "30d"}, []string{"", "999ms", "-1h", "soon"}},
		"URI":      {URI(), []string{"https://git.example/acme/app", "ssh://git@git.example/a", "urn:x:y"}, []string{"", "acme/app", "//git.example/a", "https://", "https://a b", ":"}},
	} {
		check := func(v types.String) bool {
			resp := &validator.StringResponse{}
			tc.validator.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("x"), ConfigValue: v}, resp)
			return !resp.Diagnostics.HasError()
		}
		for _, s := range tc.good {
			if !check(types.StringValue(s)) {
				t.Errorf("%s: %q is refused", name, s)
			}
		}
		for _, s := range tc.bad {
			if check(types.StringValue(s)) {
				t.Errorf("%s: %q is accepted", name, s)
			}
		}
		if !check(types.StringNull()) || !check(types.StringUnknown()) {
			t.Errorf("%s: null or unknown is refused", name)
		}
		if tc.validator.MarkdownDescription(t.Context()) == "" {
			t.Errorf("%s has no description", name)
		}
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
	null, _ := StringListOrNull(t.Context(), nil)
	empty, _ := StringListOrNull(t.Context(), []string{})
	two, _ := StringListOrNull(t.Context(), []string{"a", "b"})
	if !null.IsNull() || empty.IsNull() || strings.Join(Strings(two), "") != "ab" || Strings(null) != nil {
		t.Errorf("got %v, %v, %v", null, empty, two)
	}
}
