package organization

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// memberModel is a member: the results of every data source that shows one.
type memberModel struct {
	ID           types.String `tfsdk:"id"`
	Email        types.String `tfsdk:"email"`
	FirstName    types.String `tfsdk:"first_name"`
	LastName     types.String `tfsdk:"last_name"`
	CreatedAt    types.String `tfsdk:"created_at"`
	LastSignInAt types.String `tfsdk:"last_sign_in_at"`
	Metadata     types.Map    `tfsdk:"metadata"`
}

// FromAPI takes over a record. An email address that was asked for stays as it is spelled.
func (m *memberModel) FromAPI(ctx context.Context, u *client.Member) (diags diag.Diagnostics) {
	m.ID = types.StringValue(u.ID)
	if !strings.EqualFold(m.Email.ValueString(), u.Email) {
		m.Email = types.StringValue(u.Email)
	}
	m.FirstName, m.LastName = value.StringOrNull(u.FirstName), value.StringOrNull(u.LastName)
	m.CreatedAt, m.LastSignInAt = value.Time(u.CreatedAt.Time), value.Time(u.LastSignInAt.Time)
	metadata := u.Metadata
	if metadata == nil {
		metadata = client.Metadata{}
	}
	m.Metadata, diags = types.MapValueFrom(ctx, types.StringType, metadata)
	return diags
}

// memberResults are the fields of a member, wherever they are shown.
var memberResults = results.Plain{
	"id":              {Text: "The member's ID, as the identity provider knows it."},
	"email":           {Text: "The member's email address."},
	"first_name":      {Text: "The member's first name. Null if the service does not know it."},
	"last_name":       {Text: "The member's last name. Null if the service does not know it."},
	"created_at":      {Text: "When the member joined, in RFC 3339 (UTC)."},
	"last_sign_in_at": {Text: "When the member signed in last, in RFC 3339 (UTC). Null if never."},
	"metadata":        {Text: "What the organization keeps about the member, by name; empty if nothing. A value that is no string is its JSON.", Type: types.MapType{ElemType: types.StringType}},
}
