// Package analytics contains the data sources for the usage of the organization and its members.
package analytics

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

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
	Data      types.List   `tfsdk:"data"`
	// rows is the value of data; see crud.ManyRows.
	rows tftypes.Value
}

func (m *daysModel) Rows() tftypes.Value { return m.rows }

// groupedModel is the model of a data source whose rows can be grouped.
type groupedModel struct {
	daysModel
	GroupBy types.String `tfsdk:"group_by"`
}

// attributes returns the attributes of daysModel, and more arguments.
func attributes(data schema.Attribute, more map[string]schema.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"start_date": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "First day, as `YYYY-MM-DD` in UTC. The data begins on `" + firstDay + "`, and the service should refuse an earlier day" + crud.Assumed("date-history") + " Exactly one of `start_date` and `last_days` is required.",
			Validators:          []validator.String{value.Day()},
		},
		"end_date": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Last day, as `YYYY-MM-DD` in UTC. Must be between `start_date` and yesterday. Defaults to yesterday in UTC.",
			Validators:          []validator.String{value.Day()},
		},
		"last_days": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Number of days up to and including `end_date`. Conflicts with `start_date`.",
			Validators:          []validator.Int64{value.AtLeast(1)},
		},
		"org_id": schema.StringAttribute{Computed: true, MarkdownDescription: "ID of the organization."},
		"data":   data,
	}
	maps.Copy(all, more)
	return all
}

// groupBy returns the group_by argument. Grouped names the fields that grouped rows have.
func groupBy(dimension, noun, grouped string) map[string]schema.Attribute {
	return map[string]schema.Attribute{"group_by": schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: fmt.Sprintf("Set to `%s` to return a row for each %s and day. These rows have %s; their other fields are null. Defaults to a row for each day.", dimension, noun, grouped),
		Validators:          []validator.String{value.OneOf(dimension)},
	}}
}

func dateOfRow[R any](get func(R) string) results.Field[R] {
	return results.String("The day, as `YYYY-MM-DD` in UTC.", get)
}

func groupOfRow[R any](text string, get func(R) *string) results.Field[R] {
	return results.StringPointer(text+" Null without `group_by`.", get)
}

// dateAndGroup is the order of rows that can be grouped.
const dateAndGroup = "`date` and then `group_key`"

// quietDays ends the description of the rows.
const quietDays = " The service may leave out days without activity."

// ofOrganization returns a data source about the whole organization. GroupBy is nil if its rows cannot be grouped.
func ofOrganization[T any](name, description, notes, object string, row results.Fields[*T], order string, groupBy map[string]schema.Attribute, query func(*analytics.Client) *analytics.Query[T]) crud.DataSource {
	d := crud.DataSource{
		Name: name, Description: description + managersOnly + notes, Attributes: attributes(row.DataSourceRows("The days, ordered by "+order+"."+quietDays), groupBy),
		Validators: []datasource.ConfigValidator{oneStart}, Verb: "read", Object: object, Options: organizationOptions,
		Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *daysModel) error {
			return fetch(ctx, c, m, row, func(days analytics.Days) (*analytics.Report[T], error) { return query(c.Analytics).Rows(ctx, days, "") })
		}),
	}
	if groupBy != nil {
		d.Fetch = crud.Fetch(func(ctx context.Context, c *client.Client, m *groupedModel) error {
			return fetch(ctx, c, &m.daysModel, row, func(days analytics.Days) (*analytics.Report[T], error) {
				return query(c.Analytics).Rows(ctx, days, m.GroupBy.ValueString())
			})
		})
	}
	return d
}

// fetch completes the model with the rows of its days, which it reads with ask.
func fetch[T any](ctx context.Context, c *client.Client, m *daysModel, row results.Fields[*T], ask func(analytics.Days) (*analytics.Report[T], error)) error {
	if err := c.Conn.Configured(); err != nil {
		return err
	}
	if m.EndDate.IsNull() {
		m.EndDate = types.StringValue(c.Conn.ServiceNow(ctx).UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	}
	end, _ := time.Parse(time.DateOnly, m.EndDate.ValueString()) // Validators accepted both days.
	at := path.Root("start_date")
	if !m.LastDays.IsNull() {
		at = path.Root("last_days")
		m.StartDate = types.StringValue(end.AddDate(0, 0, 1-int(m.LastDays.ValueInt64())).Format(time.DateOnly))
	}
	start, _ := time.Parse(time.DateOnly, m.StartDate.ValueString())
	if start.Format(time.DateOnly) < firstDay || end.Before(start) {
		return &crud.ObjectError{At: at, Summary: "Invalid date range", Detail: fmt.Sprintf("The service cannot return the days from %s to %s. The first day must be %s or later, and not after the last day.",
			m.StartDate.ValueString(), m.EndDate.ValueString(), firstDay)}
	}
	found, err := ask(analytics.Days{Start: m.StartDate.ValueString(), End: m.EndDate.ValueString()})
	if err != nil {
		return err
	}
	isOther := func(said string, asked types.String) bool {
		return said != "" && !strings.HasPrefix(said, asked.ValueString())
	}
	if isOther(found.Days.Start, m.StartDate) || isOther(found.Days.End, m.EndDate) {
		return &crud.ObjectError{At: at, Summary: "Other days in the response", Detail: fmt.Sprintf("The service returned the days from %s to %s instead of %s to %s, so sums of them would be wrong. Read fewer days at once.",
			found.Days.Start, found.Days.End, m.StartDate.ValueString(), m.EndDate.ValueString())}
	}
	m.OrgID, m.rows = value.StringOrNull(found.OrgID), results.RawRows(row, found.Rows)
	return nil
}

var oneStart = value.ExactlyOne("start_date", "last_days")

// managersOnly is for data about the whole organization, membersOnly for data about the caller.
var (
	managersOnly = crud.Requires + "a tier with Analytics, which must be enabled, and the " + crud.ManagerRole + "."
	membersOnly  = crud.Requires + "the Enterprise tier with Analytics enabled, and the API key of a member" + crud.Assumed("analytics-of-service-accounts")
)

// organizationAccess and ownAccess list what may be missing, because the service returns 403 in every case.
var (
	organizationAccess = access("a tier that includes Analytics, Analytics enabled for the organization, and the API key of a member with the Manager role or higher.")
	ownAccess          = access("the Enterprise tier, Analytics enabled for the organization, and the API key of a member.")

	organizationOptions = apierror.Options{organizationAccess, atDays}

	// atDays puts a 400 on the days, because most of its documented causes are about them.
	atDays = apierror.AtStatus{http.StatusBadRequest: path.Root("end_date")}
)

func access(required string) apierror.Advice {
	return apierror.Advice{http.StatusForbidden: "Three things are required: " + required}
}
