package analytics

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

// validate validates a data source with nothing but its days: nil is null, "?" is unknown.
func validate(t *testing.T, d datasource.DataSourceWithValidateConfig, start, end any) diag.Diagnostics {
	t.Helper()
	var described datasource.SchemaResponse
	d.Schema(t.Context(), datasource.SchemaRequest{}, &described)
	attributes := map[string]tftypes.Value{}
	for name, attribute := range described.Schema.Attributes {
		attributes[name] = tftypes.NewValue(attribute.GetType().TerraformType(t.Context()), nil)
	}
	for name, day := range map[string]any{"start_date": start, "end_date": end} {
		if day == "?" {
			day = tftypes.UnknownValue
		}
		attributes[name] = tftypes.NewValue(tftypes.String, day)
	}
	var resp datasource.ValidateConfigResponse
	d.ValidateConfig(t.Context(), datasource.ValidateConfigRequest{
		Config: tfsdk.Config{Schema: described.Schema, Raw: tftypes.NewValue(described.Schema.Type().TerraformType(t.Context()), attributes)},
	}, &resp)
	return resp.Diagnostics
}

func TestValidateConfig_days(t *testing.T) {
	t.Parallel()
	organization, own := &tokensDataSource{}, &myCostDataSource{}
	for name, tc := range map[string]struct {
		start, end         any
		organization, mine string
	}{
		"one day":                 {"2026-02-28", "2026-02-28", "", ""},
		"in order":                {"2026-02-27", "2026-03-01", "", ""},
		"a day before":            {"2026-03-01", "2026-02-28", "Date Out Of Order", "Date Out Of Order"},
		"a year before":           {"2027-01-01", "2026-12-31", "Date Out Of Order", "Date Out Of Order"},
		"90 days":                 {"2026-01-14", "2026-04-13", "", ""},
		"91 days":                 {"2026-01-14", "2026-04-14", "", "Too Many Days"},
		"90 days of a leap year":  {"2028-01-01", "2028-03-30", "", ""},
		"91 days of a leap year":  {"2028-01-01", "2028-03-31", "", "Too Many Days"},
		"thousands of years":      {"2026-01-14", "9999-12-31", "", "Too Many Days"},
		"unknown start":           {"?", "2026-02-28", "", ""},
		"unknown end":             {"2026-02-28", "?", "", ""},
		"null":                    {nil, nil, "", ""},
		"no days":                 {"tomorrow", "yesterday", "", ""},
		"an end that is no day":   {"2026-03-01", "2026-02-30", "", ""},
		"a start that is no day":  {"2026-02-30", "2026-02-28", "", ""},
		"empty":                   {"", "", "", ""},
		"no plan's time yet":      {"2026-02-01", "0000-12-31", "", ""},
		"before the first of all": {"2025-01-01", "2025-01-02", "", ""},
	} {
		for _, of := range []struct {
			d    datasource.DataSourceWithValidateConfig
			want string
		}{{organization, tc.organization}, {own, tc.mine}} {
			got := ""
			for _, d := range validate(t, of.d, tc.start, tc.end) {
				got += d.Summary()
				if at, ok := d.(diag.DiagnosticWithPath); !ok || at.Path().String() != "end_date" {
					t.Errorf("%s: %v has another path", name, d)
				}
			}
			if got != of.want {
				t.Errorf("%s, %T: got %q, want %q", name, of.d, got, of.want)
			}
		}
	}
}

func TestCheckAvailable(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("", 14*3600), time.FixedZone("", -12*3600)
	for name, tc := range map[string]struct {
		now    time.Time
		latest string
	}{
		"noon":            {time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "2026-02-28"},
		"midnight":        {time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "2026-02-28"},
		"before midnight": {time.Date(2026, 2, 28, 23, 59, 59, 999e6, time.UTC), "2026-02-27"},
		"far in the east": {time.Date(2026, 3, 1, 13, 59, 0, 0, east), "2026-02-27"},
		"far in the west": {time.Date(2026, 2, 28, 12, 0, 0, 0, west), "2026-02-28"},
		"new year":        {time.Date(2027, 1, 1, 5, 0, 0, 0, time.UTC), "2026-12-31"},
	} {
		c, err := client.New(client.Config{BaseURL: "https://agentyard.example", APIKey: "fk-x", Clock: clock.NewFake(tc.now)})
		if err != nil {
			t.Fatal(err)
		}
		d := &daysDataSource{crud.DataSource{Client: c}}
		latest, err := time.Parse(time.DateOnly, tc.latest)
		if err != nil {
			t.Fatal(err)
		}
		for days, isRefused := range map[int]bool{-400: false, 0: false, 1: true, 2: true, 400: true} {
			end := latest.AddDate(0, 0, days).Format(time.DateOnly)
			err := d.checkAvailable(daysModel{EndDate: types.StringValue(end)})
			if (err != nil) != isRefused || isRefused && !strings.Contains(err.Error(), "must not be later than "+tc.latest) {
				t.Errorf("%s: %s is answered %v", name, end, err)
			}
		}
	}
}

// A list that the service leaves out differs from one without items.
func TestEach(t *testing.T) {
	t.Parallel()
	double := func(n int) int { return 2 * n }
	if got := each([]int{1, 2}, double); len(got) != 2 || got[1] != 4 {
		t.Errorf("got %v", got)
	}
	if got := each([]int{}, double); got == nil || len(got) != 0 {
		t.Errorf("no items are %v", got)
	}
	if got := each[int](nil, double); got != nil {
		t.Errorf("nothing is %v", got)
	}
}

// An empty text is a value: a hook without a matcher, a file without an extension.
func TestFromAPI_emptyTexts(t *testing.T) {
	t.Parallel()
	empty := ""
	var hooks toolRowModel
	hooks.FromAPI(context.Background(), &client.ToolRow{HooksByEvent: []client.HookCount{{Event: &empty}}})
	if h := hooks.HooksByEvent[0]; h.Event != types.StringValue("") || !h.Matcher.IsNull() {
		t.Errorf("got %v", h)
	}
	var files productivityRowModel
	files.FromAPI(context.Background(), &client.ProductivityRow{ByExtension: []client.ExtensionCount{{Extension: &empty}, {}}})
	if e := files.ByExtension; e[0].Extension != types.StringValue("") || !e[1].Extension.IsNull() {
		t.Errorf("got %v", e)
	}
}
