package crud

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// DeletionProtection returns the attribute deletion_protection. Exceptions are sentences about what it does not prevent.
func DeletionProtection(object, exceptions string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(false),
		MarkdownDescription: phrase.Join(
			fmt.Sprintf("Whether to fail every plan that destroys or replaces the %s. To destroy it, first set this to `false` and apply.", object),
			fmt.Sprintf("With `-replace` or `replace_triggered_by`, or if the %s is tainted, the apply fails instead and does not delete it. With `create_before_destroy`, the apply fails after it has created the replacement, and the first %s is deposed.", object, object), exceptions, "Defaults to `false`."),
	}
}

// Protected returns the error of a protected object that would be destroyed or replaced. Name and id identify it; either may be empty.
func Protected(object, name, id, hint string) (summary, detail string) {
	return "Cannot destroy protected " + object, phrase.Join(
		fmt.Sprintf("%s %s has deletion_protection = true in the state, so it cannot be destroyed or replaced.", strings.ToUpper(object[:1])+object[1:], wire.Ref{Name: name, ID: id}),
		"To allow this, keep it in the configuration, set deletion_protection = false and apply. Then destroy or replace it.", hint,
		"If Terraform calls it a deposed object, it cannot be changed any more: delete it at the service, then apply again.")
}
