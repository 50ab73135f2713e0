#!/usr/bin/env bash
# Checks the format of the Go code, vets and lints it, and checks the scripts and the workflows.
#
# usage: internal/tools/lint.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for script in .ci/run scripts/*.sh internal/tools/*.sh internal/tools/gremlins/path/go; do
	bash -n "$script"
done
if grep -rn 'uses:' .github/workflows | grep -Ev '@[0-9a-f]{40} # v'; then
	echo "Pin these actions by the full hash of a commit." >&2
	exit 1
fi
"$(internal/tools/install.sh actionlint)" -shellcheck= -pyflakes= # These two would be found on some machines only.
golangci=$(internal/tools/install.sh golangci-lint)
"$golangci" run
