// Package provider implements the Terraform provider "agentyard": its settings and the list of its objects.
package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/computer"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/environment"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/serviceaccount"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/session"
	"github.com/agentyard/terraform-provider-agentyard/internal/service/wiki"
)

const typeName = "agentyard"

// Environment variables for settings that the provider block omits.
const (
	EnvBaseURL = "AGENTYARD_BASE_URL"
	EnvAPIKey  = "AGENTYARD_API_KEY" //nolint:gosec // The name of a variable, not a credential.
	// EnvNoShortcut, set to anything, reads and plans unchanged objects like all others.
	EnvNoShortcut = "AGENTYARD_NO_SHORTCUT"
	// EnvRunReport names a folder for the report of each run.
	EnvRunReport = "AGENTYARD_RUN_REPORT"
)

var (
	_ provider.ProviderWithEphemeralResources = (*agentyardProvider)(nil)
	_ provider.ProviderWithListResources      = (*agentyardProvider)(nil)
	_ provider.ProviderWithActions            = (*agentyardProvider)(nil)
	_ provider.ProviderWithValidateConfig     = (*agentyardProvider)(nil)
)

// Option changes a provider in tests.
type Option func(*agentyardProvider)

// WithClock sets the clock of the provider and its client.
func WithClock(clk clock.Clock) Option {
	return func(p *agentyardProvider) { p.clock = clk }
}

// WithShadow reports each answer that was given without the framework, together with the framework's own.
func WithShadow(report func(typeName string, answer, framework any, err error)) Option {
	return func(p *agentyardProvider) { p.shadow = report }
}

// WithSchemas gives the schemas that another server has offered, for tests with many servers. To build them takes most of the time in which a server starts.
func WithSchemas(schemas *tfprotov6.GetProviderSchemaResponse) Option {
	return func(p *agentyardProvider) { p.schemas = schemas }
}

// New returns a constructor for providers of the given version.
func New(version string, options ...Option) func() provider.Provider {
	return func() provider.Provider { return newProvider(version, options) }
}

func newProvider(version string, options []Option) *agentyardProvider {
	p := &agentyardProvider{version: version, clock: clock.System}
	for _, option := range options {
		option(p)
	}
	return p
}

type agentyardProvider struct {
	version string
	clock   clock.Clock
	shadow  func(typeName string, answer, framework any, err error)
	schemas *tfprotov6.GetProviderSchemaResponse
	// client is nil before the provider is configured.
	client atomic.Pointer[client.Client]
}

type providerModel struct {
	BaseURL           types.String  `tfsdk:"base_url"`
	APIKey            types.String  `tfsdk:"api_key"`
	RequestTimeout    types.String  `tfsdk:"request_timeout"`
	MaxRetries        types.Int64   `tfsdk:"max_retries"`
	RequestsPerSecond types.Float64 `tfsdk:"requests_per_second"`
	AllowInsecureHTTP types.Bool    `tfsdk:"allow_insecure_http"`
	KeyOwner          types.String  `tfsdk:"key_owner"`
}

func (p *agentyardProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = typeName, p.version
}

func (p *agentyardProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an Agentyard organization: computers for coding agents, environments, sessions, wikis, and CI workflows. " +
			"It also manages who may use them and what they may spend: service accounts, rotating API keys, and usage limits.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Base URL of the service, such as `https://api.agentyard.example`, without `/api/v0`. Required here or in the environment variable `" + EnvBaseURL + "`.",
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "API key, which is sent only to `base_url`. It reaches its owner's computers, and never those of another member. " +
					"The key of a member with the Manager role or higher can also manage service accounts. It should also be able to manage their computers and limits. Required here or in the environment variable `" + EnvAPIKey + "`.",
			},
			"request_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Maximum time for one request, such as `30s` or `2m`. Defaults to `60s`. The `timeouts` block of an object limits all of its requests together.",
				Validators:          []validator.String{value.DurationAtLeast(time.Second, "30s", "2m")},
			},
			"max_retries": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "Maximum number of retries after a failure of the service or a broken connection. Must be 0–20. Defaults to `4`. " +
					"A create request is retried only if the service certainly did not act. Waiting for the rate limit does not count as a retry.",
				Validators: []validator.Int64{value.Between(0, 20)},
			},
			"requests_per_second": schema.Float64Attribute{
				Optional:            true,
				MarkdownDescription: "Maximum number of requests per second. By default, the provider is limited only by the service's rate limit. Must be at least 0.01.",
				Validators:          []validator.Float64{value.NumberAtLeast(0.01)},
			},
			"allow_insecure_http": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether to allow plain HTTP to hosts other than this machine, which sends the API key unencrypted. Defaults to `false`.",
			},
			"key_owner": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "ID of the API key's owner, such as the service account's ID. Must be unique across organizations, and known in the plan. " +
					"Set it if runs use different keys of one owner. If an object is not found, the provider compares this value, instead of the key, with the one of the last read. " +
					"After you set or change it, apply once: until then, the provider assumes another owner.",
				Validators: []validator.String{value.NotBlank("")},
			},
		},
	}
}

