package computer

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*computerMetricsDataSource)(nil)

// NewComputerMetricsDataSource returns the data source agentyard_computer_metrics.
func NewComputerMetricsDataSource() datasource.DataSource { return &computerMetricsDataSource{} }

type computerMetricsDataSource struct{ crud.DataSourceBase }

type computerMetricsModel struct {
	ComputerID types.String      `tfsdk:"computer_id"`
	Start      timetypes.RFC3339 `tfsdk:"start"`
	Samples    []sampleModel     `tfsdk:"samples"`
}

type sampleModel struct {
	Timestamp  types.String  `tfsdk:"timestamp"`
	CPUUsedPct types.Float64 `tfsdk:"cpu_used_pct"`
	CPUCount   types.Float64 `tfsdk:"cpu_count"`
	MemUsed    types.Float64 `tfsdk:"mem_used"`
	MemTotal   types.Float64 `tfsdk:"mem_total"`
	DiskUsed   types.Float64 `tfsdk:"disk_used"`
	DiskTotal  types.Float64 `tfsdk:"disk_total"`
}

// FromAPI takes over the samples.
func (m *computerMetricsModel) FromAPI(ctx context.Context, samples *[]computers.MetricsSample) (diags diag.Diagnostics) {
	m.Samples, diags = crud.Each[sampleModel](ctx, *samples)
	return diags
}

// FromAPI takes over a sample.
func (m *sampleModel) FromAPI(_ context.Context, s *computers.MetricsSample) diag.Diagnostics {
	m.Timestamp = types.StringValue(s.Timestamp)
	if at, err := time.Parse(time.RFC3339, s.Timestamp); err == nil {
		m.Timestamp = value.Time(at)
	}
	m.CPUUsedPct, m.CPUCount = types.Float64Value(s.CPUUsedPct), types.Float64Value(s.CPUCount)
	m.MemUsed, m.MemTotal = types.Float64Value(s.MemUsed), types.Float64Value(s.MemTotal)
	m.DiskUsed, m.DiskTotal = types.Float64Value(s.DiskUsed), types.Float64Value(s.DiskTotal)
	return nil
}

func (d *computerMetricsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_metrics"
}

func (d *computerMetricsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	number := func(description string) schema.Attribute {
		return schema.Float64Attribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "CPU, memory and disk usage of an active managed computer. A machine of one's own (`byom`) has no metrics: reading them is an error.",
		Attributes: map[string]schema.Attribute{
			"computer_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: computerResults["id"].Text,
				Validators:          []validator.String{value.NotEmpty()},
			},
			"start": schema.StringAttribute{
				Optional: true, CustomType: timetypes.RFC3339Type{},
				MarkdownDescription: "Only samples since this time (RFC 3339, such as `2026-03-01T12:00:00Z`). If omitted, the service chooses.",
			},
			"samples": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The samples, one for each interval in which the computer was awake; empty if there are none.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"timestamp":    schema.StringAttribute{Computed: true, MarkdownDescription: "Start of the interval (RFC 3339, UTC)."},
					"cpu_used_pct": number("CPU usage in percent."),
					"cpu_count":    number("Number of CPUs."),
					"mem_used":     number("Memory in use, in bytes."),
					"mem_total":    number("Memory in total, in bytes."),
					"disk_used":    number("Disk space in use, in bytes."),
					"disk_total":   number("Disk space in total, in bytes."),
				}},
			},
		},
	}
}

func (d *computerMetricsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "metrics of the computer", req, resp, func(m *computerMetricsModel) (*[]computers.MetricsSample, error) {
		var start time.Time
		if !m.Start.IsNull() {
			at, diags := m.Start.ValueRFC3339Time()
			resp.Diagnostics.Append(diags...)
			start = at
		}
		samples, err := d.Client.Computers.Metrics(ctx, m.ComputerID.ValueString(), start)
		return &samples, err
	}, atComputer, activeManagedOnly)
}
