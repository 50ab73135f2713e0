package crud

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ resource.ResourceWithConfigure      = (*operationResource)(nil)
	_ resource.ResourceWithValidateConfig = (*operationResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*operationResource)(nil)
	_ resource.ResourceWithImportState    = (*operationResource)(nil)
)

// Resource returns the operation as a resource.
func (o Operation) Resource() resource.Resource {
	return &operationResource{Resource{Name: o.Name}, o}
}

type operationResource struct {
	Resource
	op Operation
}

const useResource = "\n\n**Action or resource.** This resource stores its results, and works with every CLI. The action of the same name requires Terraform 1.14 and returns nothing.\n\n" +
	"**When it runs.** Creating the resource runs the operation once. Changing an argument or `triggers` replaces the resource, which runs it again. " +
	"A change that would send the same, such as of a timeout, is stored without running it again. " +
	"To rename the resource, add a `moved` block. Destroying the resource does not undo the operation, and sends nothing.\n\n" +
	"**Failures.** After a failure, nothing is stored, so the next apply runs the operation again."

var everyRun = results.Attributes{
	"id":     results.Computed("ID of this run, which the provider generates.", types.StringType),
	"ran_at": results.Computed("When the operation ended (RFC 3339, UTC).", types.StringType),
}

// Schema contains the arguments and the results.
func (r *operationResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: r.op.Description + r.op.ResourceNotes, Attributes: results.Attributes{}}
	if !r.op.OnlyWaits {
		resp.Schema.MarkdownDescription += useResource
		maps.Copy(resp.Schema.Attributes, everyRun)
		resp.Schema.Attributes["triggers"] = schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Changing any value runs the operation again.",
		}
	}
	maps.Copy(resp.Schema.Attributes, r.op.Results)
	for name, argument := range r.op.Arguments {
		resp.Schema.Attributes[name] = argument // One interface covers the attributes of actions and resources.
	}
	if r.op.hasTimeouts() {
		resp.Schema.Blocks = map[string]schema.Block{
			"timeouts": value.Timeouts(map[string]string{"create": r.op.TimeoutText}),
		}
	}
}

// ValidateConfig checks what the schema cannot.
func (r *operationResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	resp.Diagnostics.Append(r.op.validate(ctx, req.Config, &Call{})...)
}

// ModifyPlan replaces the resource if its triggers or what it sends change.
func (r *operationResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() || req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	before := r.sent(ctx, req.State.Raw)
	for name, v := range r.sent(ctx, req.Plan.Raw) {
		if !v.Equal(before[name]) && (!isEmpty(v) || !isEmpty(before[name])) {
			resp.RequiresReplace.Append(path.Root(name))
		}
	}
}

// sent returns the triggers, and the arguments in their canonical form.
func (r *operationResource) sent(ctx context.Context, raw tftypes.Value) map[string]tftypes.Value {
	config := r.op.arguments(ctx, tfsdk.Config{Raw: raw})
	if r.op.Canonical != nil {
		config = r.op.Canonical(ctx, config)
	}
	var given, sent map[string]tftypes.Value
	_, _ = raw.As(&given), config.Raw.As(&sent) // They are objects.
	for name, v := range sent {
		var id string
		if strings.HasSuffix(name, "_id") && v.IsFullyKnown() && v.As(&id) == nil && uuid.Validate(id) == nil {
			sent[name] = tftypes.NewValue(tftypes.String, strings.ToLower(id)) // The service accepts any case.
		}
	}
	sent["triggers"] = given["triggers"]
	return sent
}

// isEmpty reports whether a value is null or an empty collection, which are the same to an operation.
func isEmpty(v tftypes.Value) bool {
	var list []tftypes.Value
	var entries map[string]tftypes.Value
	return v.IsNull() || v.IsKnown() && (v.As(&list) == nil && len(list) == 0 || v.As(&entries) == nil && len(entries) == 0)
}

// Create runs the operation. It reads the configuration, because the plan lacks write-only values.
func (r *operationResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	report := func(format string, args ...any) { tflog.Info(ctx, fmt.Sprintf(format, args...)) }
	found, diags := r.op.run(ctx, r.Client, req.Config, &Call{Report: report})
	resp.Diagnostics.Append(diags...)
	if diags.HasError() {
		return
	}
	all := Results{"id": types.StringValue(uuid.NewString()), "ran_at": types.StringValue(r.Client.Conn.Clock.Now().UTC().Format(time.RFC3339))}
	maps.Copy(all, found)
	var stored map[string]tftypes.Value
	_ = req.Plan.Raw.As(&stored) // It is an object.
	for name, planned := range stored {
		switch result, ok := all[name]; {
		case ok:
			stored[name], _ = result.ToTerraformValue(ctx) // It fails only for values that do not have their type.
		case !planned.IsKnown():
			stored[name] = tftypes.NewValue(planned.Type(), nil)
		}
	}
	resp.State.Raw = tftypes.NewValue(req.Plan.Raw.Type(), stored)
}

// Read keeps the state, because the service keeps no record of the operation.
func (r *operationResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update stores the plan, which sends nothing.
func (r *operationResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete removes the resource from the state.
func (r *operationResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// ImportState rejects an import, because there is no object to import.
func (r *operationResource) ImportState(_ context.Context, _ resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resp.Diagnostics.AddError("Operation cannot be imported", "agentyard_"+r.Name+" runs an operation, so there is no object to import. Remove the import. The next apply runs the operation.")
}