// ValidateConfig reports invalid values at their attributes.
func (p *agentyardProvider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var m providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if value.IsSet(m.BaseURL) && !m.AllowInsecureHTTP.IsUnknown() {
		if _, err := transport.ParseBaseURL(m.BaseURL.ValueString(), m.AllowInsecureHTTP.ValueBool()); err != nil {
			resp.Diagnostics.AddAttributeError(path.Root("base_url"), "Invalid base URL", err.Error())
		}
	}
	if value.IsSet(m.APIKey) {
		if err := transport.CheckAPIKey(m.APIKey.ValueString()); err != nil {
			resp.Diagnostics.AddAttributeError(path.Root("api_key"), "Invalid API key", err.Error())
		}
	}
}

// unknownSetting returns the name of a setting whose value is not known yet, or nothing.
func unknownSetting(config tfsdk.Config) string {
	var settings map[string]tftypes.Value
	_ = config.Raw.As(&settings) // Configure has decoded it.
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !settings[name].IsKnown() {
			return name
		}
	}
	return ""
}

// config returns the settings and their defaults, or errors for those that are missing or invalid.
func (m *providerModel) config(diags *diag.Diagnostics) transport.Config {
	cfg := transport.Config{
		BaseURL:           fromEnv(m.BaseURL, EnvBaseURL),
		APIKey:            fromEnv(m.APIKey, EnvAPIKey),
		KeyOwner:          m.KeyOwner.ValueString(),
		MaxRetries:        transport.DefaultMaxRetries,
		RequestsPerSecond: m.RequestsPerSecond.ValueFloat64(),
		AllowInsecureHTTP: m.AllowInsecureHTTP.ValueBool(),
		ReportFolder:      os.Getenv(EnvRunReport),
	}
	if !m.MaxRetries.IsNull() {
		cfg.MaxRetries = int(m.MaxRetries.ValueInt64())
	}
	if !m.RequestTimeout.IsNull() {
		timeout, err := clock.ParseDuration(m.RequestTimeout.ValueString())
		if err != nil {
			diags.AddAttributeError(path.Root("request_timeout"), "Invalid duration", err.Error())
			return cfg
		}
		cfg.RequestTimeout = timeout
	}
	if cfg.BaseURL == "" {
		diags.AddAttributeError(path.Root("base_url"), "Missing base URL", "Set base_url in the provider block, or the environment variable "+EnvBaseURL+", to the service's address.")
	}
	if cfg.APIKey == "" {
		diags.AddAttributeError(path.Root("api_key"), "Missing API key", "Set api_key in the provider block, or the environment variable "+EnvAPIKey+", to an API key of the organization.")
	}
	return cfg
}

func (p *agentyardProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var m providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if name := unknownSetting(req.Config); name != "" {
		if req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
		}
		p.offer(client.Unconfigured(name, p.clock), resp)
		return
	}
	cfg := m.config(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	cfg.UserAgent = fmt.Sprintf("terraform-provider-agentyard/%s Terraform/%s", p.version, req.TerraformVersion)
	var err error
	if cfg.Clock, err = emulatorClock(p.clock, cfg.BaseURL); err != nil {
		resp.Diagnostics.AddError("Cannot read emulator clock", fmt.Sprintf("%v. Set %s to the value that the running emulator prints, or unset it.", err, EnvEmulatorClock))
		return
	}
	c, err := client.New(cfg)
	if err != nil {
		at := path.Empty()
		if setting, ok := errors.AsType[*transport.ConfigError](err); ok {
			at = path.Root(setting.Setting)
		}
		resp.Diagnostics.AddAttributeError(at, "Invalid provider setting", err.Error())
		return
	}
	p.offer(c, resp)
}

