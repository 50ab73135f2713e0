package create

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Recovery is what a call did after a lost response: it uses the objects that it found, or it revoked them. Somebody else may
// have created them at the same time, so the user must know.
type Recovery struct {
	Objects []wire.Ref
	// AreRevoked says that the objects are keys that were revoked, because their values were lost.
	AreRevoked bool
}

type recoveryKey struct{}

// OnRecovery returns a context whose calls report their recoveries.
func OnRecovery(ctx context.Context, report func(Recovery)) context.Context {
	return context.WithValue(ctx, recoveryKey{}, report)
}

// Recovered reports a recovery.
func Recovered(ctx context.Context, done Recovery) {
	if report, ok := ctx.Value(recoveryKey{}).(func(Recovery)); ok {
		report(done)
	}
}
