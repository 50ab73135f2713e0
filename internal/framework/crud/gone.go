package crud

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

// OwnerOnly is a model of an object that may be visible only to its owner. A 404 for another API key does not mean that it
// is gone.
type OwnerOnly interface {
	// OwnerOnly reports whether only the owner's API keys can see the object.
	OwnerOnly() bool
}

// RecordReader records in private state which API key last read an object, or its key_owner if one is set. It writes only if that has
// changed.
func RecordReader(ctx context.Context, c *client.Client, private privatestate.State) diag.Diagnostics {
	if by, ok := privatestate.ReaderOf(ctx, private); ok && by.Hash == c.Conn.KeyFingerprint(by.Salt) {
		return nil
	}
	salt := rand.Text()[:8] // It is short, because each object in a state has one.
	return privatestate.SetReader(ctx, private, privatestate.LastReader{Salt: salt, Hash: c.Conn.KeyFingerprint(salt)})
}

// otherReader returns a sentence if an object was last read with another API key or key_owner. Otherwise, it is empty. A record
// of a key also counts after key_owner is set: until the object is read again, nothing shows that the keys have the same owner.
func otherReader(ctx context.Context, c *client.Client, private privatestate.State) string {
	if by, ok := privatestate.ReaderOf(ctx, private); !ok || by.Hash == c.Conn.KeyFingerprint(by.Salt) {
		return ""
	}
	return "It was last read with another API key or key_owner."
}

// NotVisibleError returns an error if a missing object may still exist: base_url does not lead to the API, or only the owner can see the
// object, and it was last read with another API key or key_owner. Without an error, the object is gone. Verb is for the summary.
func NotVisibleError(ctx context.Context, r *Resource, verb, id string, model any, private privatestate.State) diag.Diagnostics {
	if err := r.Client.Conn.CheckBaseURL(ctx); err != nil {
		return explain(verb, r.object(), err, nil)
	}
	visible, ok := model.(OwnerOnly)
	if !ok || !visible.OwnerOnly() {
		return nil
	}
	reader := otherReader(ctx, r.Client, private)
	if reader == "" {
		return nil
	}
	prevention := ""
	if r.Client.Conn.KeyOwner == "" {
		prevention = "If each run uses a new key, set key_owner in the provider block to prevent this error."
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic("Cannot "+verb+" "+r.object(), phrase.Join(
		fmt.Sprintf("%s %s is not visible to the provider's API key. %s", title(r.object()), id, reader),
		fmt.Sprintf("If the %s was deleted, run terraform state rm ADDRESS. Otherwise, use a key of its owner.", r.object()), prevention))}
}

// HandleFailedRead handles the error of a Read. It removes a missing object from the state with a warning. It leaves the state unchanged
// if the object is not visible yet, or if settings are unknown during a plan. Anything else is an error.
func HandleFailedRead(ctx context.Context, r *Resource, model Identified, err error, resp *resource.ReadResponse, options ...apierror.Option) {
	object := r.object()
	var missing *transport.UnconfiguredError
	var unset *UnsetError
	switch {
	case collection.IsNew(err):
		resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, model)...)
	case collection.IsGone(err):
		HandleGone(ctx, r, model, resp)
	case errors.As(err, &unset) && privatestate.IsImportUnread(ctx, resp.Private):
		resp.Diagnostics.AddError("Cannot import "+object, fmt.Sprintf("No %s is set. To set one, apply without the import.", object))
	case errors.As(err, &unset):
		remove(ctx, r.Client, model, resp, title(object)+" is not set", fmt.Sprintf("No %s is set. It is removed from the state. If it is still configured, the next apply sets it again.", object))
	case errors.As(err, &missing) && missing.Setting != "" && privatestate.IsImportUnread(ctx, resp.Private):
		// A state with only the ID would be planned as a replacement, which destroys the imported object.
		resp.Diagnostics.AddError("Cannot import "+object+" yet", fmt.Sprintf("The %s cannot be read, because the provider's %s is not known yet. "+
			"First apply what %s depends on, for example with -target. Then plan the import.", object, missing.Setting, missing.Setting))
	case errors.As(err, &missing) && missing.Setting != "":
		resp.Diagnostics.AddWarning("State not refreshed", "The provider's "+missing.Setting+" is not known yet, so objects in the state were not compared with the service.")
		resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, model)...)
	default:
		resp.Diagnostics.Append(explain("read", object, err, options)...)
	}
}

