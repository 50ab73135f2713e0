// Package analytics holds the data sources of what the organization and its members used.
package analytics

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// firstDay is the first one that the service has numbers of.
const firstDay = "2026-01-14"

// daysDataSource is the base of all data sources of analytics: they ask about a range of days.
type daysDataSource struct{ crud.DataSource }

// daysModel is what their models have in common. Embed it.
type daysModel struct {
	StartDate types.String `tfsdk:"start_date"`
	EndDate   types.String `tfsdk:"end_date"`
	OrgID     types.String `tfsdk:"org_id"`
}

func (m *daysModel) days() client.Days {
	return client.Days{Start: m.StartDate.ValueString(), End: m.EndDate.ValueString()}
}

// attributes are those of daysModel, and the rows with the description data.
func attributes(row results.Record, data string) map[string]schema.Attribute {
	checks := []validator.String{value.Day(), value.DayFrom(firstDay, "the service has numbers from that day on")}
	return map[string]schema.Attribute{
		"start_date": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "First day, as `YYYY-MM-DD` in UTC; not before `" + firstDay + "`.",
			Validators:          checks,
		},
		"end_date": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Last day, as `YYYY-MM-DD` in UTC; not before `start_date`, and yesterday at the latest. " +
				"Yesterday is `formatdate(\"YYYY-MM-DD\", timeadd(plantimestamp(), \"-24h\"))`.",
			Validators: checks,
		},
		"org_id": schema.StringAttribute{Computed: true, MarkdownDescription: "The organization's ID."},
		"data": schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: data,
			NestedObject: schema.NestedAttributeObject{Attributes: row.DataSource()},
		},
	}
}

// groupBy is the attribute of that name, for the one value that an operation knows. Given are the quantities of the rows that this makes.
func groupBy(dimension, each, given string) schema.Attribute {
	return schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: fmt.Sprintf("`%s`: a row for each %s and day. The service gives %s then, and what it leaves out is null. If omitted, a row for each day.", dimension, each, given),
		Validators:          []validator.String{stringvalidator.OneOf(dimension)},
	}
}

// number is a field of a row with a quantity, which may be a fraction.
func number(text string) results.Field { return results.Field{Text: text, Type: types.Float64Type} }

// dateOfRow and groupOfRow are fields of every row, or of every one that can be grouped.
var dateOfRow = results.Field{Text: "The day, as `YYYY-MM-DD` in UTC."}

func groupOfRow(what string) results.Field {
	return results.Field{Text: what + "; null without `group_by`."}
}

// quietDays completes the description of the rows.
const quietDays = "a day on which nobody was active has none."

// each takes over a list within a row; one that the service leaves out is null.
func each[A, M any](records []A, model func(A) M) []M {
	if records == nil {
		return nil
	}
	models := make([]M, len(records))
	for i, record := range records {
		models[i] = model(record)
	}
	return models
}

// ValidateConfig refuses a range that ends before it starts.
func (d *daysDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	start, end, ok := rangeIn(ctx, req, &resp.Diagnostics)
	if ok && end.Before(start) {
		resp.Diagnostics.AddAttributeError(path.Root("end_date"), "Date Out Of Order",
			fmt.Sprintf("end_date must not be before start_date, which is %s, got: %q.", start.Format(time.DateOnly), end.Format(time.DateOnly)))
	}
}

// rangeIn returns both days of a configuration; ok is false unless both are known days.
func rangeIn(ctx context.Context, req datasource.ValidateConfigRequest, diags *diag.Diagnostics) (start, end time.Time, ok bool) {
	days := map[string]time.Time{}
	for _, name := range []string{"start_date", "end_date"} {
		var given types.String
		diags.Append(req.Config.GetAttribute(ctx, path.Root(name), &given)...)
		if day, ok := value.KnownDay(given); ok {
			days[name] = day
		}
	}
	return days["start_date"], days["end_date"], len(days) == 2
}

// checkAvailable refuses days whose numbers are not there yet. It is no validation, because a configuration stays valid
// from one day to the next, and because the day depends on the clock of the service.
func (d *daysDataSource) checkAvailable(m daysModel) error {
	// The clock is that of the service only when its address is known.
	if err := d.Client.Configured(); err != nil {
		return err
	}
	today := d.Client.Clock.Now().UTC()
	latest := today.AddDate(0, 0, -1).Format(time.DateOnly)
	if m.EndDate.ValueString() <= latest {
		return nil
	}
	return &crud.Fault{
		At: path.Root("end_date"), Summary: "Date Not Available Yet",
		Detail: fmt.Sprintf("end_date must not be later than %s, got: %q. The numbers of a day can be read from the next day on, and days are in UTC, where it is %s now.",
			latest, m.EndDate.ValueString(), today.Format("2006-01-02 15:04")),
	}
}

// atArguments shows what the service refuses at the argument that it names.
var atArguments = apierror.Fields{
	"startDate": path.Root("start_date"), "endDate": path.Root("end_date"), "group_by": path.Root("group_by"), "queryKey": path.Root("query_key"), "limit": path.Root("max_results"),
}

const (
	// managersOnly is part of the descriptions of what shows the whole organization, membersOnly of what shows only the caller.
	managersOnly = " Needs an organization of the Enterprise tier with Analytics enabled, and the API key of a human with the Manager or Owner role."
	membersOnly  = " Needs an organization of the Enterprise tier with Analytics enabled, and the API key of a human, of any role."
)

// organizationAccess and ownAccess say what may be missing: the service answers 403 to any of it.
var (
	organizationAccess = access("an organization of the Enterprise tier, Analytics that is enabled for it, and the API key of a human with the Manager or Owner role. The key of a service account has no access.")
	ownAccess          = access("an organization of the Enterprise tier, Analytics that is enabled for it, and the API key of a human, whose own numbers they are; a service account has no numbers of its own.")
)

func access(needed string) apierror.Advice {
	advice := "The service says what is missing. Three things are needed: " + needed
	return apierror.Advice{http.StatusForbidden: advice}
}
