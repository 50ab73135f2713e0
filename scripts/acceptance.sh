#!/usr/bin/env bash
# Tests the provider against the service of AGENTYARD_ACC_BASE_URL, or lists and deletes what such tests left there. See "Against a real
# service" in CONTRIBUTING.md.
#
# usage: scripts/acceptance.sh test [FLAGS]   flags of a test binary, such as -test.run TestAccLife
#        scripts/acceptance.sh sweep [delete] lists, or deletes
#        scripts/acceptance.sh emulator [FLAGS] runs the tests against an emulator, with all opt-ins
set -euo pipefail

here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
binary=$root/bin/acceptance.test

fail() {
	echo "$*" >&2
	exit 1
}

need_settings() {
	if [ -z "${AGENTYARD_ACC_BASE_URL:-}" ] || [ -z "${AGENTYARD_ACC_API_KEY:-}" ]; then
		fail 'Set AGENTYARD_ACC_BASE_URL to the address of the service, and AGENTYARD_ACC_API_KEY to an API key of a test organization.
To try the tests without an account, run: make testacc-emulator'
	fi
}

build() {
	local version
	version=$(git describe --tags --always --dirty 2>/dev/null) || version=dev
	go test -c -ldflags "-X github.com/agentyard/terraform-provider-agentyard/internal/acctest/acceptance.version=$version" -o "$binary" ./internal/acctest/acceptance
}

run_tests() {
	need_settings
	export TF_ACC_TERRAFORM_PATH=${TF_ACC_TERRAFORM_PATH:-$(internal/tools/install.sh terraform)}
	export AGENTYARD_ACC_REPORT=${AGENTYARD_ACC_REPORT:-$root/acceptance-report}
	case $AGENTYARD_ACC_REPORT in /*) ;; *) AGENTYARD_ACC_REPORT=$here/$AGENTYARD_ACC_REPORT ;; esac
	export AGENTYARD_RUN_REPORT=$AGENTYARD_ACC_REPORT/runs # What the provider requests, for agentyard-emulator report.
	build
	cd internal/acctest/acceptance
	# Ctrl-C reaches the tests directly, and they restore settings. Most of the time they wait, so more of them run than there are processors.
	exec "$binary" -test.v -test.parallel=6 "$@"
}

sweep() {
	local mode=list argument
	for argument in "$@"; do
		[ "$argument" = delete ] || fail "sweep has no argument \"$argument\"; nothing was deleted."
		mode=delete
	done
	need_settings
	build
	exec "$binary" -sweep="$mode" -sweep-allow-failures 2> >(grep -v '\[DEBUG\]' >&2) # The library logs each step.
}

# emulator starts an emulator as slow and strict as a real service may be, with a new data file.
emulator() {
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	build
	go build -o "$scratch/agentyard-emulator" ./internal/emulator/cmd/agentyard-emulator
	"$scratch/agentyard-emulator" -data "$scratch/emulator.db" -requests-per-second "${RATE:-20}" -latency "${LATENCY:-50ms}" -step 2s \
		-session-delay 5s -session-list-delay 10s -message-delay 5s -max-page-size 20 -shuffle-lists -- \
		"$root/scripts/acceptance.sh" on-emulator "$@"
}

# provision_default gives the emulator a default environment: the tests can restore one only if there is one.
provision_default() {
	local address=${AGENTYARD_ACC_BASE_URL#http://} status
	exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
	printf 'POST /api/v0/environments/default HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' \
		"$address" "$AGENTYARD_ACC_API_KEY" >&3
	read -r status <&3
	exec 3<&-
	case $status in 'HTTP/1.1 2'*) ;; *) fail "The emulator has no default environment: $status" ;; esac
}

# on_emulator opts in to everything, and fails if the emulator deviates from the contract.
on_emulator() {
	export AGENTYARD_ACC_BASE_URL=$AGENTYARD_BASE_URL AGENTYARD_ACC_API_KEY=$AGENTYARD_API_KEY AGENTYARD_ACC_STRICT=1
	unset AGENTYARD_BASE_URL AGENTYARD_API_KEY AGENTYARD_EMULATOR_CLOCK
	export AGENTYARD_ACC_MANAGED_COMPUTERS=1 AGENTYARD_ACC_SESSIONS=1 AGENTYARD_ACC_BUILDS=1 AGENTYARD_ACC_WIKI=1 AGENTYARD_ACC_ORGANIZATION=1
	export AGENTYARD_ACC_INVITATION='ops+{name}@people.example' AGENTYARD_ACC_CI_REPOSITORY=acme/web
	export AGENTYARD_ACC_REPORT=$root/acceptance-report-emulator # That of a real run stays.
	provision_default
	"$root/scripts/acceptance.sh" test "$@"
	left=$(AGENTYARD_ACC_SWEEP_AGE=0s "$root/scripts/acceptance.sh" sweep 2>/dev/null)
	! grep 'would delete' <<<"$left" || fail "The tests left these objects behind."
}

case ${1:-} in
test) shift && run_tests "$@" ;;
sweep) shift && sweep "$@" ;;
emulator) shift && emulator "$@" ;;
on-emulator) shift && on_emulator "$@" ;;
*)
	sed -n 's/^# usage: /usage: /p; s/^#        scripts/       scripts/p' "${BASH_SOURCE[0]}" >&2
	exit 2
	;;
esac
