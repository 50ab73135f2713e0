package create

import (
	"context"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Recovery is what a call did after a lost response: it uses the objects that it found, or it revoked them.
type Recovery struct {
	Objects []wire.Ref
	// AreRevoked says that the objects are keys that were revoked, because their values were lost.
	AreRevoked bool
}

// Recovered logs a recovery. A warning would be false nearly always: the objects could be those of somebody else only if another run
// had created the same in the same second.
func Recovered(ctx context.Context, done Recovery) {
	message := "Found after a lost response"
	if done.AreRevoked {
		message = "Revoked after a lost response, because its value is lost"
	}
	for _, found := range done.Objects {
		tflog.Info(ctx, message, map[string]any{"object": found.Object, "name": found.Name, "id": found.ID, "created_at": found.CreatedAt})
	}
}