// HandleGone removes a missing object from the state, unless it may still exist but be invisible to the API key. After an import,
// it returns an error, because Terraform's own one would suggest another region or endpoint.
func HandleGone(ctx context.Context, r *Resource, model Identified, resp *resource.ReadResponse) {
	object, id := r.object(), cmp.Or(attributeOf(ctx, resp.State, "id"), attributeOf(ctx, resp.State, "email")) // An import sets only one of them.
	if privatestate.IsImportUnread(ctx, resp.Private) {
		account := attributeOf(ctx, resp.State, "service_account_id")
		detail := phrase.Join(apierror.NoSuch(object, id), apierror.NameHint("service account", account))
		if named := objectsNamed(ctx, r.Client, object, id); len(named) == 1 {
			detail = fmt.Sprintf("%q is the name of the %s %s. Import it by that ID.", id, object, named[0].ID)
		}
		resp.Diagnostics.AddError("Cannot import "+object, detail)
		return
	}
	if hidden := NotVisibleError(ctx, r, "read", id, model, resp.Private); hidden.HasError() {
		resp.Diagnostics.Append(hidden...)
		return
	}
	remove(ctx, r.Client, model, resp, title(object)+" not found", fmt.Sprintf("The %s %s no longer exists. It is removed from the state. If it is still configured, the next apply creates it again.", object, id))
}

// objectsNamed returns the objects with a name that was given as an import ID.
func objectsNamed(ctx context.Context, c *client.Client, object, name string) []wire.Ref {
	if apierror.NameHint(object, name) == "" { // It has the form of an ID.
		return nil
	}
	switch object {
	case "computer":
		if found, err := c.Computers.GetByName(ctx, name, ""); err == nil {
			return []wire.Ref{found.Ref()}
		}
	case "environment":
		found, _ := c.Environments.Find(ctx, "", wire.HasName[environments.Environment](name))
		return wire.Refs(found)
	case "service account":
		found, _ := c.ServiceAccounts.List(ctx)
		return wire.Refs(collection.Filter(found, wire.HasName[serviceaccounts.Account](name)))
	}
	return nil
}

// remove sets the identity first, because otherwise the refresh of a state without identities fails with another error.
func remove(ctx context.Context, c *client.Client, model Identified, resp *resource.ReadResponse, summary, detail string) {
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, model)...)
	resp.State.RemoveResource(ctx)
	resp.Diagnostics.AddWarning(summary, phrase.Join(detail, OtherOrganization(ctx, c, resp.Private)))
}

// OtherOrganization returns a caution if another API key last read an object that is now missing. Otherwise, it is empty.
func OtherOrganization(ctx context.Context, c *client.Client, private privatestate.State) string {
	if reader := otherReader(ctx, c, private); reader != "" {
		return reader + " If that key belongs to another organization, do not apply."
	}
	return ""
}

// UnsetError means that a singleton is not set.
type UnsetError struct{}

func (*UnsetError) Error() string { return "it is not set" }

// title starts a summary with an object's name: "Service account", "API key".
func title(object string) string { return strings.ToUpper(object[:1]) + object[1:] }

const (
	foundByCreation = "The response to a creation was lost or unusable. Found and added to this state: %s %s. " +
		"If another run created this, two states have it, and destroying it in one destroys it for both: remove it from one of them with terraform state rm."
	foundByOperation = "The response to the request was lost or unusable. Found and taken for its result: %s %s. " +
		"If another run sent the same request at that time, this may be that run's result, and the request of this run may have had none: check whether both results are there."
)

// WithFound returns a context for creations, and a function that returns a warning about what they found after lost responses. Nothing
// proves that another run, which the name or the time fits too, did not create it.
func WithFound(ctx context.Context) (context.Context, func() diag.Diagnostics) {
	return withFound(ctx, foundByCreation)
}

func withFound(ctx context.Context, text string) (context.Context, func() diag.Diagnostics) {
	ctx, found := create.WithFound(ctx)
	return ctx, func() (diags diag.Diagnostics) {
		var adopted []wire.Ref
		var lines []string
		for _, f := range *found {
			if f.Revoked == "" {
				adopted = append(adopted, f.Ref)
				continue
			}
			lines = append(lines, fmt.Sprintf("The response to a request for a new API key was lost or unusable. The provider revoked the API key %s with the fingerprint %s, which appeared since: its value is lost here. "+
				"If another run created that key, it does not work there any more: replace it.", f.Ref, f.Revoked))
		}
		if len(adopted) > 0 {
			lines = append(lines, fmt.Sprintf(text, adopted[0].Object, create.List(adopted)))
		}
		if len(lines) > 0 {
			diags.AddWarning("Found after a lost response", strings.Join(lines, "\n"))
		}
		return diags
	}
}
