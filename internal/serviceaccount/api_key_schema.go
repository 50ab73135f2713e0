package serviceaccount

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

const (
	maxKeyName      = 128
	maxGraceMinutes = 10
	durationForms   = "A duration such as `90m`, `720h`, `30d` or `2w`"
)

// keyDurations show how long keys usually live.
var keyDurations = []string{"90m", "720h", "30d", "2w"}

func apiKeySchema() schema.Schema {
	result := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return schema.Schema{
		MarkdownDescription: "An API key of a service account, rotated in place. A rotation that is due shows in the plan as an update with a new `id`, `key` and `fingerprint`, " +
			"so that everything that uses the key is planned with it. Destroying the resource revokes the key, and the one that lives out its grace period. " +
			"A key that was revoked or deleted elsewhere, or that has expired, is replaced in place by a newly minted one. " +
			"The service shows the value once, so it is kept in the state; for a key that is in no state, see the ephemeral resource of the same name." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the service account that the key authenticates as. A change replaces the key.",
				Validators:          []validator.String{value.NotEmpty()},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"name": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "Name of the key, 1 to 128 characters. A rotation keeps it. Creating a key stops with an error where the account has a live key of this name, which may be the leftover of an interrupted run. " +
					"For the same reason `create_before_destroy` cannot replace a key by one of the same name; use `rotation.triggers`. A change replaces the key.",
				Validators:    []validator.String{value.Length(1, maxKeyName)},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"expires_at": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "When the key stops authenticating (RFC 3339), in the future. A change rotates the key, as removing it does. Every rotation keeps this time, so a key that is rotated by time should have `expires_in`. Conflicts with `expires_in`. Null if the key never expires.",
				Validators:          []validator.String{timeValidator{}, stringvalidator.ConflictsWith(path.MatchRoot("expires_in"))},
			},
			"expires_in": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: durationForms + " for which the key lives, counted anew from each mint and rotation. A change rotates the key, as removing it does; after an import it is adopted for the next rotation. Conflicts with `expires_at`.",
				Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
			},
			"rotation": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "When the key is rotated. If omitted, it is rotated only when its expiry is changed, and replaced when it is dead. Rotations happen in `apply`, so run it more often than keys come due. A key that was imported without its value is rotated once.",
				Attributes: map[string]schema.Attribute{
					"triggers": schema.MapAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Any values; the key is rotated when they change, and when they are added. Removing all of them rotates nothing.",
					},
					"interval": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: durationForms + " from `created_at`, after which the key is due.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
					},
					"before_expiry": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: durationForms + " before the expiry, from which on the key is due. Shorter than the key's life, and not shorter than the grace period. Without `interval` it needs `expires_in` or `expires_at`.",
						Validators:          []validator.String{value.DurationAtLeast(time.Second, keyDurations...)},
					},
					"grace_period_minutes": schema.Int64Attribute{
						Optional: true,
						MarkdownDescription: "How long the old key still authenticates after a rotation, 0 to 10 minutes; null means that it stops at once. The old key must not expire within that time. " +
							"Only one previous key lives on: a rotation within a grace period revokes the older key.",
						Validators: []validator.Int64{int64validator.Between(0, maxGraceMinutes)},
					},
				},
			},
			"id":               result("The present key's ID. A rotation changes it."),
			"key":              schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key's value. Null after an import, because the service shows a value once; a rotation gives one."},
			"fingerprint":      result("Identifies the key's value without showing it."),
			"created_at":       result("When the present key was minted (RFC 3339, UTC)."),
			"rotated_at":       result("When the key was last rotated, or replaced because it was dead (RFC 3339, UTC); null until the first time."),
			"next_rotation_at": result("When the key is due by `rotation` (RFC 3339, UTC); null if it never is by time. Within 15 minutes before it, any other change rotates the key too."),
			"is_revoked":       schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the key was revoked or deleted elsewhere. A key that has expired is dead too, without being revoked."},
			"revoked_at":       result("When the key was revoked (RFC 3339, UTC); null if it is not."),
			"previous_key_id":  result("ID of the key before, while it lives out its grace period, else null."),
		},
	}
}

// timeValidator accepts RFC 3339.
type timeValidator struct{}

func (timeValidator) Description(context.Context) string {
	return "must be a time in RFC 3339, such as 2027-01-31T08:00:00Z"
}

func (v timeValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v timeValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if value.IsSet(req.ConfigValue) && parseTime(req.ConfigValue).IsZero() {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Time", fmt.Sprintf("%s %s, got: %q.", req.Path, v.Description(ctx), req.ConfigValue.ValueString()))
	}
}
