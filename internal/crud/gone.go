package crud

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// Unreadable ends a Read that failed: gone means removed from the state, with a warning; settings that are unknown
// during a plan leave the state as it is; anything else is an error.
func Unreadable(ctx context.Context, object string, identity any, err error, resp *resource.ReadResponse, options ...apierror.Option) {
	var missing *client.UnconfiguredError
	var unset *UnsetError
	switch {
	case client.IsGone(err):
		Gone(ctx, object, identity, err, resp)
	case errors.As(err, &unset):
		Unset(ctx, object, identity, unset, resp)
	case errors.As(err, &missing) && adopt.Unread(ctx, resp.Private):
		// A state that holds nothing but the ID would be planned as a replacement, which destroys what was imported.
		resp.Diagnostics.AddError("Cannot Import "+title(object)+" Yet", fmt.Sprintf("The %s is imported while the provider's %s is not known yet, so it cannot be read. "+
			"Apply what %s depends on first, for example with -target, then plan the import.", object, missing.Setting, missing.Setting))
	case errors.As(err, &missing):
		if missing.First {
			resp.Diagnostics.AddWarning("State Not Refreshed", "The provider's "+missing.Setting+" is not known yet, so objects in the state were not compared with the service. They are once "+missing.Setting+" is known.")
		}
		resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, identity)...)
	default:
		resp.Diagnostics.Append(apierror.For("read", object, err, options...)...)
	}
}

// Gone removes an object from the state. Its identity is set first, without which an import of a missing object fails
// with another error. Err is what says that it is gone; nil where nothing but its absence does.
func Gone(ctx context.Context, object string, identity any, err error, resp *resource.ReadResponse) {
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, identity)...)
	id := idOf(ctx, resp)
	resp.State.RemoveResource(ctx)
	detail := fmt.Sprintf("The %s%s does not exist at the service any more. It is removed from the state; the next apply creates it again if it is still configured.", object, id)
	var gone *client.GoneError
	if errors.As(err, &gone) {
		detail += doubt(gone)
	}
	resp.Diagnostics.AddWarning(title(object)+" Is Gone", detail)
}

// UnsetError says that a singleton is gone: it is not an object of its own, but something that is set or not.
type UnsetError struct {
	// SeesNothing says that the listing which would show what is set is empty, so that nothing shows whose objects the API key sees.
	SeesNothing bool
}

func (*UnsetError) Error() string { return "it is not set" }

// Unset is Gone for a singleton.
func Unset(ctx context.Context, object string, identity any, err *UnsetError, resp *resource.ReadResponse) {
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, identity)...)
	resp.State.RemoveResource(ctx)
	resp.Diagnostics.AddWarning(title(object)+" Is Not Set", fmt.Sprintf("No %s is set at the service any more. It is removed from the state; the next apply sets it again if it is still configured.%s",
		object, doubt(&client.GoneError{SeesNothing: err.SeesNothing})))
}

// Deleted warns where an object that was to be deleted is said to be gone already, and that may have another cause. Which
// tells which one it was; see Which.
func Deleted(object, which string, err error) diag.Diagnostics {
	var gone *client.GoneError
	if !errors.As(err, &gone) || doubt(gone) == "" {
		return nil
	}
	if which != "" {
		which = " " + which
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(title(object)+" Was Gone Already",
		fmt.Sprintf("The %s%s does not exist at the service, so nothing was deleted, and it is removed from the state.%s", object, which, doubt(gone)))}
}

// doubt is what may explain otherwise that an object seems to be gone, after a blank; empty where nothing does.
func doubt(gone *client.GoneError) string {
	text := ""
	if gone.SeesNothing {
		text += " " + OrSomebodyElses
	}
	if gone.Doubt != "" {
		text += " " + gone.Doubt
	}
	return text
}

// OrSomebodyElses is the other cause there may be where a listing shows nothing at all.
const OrSomebodyElses = "The service lists no object of this kind to this API key. If there should be some, they may exist and only not be visible: check base_url and whose key it is before the next apply, use the owner's key, and keep or restore the state."

// title is an object's name at the start of a summary: "Service Account", "API Key".
func title(object string) string {
	words := strings.Fields(object)
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// idOf is the ID of the object that is in the state, after a blank; empty where it is not known.
func idOf(ctx context.Context, resp *resource.ReadResponse) string {
	id := attributeOf(ctx, resp.State, "id")
	if id == "" {
		return ""
	}
	return " " + id
}
