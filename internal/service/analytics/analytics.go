// Package analytics contains the data sources for the usage of the organization and its members.
package analytics

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// firstDay is the first day for which the service has data.
const firstDay = "2026-01-14"

// daysModel is the model of a data source that reads a range of days, or the shared part of such a model.
type daysModel struct {
	StartDate types.String `tfsdk:"start_date"`
	EndDate   types.String `tfsdk:"end_date"`
	LastDays  types.Int64  `tfsdk:"last_days"`
	OrgID     types.String `tfsdk:"org_id"`
	Data      results.Rows `tfsdk:"data"`
}

// groupedModel is the model of a data source whose rows can be grouped.
type groupedModel struct {
	daysModel
	GroupBy types.String `tfsdk:"group_by"`
}

// attributes returns the attributes of daysModel.
func attributes(data schema.Attribute) map[string]schema.Attribute {
	checks := []validator.String{value.Day(), value.DayFrom(firstDay, "The service has data from that day on.")}
	return map[string]schema.Attribute{
		"start_date": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "First day, as `YYYY-MM-DD` in UTC. Must be `" + firstDay + "` or later. Exactly one of `start_date` and `last_days` is required.",
			Validators:          checks,
		},
		"end_date": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Last day, as `YYYY-MM-DD` in UTC. Must be between `start_date` and yesterday. Defaults to yesterday in UTC.",
			Validators:          checks,
		},
		"last_days": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Number of days up to and including `end_date`. Conflicts with `start_date`.",
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"org_id": schema.StringAttribute{Computed: true, MarkdownDescription: "ID of the organization."},
		"data":   data,
	}
}

// groupBy returns the group_by argument. Grouped names the fields that grouped rows have.
func groupBy(dimension, noun, grouped string) schema.Attribute {
	return schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: fmt.Sprintf("Set to `%s` to return a row for each %s and day. These rows have %s; their other fields are null. Defaults to a row for each day.", dimension, noun, grouped),
		Validators:          []validator.String{value.OneOf(dimension)},
	}
}

func dateOfRow[R any](get func(R) string) results.Field[R] {
	return results.String("The day, as `YYYY-MM-DD` in UTC.", get)
}

func groupOfRow[R any](text string, get func(R) *string) results.Field[R] {
	return results.StringPointer(text+" Null without `group_by`.", get)
}

// quietDays ends the description of the rows.
const quietDays = " Days without activity are left out."

// fetch completes the model with the rows of its days, which it reads with ask.
func fetch[T any](ctx context.Context, c *client.Client, m *daysModel, row results.Fields[*T], ask func(analytics.Days) (*analytics.Report[T], error)) error {
	if err := m.setDays(ctx, c); err != nil {
		return err
	}
	found, err := ask(analytics.Days{Start: m.StartDate.ValueString(), End: m.EndDate.ValueString()})
	if err != nil {
		return err
	}
	m.OrgID, m.Data = value.StringOrNull(found.OrgID), results.RowsOf(row, found.Rows)
	return nil
}

// setDays sets the days that the configuration leaves out. The service rejects an end_date without data: the same configuration
// is valid later.
func (m *daysModel) setDays(ctx context.Context, c *client.Client) error {
	if err := c.Conn.Configured(); err != nil {
		return err
	}
	if m.EndDate.IsNull() {
		m.EndDate = types.StringValue(c.Conn.Clock.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
		if m.StartDate.ValueString() > m.EndDate.ValueString() {
			return &crud.ObjectError{
				At: path.Root("start_date"), Summary: "Date Not Available Yet",
				Detail: fmt.Sprintf("start_date must not be later than %s, got: %q. The numbers of a day are available from the next day on.", m.EndDate.ValueString(), m.StartDate.ValueString()),
			}
		}
	}
	if m.LastDays.IsNull() {
		return nil
	}
	end, _ := time.Parse(time.DateOnly, m.EndDate.ValueString()) // A validator accepted it.
	first, _ := time.Parse(time.DateOnly, firstDay)
	if most := int64(end.Sub(first)/(24*time.Hour)) + 1; m.LastDays.ValueInt64() > most {
		return &crud.ObjectError{
			At: path.Root("last_days"), Summary: "Too Many Days",
			Detail: fmt.Sprintf("The service has data from %s on. With end_date %s, last_days must be at most %d, got: %d.", firstDay, m.EndDate.ValueString(), most, m.LastDays.ValueInt64()),
		}
	}
	m.StartDate = types.StringValue(end.AddDate(0, 0, 1-int(m.LastDays.ValueInt64())).Format(time.DateOnly))
	return nil
}

var oneStart = datasourcevalidator.ExactlyOneOf(path.MatchRoot("start_date"), path.MatchRoot("last_days"))

// daysInOrder rejects a range that ends before it starts.
type daysInOrder struct{}

func (daysInOrder) Description(context.Context) string { return "end_date is not before start_date" }

func (v daysInOrder) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (daysInOrder) ValidateDataSource(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	start, end, ok := rangeIn(ctx, req, &resp.Diagnostics)
	isTooEarly := end.Format(time.DateOnly) < firstDay // A validator rejects it.
	if ok && end.Before(start) && !isTooEarly {
		resp.Diagnostics.AddAttributeError(path.Root("end_date"), "Date Out Of Order",
			fmt.Sprintf("end_date must not be before start_date, which is %s, got: %q.", start.Format(time.DateOnly), end.Format(time.DateOnly)))
	}
}

// rangeIn returns both days of a configuration. It returns false unless both are known days.
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

// atArguments puts a rejected value on the argument that the service names.
var atArguments = apierror.Fields{
	"startDate": path.Root("start_date"), "endDate": path.Root("end_date"), "group_by": path.Root("group_by"), "queryKey": path.Root("query_key"), "limit": path.Root("max_results"),
}

const (
	// managersOnly is for data about the whole organization, membersOnly for data about the caller.
	managersOnly = " Requires the Enterprise tier with Analytics enabled, and the API key of a member with the Manager role or higher."
	membersOnly  = " Requires the Enterprise tier with Analytics enabled, and the API key of a member."
)

// organizationAccess and ownAccess list what may be missing, because the service returns 403 in every case.
var (
	organizationAccess = access("the Enterprise tier, Analytics enabled for the organization, and the API key of a member with the Manager role or higher. Keys of service accounts have no access.")
	ownAccess          = access("the Enterprise tier, Analytics enabled for the organization, and the API key of a member. Keys of service accounts have no access.")

	organizationOptions = apierror.Options{organizationAccess, atArguments}
)

func access(required string) apierror.Advice {
	return apierror.Advice{http.StatusForbidden: "Three things are required: " + required}
}
