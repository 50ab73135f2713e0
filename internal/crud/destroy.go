package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

const protection = "deletion_protection"

// maxSessions limits how many sessions a warning names.
const maxSessions = 10

// DeletionProtection returns the attribute deletion_protection. Exceptions are sentences about what it does not prevent.
func DeletionProtection(object, exceptions string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(false),
		MarkdownDescription: phrase.Join(
			fmt.Sprintf("Whether to fail every plan that destroys or replaces the %s. To destroy it, first set this to `false` and apply.", object),
			fmt.Sprintf("With `-replace` or `replace_triggered_by`, or if the %s is tainted, the apply fails instead and does not delete it. With `create_before_destroy`, the apply fails after it has created the replacement, and the first %s is deposed.", object, object), exceptions, "Defaults to `false`."),
	}
}

// protected returns an error if deletion_protection is true in the state.
func protected(ctx context.Context, object string, state tfsdk.State, hint string) diag.Diagnostics {
	var isProtected types.Bool
	if state.GetAttribute(ctx, path.Root(protection), &isProtected).HasError() || !isProtected.ValueBool() {
		return nil
	}
	which := Which(attributeOf(ctx, state, "name"), attributeOf(ctx, state, "id"))
	return diag.Diagnostics{diag.NewErrorDiagnostic("Cannot Destroy Protected "+title(object), phrase.Join(
		fmt.Sprintf("%s %s has %s = true in the state, so it cannot be destroyed or replaced.", strings.ToUpper(object[:1])+object[1:], which, protection),
		fmt.Sprintf("To allow this, set %s = false and apply. Then destroy or replace it.", protection), hint,
		"A deposed object cannot be changed any more: delete it at the service, then apply again."))}
}

// Undeletable returns the error of a protected object for its deletion: some plans do not show the provider that they delete it.
func Undeletable(ctx context.Context, object string, state tfsdk.State) diag.Diagnostics {
	return protected(ctx, object, state, "If it is tainted, run terraform untaint ADDRESS first.")
}

// WhenPlanned runs check at the end of a plan for an existing object. It reports whether the plan destroys or replaces the object.
// If it does and the object is protected, the plan fails instead.
//
// ModifyPlan alone cannot know this, because the framework does not show it which attributes force a replacement.
func WhenPlanned(ctx context.Context, object string, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, check func(isDestroyed bool) diag.Diagnostics) {
	if req.State.Raw.IsNull() {
		return
	}
	finish := func(isDestroyed bool) diag.Diagnostics {
		if isDestroyed {
			if diags := protected(ctx, object, req.State, ""); diags.HasError() {
				return diags
			}
		}
		return check(isDestroyed)
	}
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(finish(true)...)
		return
	}
	if p, ok := ctx.Value(planKey{}).(*plan); ok {
		p.finish = finish
	}
}

type planKey struct{}

type plan struct {
	finish func(isReplaced bool) diag.Diagnostics
}

// Planning returns the context of one plan, and a function that runs the check of WhenPlanned.
func Planning(ctx context.Context) (context.Context, func(isReplaced bool) diag.Diagnostics) {
	p := &plan{finish: func(bool) diag.Diagnostics { return nil }}
	return context.WithValue(ctx, planKey{}, p), func(isReplaced bool) diag.Diagnostics { return p.finish(isReplaced) }
}

// BusySessions warns about the running and pending sessions on computers that a plan destroys. What describes the computers. It
// says nothing if there are none, or if the sessions cannot be listed.
func BusySessions(ctx context.Context, c *client.Client, what string, computers []string) diag.Diagnostics {
	var names []string
	for _, s := range c.Sessions.ListBusy(ctx, computers) {
		text := s.Status
		if s.Title != "" {
			text = fmt.Sprintf("%q, %s", s.Title, s.Status)
		}
		names = append(names, fmt.Sprintf("%s (%s)", s.ID, text))
	}
	if len(names) == 0 {
		return nil
	}
	// All warnings have the same summary, so that the CLIs group them.
	return diag.Diagnostics{diag.NewWarningDiagnostic("Destroys Computers With Running or Pending Sessions",
		fmt.Sprintf("The plan destroys %s. These sessions are running or pending there: %s. To let them finish, do not apply yet.", what, phrase.Names(names, maxSessions)))}
}
