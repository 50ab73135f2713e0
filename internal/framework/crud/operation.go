package crud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// Operation is something that the service does once, or a wait for it. The provider offers it as an action, and as a resource that
// runs it when it is created.
type Operation struct {
	// Name is the name of both types without the provider's prefix.
	Name string
	// Description is on both pages. ActionNotes and ResourceNotes are more paragraphs of one of them.
	Description, ActionNotes, ResourceNotes string
	// Arguments are those of the resource and, except ResourceOnly, of the action. ResourceOnly ones may be attributes of a resource's schema.
	Arguments    map[string]schema.Attribute
	ResourceOnly []string
	// OnlyWaits says that the operation changes nothing. It has no action, no "triggers", and no "ran_at".
	OnlyWaits bool
	// Results are the resource's computed attributes. Without an "id" among them, the resource gets a random one. It also gets "ran_at".
	Results results.Attributes
	// Timeout is the default of the timeouts block, which TimeoutText describes. Without the text, there is no such block.
	Timeout     time.Duration
	TimeoutText string
	// Canonical writes defaults out, and drops the arguments that only control the wait, so that equal values do not run the operation
	// again. It may be nil. Create it with the function CanonicalModel.
	Canonical func(context.Context, tfsdk.Config) tfsdk.Config
	// Check is for what the validators of an argument cannot see. It may be nil. Create it with the function CheckModel.
	Check func(context.Context, tfsdk.Config, *Call) diag.Diagnostics
	// Run sends the requests and returns the results. Create it with the function of the same name.
	Run func(context.Context, *client.Client, tfsdk.Config, *Call) (Results, error)
	// Verb and Object are for errors, such as "restart" and "computer".
	Verb, Object string
	Options      apierror.Options
}

// Results are the values of Operation.Results. An absent one is null.
type Results map[string]attr.Value

// Progress sends a progress message of an operation.
type Progress func(format string, args ...any)

// Call is one run of an operation.
type Call struct {
	// IsAction is false for a resource.
	IsAction bool
	// Timeout is the value in the timeouts block, or its default.
	Timeout time.Duration
	// Report reports progress.
	Report Progress

	warnings diag.Diagnostics
}

// Warn adds a warning to the result.
func (c *Call) Warn(summary, detail string) {
	c.warnings.AddWarning(summary, detail)
}

// Run returns an operation's Run. Act gets a model with the configuration's values, which has a field for each argument except
// timeouts. Act may return an *ObjectError.
func Run[M any](act func(ctx context.Context, c *client.Client, m *M, call *Call) (Results, error)) func(context.Context, *client.Client, tfsdk.Config, *Call) (Results, error) {
	return func(ctx context.Context, c *client.Client, config tfsdk.Config, call *Call) (Results, error) {
		m := new(M)
		if err := Failure(config.Get(ctx, m)); err != nil {
			return nil, err
		}
		return act(ctx, c, m, call)
	}
}

// CheckModel returns an operation's Check, which gets the model of Run. Values may be unknown.
func CheckModel[M any](check func(ctx context.Context, m *M, call *Call) diag.Diagnostics) func(context.Context, tfsdk.Config, *Call) diag.Diagnostics {
	return func(ctx context.Context, config tfsdk.Config, call *Call) diag.Diagnostics {
		m := new(M)
		diags := config.Get(ctx, m)
		if !diags.HasError() {
			diags.Append(check(ctx, m, call)...)
		}
		return diags
	}
}

// CanonicalModel returns an operation's Canonical, which edits the model of Run. It skips arguments that are not known yet.
func CanonicalModel[M any](edit func(m *M)) func(context.Context, tfsdk.Config) tfsdk.Config {
	return func(ctx context.Context, config tfsdk.Config) tfsdk.Config {
		m := new(M)
		edited := tfsdk.State(config)
		if config.Get(ctx, m).HasError() {
			return config
		}
		if edit(m); edited.Set(ctx, m).HasError() {
			return config
		}
		return tfsdk.Config(edited)
	}
}

// isIn reports whether the action or the resource has an argument.
func (o *Operation) isIn(argument string, ofAction bool) bool {
	return !ofAction || !slices.Contains(o.ResourceOnly, argument)
}

// hasTimeouts reports whether there is a timeouts block.
func (o *Operation) hasTimeouts() bool { return o.TimeoutText != "" }

// arguments returns a configuration with all arguments. Those that it does not have are null.
func (o *Operation) arguments(ctx context.Context, config tfsdk.Config) tfsdk.Config {
	all := tfsdk.Config{Schema: schema.Schema{Attributes: o.Arguments}}
	var given map[string]tftypes.Value
	_ = config.Raw.As(&given) // It is an object.
	values := make(map[string]tftypes.Value, len(o.Arguments))
	for name, argument := range o.Arguments {
		values[name] = tftypes.NewValue(argument.GetType().TerraformType(ctx), nil)
		if v, ok := given[name]; ok {
			values[name] = v
		}
	}
	all.Raw = tftypes.NewValue(all.Schema.Type().TerraformType(ctx), values)
	return all
}

// validate runs Check.
func (o *Operation) validate(ctx context.Context, config tfsdk.Config, call *Call) diag.Diagnostics {
	if o.Check == nil {
		return nil
	}
	return o.Check(ctx, o.arguments(ctx, config), call)
}

