#!/usr/bin/env bash
# Runs the tests of the project, and ends with the sum of all runs. A run without a test fails.
#
# usage: internal/tools/test.sh [slow | clis | CLI]...
#
# Without an argument: the tests that need no CLI, while the newest Terraform is built, then those that need it. "clis" follows the pages for
# users and runs the tests that end in _everyCLI with each CLI, or with one such as terraform-1.5. These mostly wait, so three runs go on at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# A service or settings of the caller must not reach the tests.
unset AGENTYARD_BASE_URL AGENTYARD_API_KEY AGENTYARD_EMULATOR_CLOCK "${!AGENTYARD_ACC_@}" \
	TF_CLI_ARGS TF_DATA_DIR TF_REATTACH_PROVIDERS TF_WORKSPACE TF_ACC_PROVIDER_HOST
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'trap "" TERM; kill 0; exit 130' INT TERM
mkdir "$scratch/driven" && touch "$scratch/empty.tfrc"
go build -o "$scratch/terraform-provider-agentyard" .
gotestsum=$(internal/tools/install.sh gotestsum)
# A higher GOGC saves a quarter of the processor time, most of it in the CLIs.
export CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE=$scratch/empty.tfrc GOGC=${GOGC:-400} \
	AGENTYARD_DRIVEN_DIR=$scratch/driven AGENTYARD_PROVIDER_BINARY=$scratch/terraform-provider-agentyard

# Only tests that import the harness use a CLI. The pages do what a page for users says, command by command.
harness=github.com/agentyard/terraform-provider-agentyard/internal/acctest
pages=(./internal/acctest/examples ./internal/acctest/firststeps ./internal/acctest/guides)
tested=$(go list -f '{{with join .TestImports " "}}{{$.ImportPath}} {{.}} {{end}}{{with join .XTestImports " "}}{{$.ImportPath}} {{.}} {{end}}' ./... |
	grep -v "^$harness/\(examples\|firststeps\|guides\) ")
mapfile -t with < <(sed -n "s|^\([^ ]*\) .*$harness .*|\1|p" <<<"$tested")
mapfile -t without < <(grep -v "$harness " <<<"$tested" | sed -n 's| .*||p')
mapfile -t differing < <(grep -rl --include='*_test.go' '_everyCLI(' internal | xargs -n 1 dirname | sort -u | sed 's|^|./|' | grep -v '/\(firststeps\|guides\)$')
# run NAME ARGUMENT...: runs go test, and keeps what it says.
run() {
	local log=$scratch/$BASHPID-$RANDOM.log
	printf '\n=== %s: go test %s\n' "$1" "${*:2}"
	"$gotestsum" --format pkgname --format-hide-empty-pkg --hide-summary skipped -- -count=1 -parallel=8 -timeout=30m "${@:2}" 2>&1 | tee "$log" || return 1
	! grep '^DONE 0 tests' "$log"
}
# with_cli CLI VARIABLE ARGUMENT...: runs tests with the CLI that the caller has given in the variable, else with the pinned one.
with_cli() (
	given=${!2:-} && path=$(command -v "${given:-$(internal/tools/install.sh "$1")}") || { echo "test.sh: $2 names no program" >&2 && exit 1; }
	export TF_ACC_TERRAFORM_PATH && TF_ACC_TERRAFORM_PATH=$(realpath "$path") && version=$("$path" version | sed -n 1p) || exit 1
	case $version in
	OpenTofu*) export TF_ACC_PROVIDER_HOST=registry.opentofu.org ;;
	*) [ "$1" != terraform ] || export AGENTYARD_CLI_HAS_ALL=1 ;; # A test that needs a newer CLI then fails.
	esac
	run "$version" "${@:3}"
)

# start COMMAND...: runs a command beside two others, and shows what it said when it ends.
start() {
	while [ "$(jobs -pr | wc -l)" -ge 3 ]; do wait -n || failed=1; done
	(code=0 && { "$@" >"$scratch/said.$BASHPID" 2>&1 || code=1; } && cat "$scratch/said.$BASHPID" && exit "$code") &
}

failed=0
some=(-run '^TestAcc.*_everyCLI$' "${differing[@]}")
newest=(with_cli terraform TF_ACC_TERRAFORM_PATH)
if [ $# -eq 0 ]; then
	[ -n "${TF_ACC_TERRAFORM_PATH:-}" ] || internal/tools/install.sh terraform >/dev/null &
	run 'no CLI' -short -skip '^TestAcc' "${without[@]}" "${pages[@]}" || failed=1
	wait $! && "${newest[@]}" -short "${with[@]}" || failed=1
	# Last, because it reads what all tests before have left.
	(export AGENTYARD_DRIVEN_COMPLETE=1 && run 'no CLI' -run TestEverythingIsDriven ./internal/acctest/coverage) || failed=1
fi
[ $# -eq 0 ] || export AGENTYARD_OPA=${AGENTYARD_OPA:-$(internal/tools/install.sh opa)}
for part in ${@/clis/terraform opentofu terraform-1.5 terraform-1.11 opentofu-1.11}; do
	case $part in
	slow) start "${newest[@]}" -run '^Test.*_slow$' ./... ;;
	terraform) start "${newest[@]}" -run '^TestAcc' "${pages[@]}" ;;
	opentofu) start with_cli opentofu AGENTYARD_TOFU "${some[@]}" "${pages[@]:1}" ;;
	opentofu-1.11) start with_cli opentofu-1.11 AGENTYARD_TOFU_1_11 "${some[@]}" ;;
	terraform-1.5) start with_cli terraform-1.5 AGENTYARD_TERRAFORM_1_5 "${some[@]}" "${pages[@]:1}" ;;
	terraform-1.11) start with_cli terraform-1.11 AGENTYARD_TERRAFORM_1_11 "${some[@]}" ;;
	*) echo "test.sh: there is no part $part" >&2 && failed=1 ;;
	esac
done
for job in $(jobs -p); do wait "$job" || failed=1; done
awk '/^DONE / { all += $2; for (i = 3; i < NF; i++) { if ($(i + 1) ~ /^skipped/) skipped += $i; if ($(i + 1) ~ /^(failure|error)/) bad += $i } }
	END { printf "\n%d passed, %d failed, %d skipped\n", all - bad - skipped, bad, skipped }' "$scratch"/*.log
exit "$failed"