func (p *agentyardProvider) offer(c *client.Client, resp *provider.ConfigureResponse) {
	p.client.Store(c)
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData, resp.ListResourceData, resp.ActionData = c, c, c, c, c
}

func fromEnv(configured types.String, name string) string {
	if configured.IsNull() {
		return os.Getenv(name)
	}
	return configured.ValueString()
}

// operations are actions and, under the same name, resources.
var operations = []crud.Operation{
	ci.WorkflowEdit,
	computer.Activity,
	computer.FileUpload,
	computer.InstallDeps,
	computer.Refresh,
	computer.Restart,
	environment.Build,
	environment.BuildCancel,
	organization.MemberRemove,
	serviceaccount.APIKeyRevoke,
	session.Answer,
	session.Interrupt,
	session.Message,
}

func (p *agentyardProvider) Resources(context.Context) []func() resource.Resource {
	resources := []func() resource.Resource{
		computer.NewComputerFleetResource,
		computer.NewComputerResource,
		environment.NewDefaultEnvironmentResource,
		environment.NewEnvironmentResource,
		organization.NewGlobalUsageLimitResource,
		organization.NewMemberInvitationResource,
		organization.NewUserUsageLimitResource,
		organization.NewUserUsageLimitsResource,
		serviceaccount.NewAPIKeyResource,
		serviceaccount.NewServiceAccountResource,
		session.NewSessionResource,
		wiki.NewWikiRunResource,
	}
	for _, o := range operations {
		resources = append(resources, o.Resource)
	}
	return resources
}

var dataSources = []crud.DataSource{
	analytics.ActivityDataSource,
	analytics.MyCostDataSource,
	analytics.ProductivityDataSource,
	analytics.TokensDataSource,
	analytics.ToolsDataSource,
	analytics.UsersDataSource,
	ci.CIJobsDataSource,
	ci.CIRepositoriesDataSource,
	ci.CIRepositoryOwnersDataSource,
	ci.CIRunsDataSource,
	ci.CIScanDataSource,
	computer.ComputerDataSource,
	computer.ComputerMetricsDataSource,
	computer.ComputerProvidersDataSource,
	computer.ComputersDataSource,
	environment.EnvironmentBuildDiagnosticsDataSource,
	environment.EnvironmentBuildStatusesDataSource,
	environment.EnvironmentDataSource,
	environment.EnvironmentSourceOptionsDataSource,
	environment.EnvironmentsDataSource,
	organization.EnterpriseControlHistoryDataSource,
	organization.EnterpriseControlsDataSource,
	organization.MemberDataSource,
	organization.MembersDataSource,
	organization.UsageLimitsDataSource,
	serviceaccount.APIKeysDataSource,
	serviceaccount.ServiceAccountDataSource,
	serviceaccount.ServiceAccountsDataSource,
	session.SessionChildrenDataSource,
	session.SessionDataSource,
	session.SessionMessagesDataSource,
	session.SessionsDataSource,
	wiki.WikiExportDataSource,
	wiki.WikiPageDataSource,
	wiki.WikiRunDataSource,
	wiki.WikiRunHistoryDataSource,
	wiki.WikiRunsDataSource,
	wiki.WikiSearchDataSource,
}

func (p *agentyardProvider) DataSources(context.Context) []func() datasource.DataSource {
	offered := make([]func() datasource.DataSource, len(dataSources))
	for i, d := range dataSources {
		offered[i] = d.New
	}
	return offered
}

func (p *agentyardProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		computer.NewComputerFileDownloadEphemeral,
		serviceaccount.NewAPIKeyEphemeral,
		wiki.NewWikiVideoUploadURLEphemeral,
	}
}

func (p *agentyardProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{
		computer.ComputerList.New,
		environment.EnvironmentList.New,
		organization.MemberInvitationList.New,
		organization.UserUsageLimitList.New,
		serviceaccount.APIKeyList.New,
		serviceaccount.ServiceAccountList.New,
		session.SessionList.New,
		wiki.WikiRunList.New,
	}
}

func (p *agentyardProvider) Actions(context.Context) []func() action.Action {
	var actions []func() action.Action
	for _, o := range operations {
		if !o.OnlyWaits {
			actions = append(actions, o.Action)
		}
	}
	return actions
}
