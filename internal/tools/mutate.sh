#!/usr/bin/env bash
# Changes the code of packages in many small ways, and fails if the tests of a package do not notice one.
#
# usage: internal/tools/mutate.sh [PACKAGE]...
#
# A package is a folder of internal. The default is those whose own tests decide alone. Rewrite a line if no test can observe its change.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
gremlins=$(internal/tools/install.sh gremlins)
[ $# -gt 0 ] || set -- client/collection client/transport contract framework/apierror framework/crud framework/value framework/wait
failed=0
for package in "$@"; do
	echo "=== internal/$package"
	# 100 would always fail: the threshold itself is too little.
	PATH="$PWD/internal/tools/gremlins/path:$PATH" GOFLAGS="${GOFLAGS:-} -count=1 -vet=off" "$gremlins" unleash --workers 1 \
		--timeout-coefficient 30 --output-statuses lt --threshold-efficacy 99.9 "./internal/$package" || failed=1
done
exit "$failed"
