package organization

import (
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// memberResults are the fields of a member.
var memberResults = results.Fields[*organization.Member]{
	"id":              results.String("The member's ID.", func(u *organization.Member) string { return u.ID }),
	"email":           results.String("The member's email address.", func(u *organization.Member) string { return u.Email }),
	"first_name":      results.String("The member's first name. Null if unknown.", func(u *organization.Member) string { return u.FirstName }),
	"last_name":       results.String("The member's last name. Null if unknown.", func(u *organization.Member) string { return u.LastName }),
	"created_at":      results.Time("When the member was added (RFC 3339, UTC).", func(u *organization.Member) time.Time { return u.CreatedAt.Time() }),
	"last_sign_in_at": results.Time("When the member last signed in (RFC 3339, UTC). Null if unknown.", func(u *organization.Member) time.Time { return u.LastSignInAt.Time() }),
	"metadata":        results.StringMap("The organization's metadata about the member. Values that are not strings are JSON.", metadataOf),
}

// metadataOf returns an empty map if the service returns no metadata.
func metadataOf(u *organization.Member) map[string]string {
	if u.Metadata == nil {
		return map[string]string{}
	}
	return u.Metadata
}
