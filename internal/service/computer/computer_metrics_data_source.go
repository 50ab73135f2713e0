package computer

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type computerMetricsModel struct {
	ComputerID types.String      `tfsdk:"computer_id"`
	Start      timetypes.RFC3339 `tfsdk:"start"`
	Samples    types.List        `tfsdk:"samples"`
}

// ComputerMetricsDataSource is the data source agentyard_computer_metrics.
var ComputerMetricsDataSource = crud.DataSource{
	Name:        "computer_metrics",
	Description: "Returns the CPU, memory, and disk usage of an active managed computer. Registered machines (`byom`) have no metrics: reading them is an error." + ownersKey + crud.AssumedFormat,
	Attributes: map[string]schema.Attribute{
		"computer_id": crud.RequiredText(computerResults["id"].Text),
		"start": schema.StringAttribute{
			Optional: true, CustomType: timetypes.RFC3339Type{},
			MarkdownDescription: "Return only samples from this time on (RFC 3339). If omitted, the service chooses.",
		},
		"samples": metricsSample.DataSourceRows("The samples, one for each interval."),
	},
	Verb: "read", Object: "metrics of the computer", Options: apierror.Options{atComputer, activeManagedOnly},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *computerMetricsModel) error {
		start, _ := m.Start.ValueRFC3339Time() // Null is the zero time. Any other text that is no time does not pass the validation.
		samples, err := c.Computers.Metrics(ctx, m.ComputerID.ValueString(), start)
		m.Samples = results.RowsOf(metricsSample, samples)
		return err
	}),
}

var metricsSample = results.Fields[*computers.MetricsSample]{
	"timestamp":    {Text: "Start of the interval (RFC 3339, UTC).", Type: types.StringType, Value: sampleTime},
	"cpu_used_pct": results.Float64("CPU usage in percent.", func(s *computers.MetricsSample) *float64 { return &s.CPUUsedPct }),
	"cpu_count":    results.Float64("Number of CPUs.", func(s *computers.MetricsSample) *float64 { return &s.CPUCount }),
	"mem_used":     results.Float64("Used memory, in bytes.", func(s *computers.MetricsSample) *float64 { return &s.MemUsed }),
	"mem_total":    results.Float64("Total memory, in bytes.", func(s *computers.MetricsSample) *float64 { return &s.MemTotal }),
	"disk_used":    results.Float64("Used disk space, in bytes.", func(s *computers.MetricsSample) *float64 { return &s.DiskUsed }),
	"disk_total":   results.Float64("Total disk space, in bytes.", func(s *computers.MetricsSample) *float64 { return &s.DiskTotal }),
}

// sampleTime returns the time in UTC, or unchanged if it has an unknown format.
func sampleTime(s *computers.MetricsSample) attr.Value {
	if at, err := time.Parse(time.RFC3339, s.Timestamp); err == nil {
		return value.Time(at)
	}
	return types.StringValue(s.Timestamp)
}
