package serviceaccount

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// apiKeyFields says where an error about a field of the API is shown.
var apiKeyFields = apierror.Fields{
	"name": path.Root("name"), "expiresAt": path.Root("expires_at"), "gracePeriodMinutes": path.Root("rotation").AtName("grace_period_minutes"),
}

// apiKeyLeftover says what to do about a live key of the same name.
var apiKeyLeftover = apierror.Leftover(func(e *client.ExistsError) string {
	return fmt.Sprintf("If it is a leftover of an interrupted run, revoke it: terraform apply -invoke=action.agentyard_api_key_revoke.NAME, with key_id = %q.", e.ID)
})

type apiKeyModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	Name             types.String `tfsdk:"name"`
	ExpiresAt        types.String `tfsdk:"expires_at"`
	ExpiresIn        types.String `tfsdk:"expires_in"`
	Rotation         types.Object `tfsdk:"rotation"`
	ID               types.String `tfsdk:"id"`
	Key              types.String `tfsdk:"key"`
	Fingerprint      types.String `tfsdk:"fingerprint"`
	CreatedAt        types.String `tfsdk:"created_at"`
	RotatedAt        types.String `tfsdk:"rotated_at"`
	NextRotationAt   types.String `tfsdk:"next_rotation_at"`
	IsRevoked        types.Bool   `tfsdk:"is_revoked"`
	RevokedAt        types.String `tfsdk:"revoked_at"`
	PreviousKeyID    types.String `tfsdk:"previous_key_id"`
}

type rotationModel struct {
	Triggers           types.Map    `tfsdk:"triggers"`
	Interval           types.String `tfsdk:"interval"`
	BeforeExpiry       types.String `tfsdk:"before_expiry"`
	GracePeriodMinutes types.Int64  `tfsdk:"grace_period_minutes"`
}

type apiKeyIdentity struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
	ID               types.String `tfsdk:"id"`
}

// FromAPI takes over a record of a listing. It never has the key's value, so that is kept as it is.
func (m *apiKeyModel) FromAPI(ctx context.Context, k *client.APIKey) diag.Diagnostics {
	m.ServiceAccountID, m.ID, m.Name = types.StringValue(k.AccountID), types.StringValue(k.ID), types.StringValue(k.Name)
	m.Fingerprint = value.StringOrNull(k.Fingerprint)
	m.CreatedAt = value.Time(k.CreatedAt.Time())
	m.setExpiry(k.ExpiresAt.Time())
	m.IsRevoked = types.BoolValue(k.IsRevoked)
	m.RevokedAt = value.Time(k.RevokedAt.Time())
	settings, _, diags := m.settings(ctx)
	m.NextRotationAt = value.Time(nextRotation(k.CreatedAt.Time(), settings.expiresAt, settings.interval, settings.beforeExpiry))
	return diags
}

// setMinted takes over a new key. The answer has no time of creation, so the time after which the key was made serves
// until a listing tells.
func (m *apiKeyModel) setMinted(ctx context.Context, k *client.MintedAPIKey, now time.Time) diag.Diagnostics {
	m.ID, m.Key, m.Fingerprint = types.StringValue(k.ID), types.StringValue(k.Value), value.StringOrNull(k.Fingerprint)
	m.setExpiry(k.ExpiresAt.Time())
	m.CreatedAt, m.IsRevoked, m.RevokedAt = types.StringNull(), types.BoolValue(false), types.StringNull()
	settings, _, diags := m.settings(ctx)
	m.NextRotationAt = value.Time(nextRotation(now, settings.expiresAt, settings.interval, settings.beforeExpiry))
	return diags
}

// setExpiry keeps the spelling of an expiry that is the same.
func (m *apiKeyModel) setExpiry(at time.Time) {
	if known := parseTime(m.ExpiresAt); !at.IsZero() && !known.IsZero() && known.Sub(at).Abs() < sameExpiry {
		return
	}
	m.ExpiresAt = value.Time(at)
}

// Identity is the account's ID and the key's, of which the second one changes with every rotation.
func (m *apiKeyModel) Identity() any {
	return &apiKeyIdentity{ServiceAccountID: m.ServiceAccountID, ID: m.ID}
}

// settings reads the arguments that decide about rotation, and reports whether one of them is not known yet.
func (m *apiKeyModel) settings(ctx context.Context) (s keySettings, unknown bool, diags diag.Diagnostics) {
	s.expiresAt, s.expiresIn = parseTime(m.ExpiresAt), parseDuration(m.ExpiresIn)
	unknown = m.ExpiresAt.IsUnknown() || m.ExpiresIn.IsUnknown() || m.Rotation.IsUnknown()
	if !value.IsSet(m.Rotation) {
		return s, unknown, nil
	}
	var r rotationModel
	diags = m.Rotation.As(ctx, &r, basetypes.ObjectAsOptions{})
	s.hasRotation = true
	s.interval, s.beforeExpiry = parseDuration(r.Interval), parseDuration(r.BeforeExpiry)
	s.grace = time.Duration(r.GracePeriodMinutes.ValueInt64()) * time.Minute
	unknown = unknown || r.Interval.IsUnknown() || r.BeforeExpiry.IsUnknown() || r.Triggers.IsUnknown()
	if value.IsSet(r.Triggers) {
		s.triggers = make(map[string]string, len(r.Triggers.Elements()))
		for name, element := range r.Triggers.Elements() {
			unknown = unknown || element.IsUnknown()
			s.triggers[name] = text(element)
		}
	}
	return s, unknown, diags
}

func text(v attr.Value) string {
	s, _ := v.(types.String)
	return s.ValueString()
}

// parseTime is the zero time for what is null, unknown or no time.
func parseTime(s types.String) time.Time {
	at, err := time.Parse(time.RFC3339, s.ValueString())
	if err != nil {
		return time.Time{}
	}
	return at
}

// parseDuration is 0 for what is null, unknown or no duration; a validator has refused the last.
func parseDuration(s types.String) time.Duration {
	d, err := value.ParseDuration(s.ValueString())
	if err != nil {
		return 0
	}
	return d
}
