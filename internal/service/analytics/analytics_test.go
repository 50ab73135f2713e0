package analytics

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// validate validates a data source that has only its days: nil is null, "?" is unknown.
func validate(t *testing.T, d datasource.DataSource, start, end any) diag.Diagnostics {
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
	validated, ok := d.(datasource.DataSourceWithConfigValidators)
	if !ok {
		t.Fatalf("%T has no validators", d)
	}
	for _, v := range validated.ConfigValidators(t.Context()) {
		v.ValidateDataSource(t.Context(), datasource.ValidateConfigRequest{
			Config: tfsdk.Config{Schema: described.Schema, Raw: tftypes.NewValue(described.Schema.Type().TerraformType(t.Context()), attributes)},
		}, &resp)
	}
	return resp.Diagnostics
}

func TestValidateConfig_days(t *testing.T) {
	t.Parallel()
	organization, own := NewTokensDataSource(), NewMyCostDataSource()
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
		"null":                    {nil, nil, "Missing Attribute Configuration", "Missing Attribute Configuration"},
		"no days":                 {"tomorrow", "yesterday", "", ""},
		"an end that is no day":   {"2026-03-01", "2026-02-30", "", ""},
		"a start that is no day":  {"2026-02-30", "2026-02-28", "", ""},
		"empty":                   {"", "", "", ""},
		"no plan's time yet":      {"2026-02-01", "0000-12-31", "", ""},
		"an end too early":        {"2026-02-01", "2026-01-13", "", ""},
		"an end on the first day": {"2026-02-01", "2026-01-14", "Date Out Of Order", "Date Out Of Order"},
		"before the first of all": {"2025-01-01", "2025-01-02", "", ""},
	} {
		for _, of := range []struct {
			d    datasource.DataSource
			want string
		}{{organization, tc.organization}, {own, tc.mine}} {
			got := ""
			for _, d := range validate(t, of.d, tc.start, tc.end) {
				got += d.Summary()
				if at, ok := d.(diag.DiagnosticWithPath); tc.start != nil && (!ok || at.Path().String() != "end_date") {
					t.Errorf("%s: %v has another path", name, d)
				}
			}
			if got != of.want {
				t.Errorf("%s, %T: got %q, want %q", name, of.d, got, of.want)
			}
		}
	}
}

// An empty text is a value: a hook without a matcher, a file without an extension.
func TestRows_emptyTexts(t *testing.T) {
	t.Parallel()
	empty := ""
	hook := results.ObjectOf(hookCount, &analytics.HookCount{Event: &empty}).Attributes()
	if !hook["event"].Equal(types.StringValue("")) || !hook["matcher"].IsNull() {
		t.Errorf("got %v", hook)
	}
	files := results.ObjectOf(productivityRow, &analytics.ProductivityRow{ByExtension: []analytics.ExtensionCount{{Extension: &empty}, {}}}).Attributes()
	if got := files["by_extension"].String(); got != `[{"count":<null>,"extension":""},{"count":<null>,"extension":<null>}]` {
		t.Errorf("got %s", got)
	}
	if !files["by_language"].IsNull() {
		t.Errorf("a list that is left out is %s", files["by_language"])
	}
}
