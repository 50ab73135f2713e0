package crud

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// DeletionProtection returns the attribute deletion_protection. The guide says what it does not prevent.
func DeletionProtection(object string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(false),
		MarkdownDescription: fmt.Sprintf("Whether to refuse to destroy or replace the %s. Defaults to `false`. See [Deletion protection](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/sharing-computers#deletion-protection).", object),
	}
}

// Protected returns the error of a protected object that would be destroyed or replaced. Name and id identify it; either may be empty.
func Protected(object, name, id, hint string) (summary, detail string) {
	return "Cannot destroy protected " + object, phrase.Join(
		fmt.Sprintf("%s %s has deletion_protection = true in the state, so it cannot be destroyed or replaced.", title(object), wire.Ref{Name: name, ID: id}),
		"To allow this, keep it in the configuration, set deletion_protection = false and apply. Then destroy or replace it.", hint,
		"If Terraform calls it a deposed object, its replacement exists already. To keep the protected object, run terraform state rm ADDRESS, import it, and delete the replacement. "+
			"To keep the replacement, delete the protected object at the service, then apply again.")
}