// validateAgain repeats the validation of strings, because it does not know the values of variables in an action, and no value that is
// unknown until the apply.
func (o *Operation) validateAgain(ctx context.Context, config tfsdk.Config, call *Call) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(o.Arguments)) {
		argument, ok := o.Arguments[name].(interface {
			schema.Attribute
			StringValidators() []validator.String
		})
		if !ok || !o.isIn(name, call.IsAction) {
			continue
		}
		at := path.Root(name)
		var v types.String
		diags.Append(config.GetAttribute(ctx, at, &v)...)
		if argument.IsRequired() && v.IsNull() {
			diags.AddAttributeError(at, "Missing value", name+" is null, so nothing was sent. If it comes from a variable, set the variable.")
		}
		for _, check := range argument.StringValidators() {
			var resp validator.StringResponse
			check.ValidateString(ctx, validator.StringRequest{Path: at, PathExpression: at.Expression(), Config: config, ConfigValue: v}, &resp)
			diags.Append(resp.Diagnostics...)
		}
	}
	diags.Append(o.validate(ctx, config, call)...)
	return diags
}

// run checks a configuration and runs the operation.
func (o *Operation) run(ctx context.Context, c *client.Client, config tfsdk.Config, call *Call) (Results, diag.Diagnostics) {
	diags := o.validateAgain(ctx, config, call)
	diags.Append(o.setTimeout(ctx, config, call)...)
	if diags.HasError() {
		return nil, diags
	}
	ctx, found := withFound(ctx, foundByOperation)
	returned, err := o.Run(ctx, c, o.arguments(ctx, config), call)
	diags.Append(call.warnings...)
	if err != nil {
		diags.Append(explain(o.Verb, o.Object, err, []apierror.Option{o.Options})...)
		return nil, diags
	}
	diags.Append(found()...)
	return returned, diags
}

// setTimeout sets the call's timeout. It checks the value again, like validateAgain.
func (o *Operation) setTimeout(ctx context.Context, config tfsdk.Config, call *Call) diag.Diagnostics {
	call.Timeout = o.Timeout
	if !o.hasTimeouts() {
		return nil
	}
	at := path.Root("timeouts").AtName("create")
	if call.IsAction {
		at = path.Root("timeouts").AtName("invoke")
	}
	var given types.String
	diags := config.GetAttribute(ctx, at, &given)
	if value.IsSet(given) {
		var err error
		if call.Timeout, err = time.ParseDuration(given.ValueString()); err != nil || call.Timeout <= 0 {
			diags.AddAttributeError(at, "Invalid timeout", fmt.Sprintf("%s must be longer than 0s, such as 30m, not %q.", at, given.ValueString()))
		}
	}
	return diags
}

// RequiredText is a required argument that must not be empty. Like OptionalText, it fits into the schema of any object without plan modifiers.
func RequiredText(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: description, Validators: []validator.String{value.NotEmpty()}}
}

// RequiredNotBlank is RequiredText that rejects spaces too. The hint is a sentence for the error.
func RequiredNotBlank(description, hint string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: description, Validators: []validator.String{value.NotBlank(hint)}}
}

// OptionalText is an optional argument that must not be empty.
func OptionalText(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: []validator.String{value.NotEmpty()}}
}

var (
	_ action.ActionWithConfigure      = (*operationAction)(nil)
	_ action.ActionWithValidateConfig = (*operationAction)(nil)
	_ action.ActionWithModifyPlan     = (*operationAction)(nil)
)

// Action returns the operation as an action.
func (o Operation) Action() action.Action { return &operationAction{op: o} }

type operationAction struct {
	client *client.Client
	op     Operation
}

// Metadata sets the type's name.
func (a *operationAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + a.op.Name
}

// Configure sets the client that the provider created.
func (a *operationAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.client = configured(req.ProviderData, &resp.Diagnostics)
}

const useAction = "\n\n**Action or resource.** The action returns nothing. For results, and with OpenTofu or Terraform before 1.14, use the resource of the same name."

// Schema contains the arguments.
func (a *operationAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: a.op.Description + a.op.ActionNotes + useAction,
		Attributes:          make(map[string]schema.Attribute, len(a.op.Arguments)),
	}
	for name, argument := range a.op.Arguments {
		if a.op.isIn(name, true) {
			resp.Schema.Attributes[name] = argument
		}
	}
	if a.op.hasTimeouts() {
		resp.Schema.Blocks = map[string]schema.Block{
			"timeouts": value.Timeouts(map[string]string{"invoke": a.op.TimeoutText}),
		}
	}
}

// ValidateConfig checks what the schema cannot.
func (a *operationAction) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	resp.Diagnostics.Append(a.op.validate(ctx, req.Config, &Call{IsAction: true})...)
}

// ModifyPlan checks again: unlike the validation, the plan knows the values of variables.
func (a *operationAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	resp.Diagnostics.Append(a.op.validateAgain(ctx, req.Config, &Call{IsAction: true})...)
}

// Invoke runs the operation.
func (a *operationAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	report := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	_, diags := a.op.run(ctx, a.client, req.Config, &Call{IsAction: true, Report: report})
	resp.Diagnostics.Append(diags...)
}
