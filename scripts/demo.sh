#!/usr/bin/env bash
# Runs examples/demo with a real CLI against the emulator: plan, apply, change, and destroy.
#
# usage: scripts/demo.sh
#
# The CLI is TF_ACC_TERRAFORM_PATH if that is set, else the terraform (1.5 or newer) or tofu (1.6 or newer) on the PATH,
# else the pinned Terraform, which is built the first time.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
emulator=
cleanup() {
	if [ -n "$emulator" ]; then
		kill "$emulator" 2>/dev/null || true
		wait "$emulator" 2>/dev/null || true
	fi
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

title() { printf '\n=== %s\n' "$*"; }

# at_least VERSION MINOR: whether a version 1.x is new enough.
at_least() {
	local major minor
	IFS=. read -r major minor _ <<<"$1"
	[ "$major" -gt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -ge "$2" ]; }
}

# version_of CLI: prints the version number, or 0.0 where there is none.
version_of() {
	local line
	line=$(TF_CLI_CONFIG_FILE=/dev/null "$1" version 2>/dev/null | sed -n 1p) || true
	case $line in
	*' v'[0-9]*.[0-9]*) line=${line#* v} && echo "${line%%-*}" ;;
	*) echo 0.0 ;;
	esac
}

find_cli() {
	if [ -n "${TF_ACC_TERRAFORM_PATH:-}" ]; then
		echo "$TF_ACC_TERRAFORM_PATH"
	elif at_least "$(version_of terraform)" 5; then
		command -v terraform
	elif at_least "$(version_of tofu)" 6; then
		command -v tofu
	else
		internal/tools/install.sh terraform
	fi
}

# What the caller's environment says about another service or another working folder does not count here.
unset TF_CLI_ARGS TF_DATA_DIR TF_REATTACH_PROVIDERS TF_WORKSPACE
export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0
# The provider is found in a folder, as a released one would be: a development override would be warned of in each run.
cat >"$scratch/cli.tfrc" <<CONFIG
provider_installation {
  filesystem_mirror {
    path = "$scratch/providers"
  }
}
CONFIG
export TF_CLI_CONFIG_FILE=$scratch/cli.tfrc
color=-no-color
[ ! -t 1 ] || [ -n "${NO_COLOR:-}" ] || color=

cli=$(find_cli)
title "Building the provider and the emulator (the first time, about a minute)"
platform=$(go env GOOS)_$(go env GOARCH)
for host in registry.terraform.io registry.opentofu.org; do
	mkdir -p "$scratch/providers/$host/agentyard/agentyard/0.1.0"
	ln -s "$scratch/bin" "$scratch/providers/$host/agentyard/agentyard/0.1.0/$platform"
done
mkdir "$scratch/bin"
go build -o "$scratch/bin/" . ./internal/emulator/cmd/agentyard-emulator
# sed reads to the end, as head would not: a CLI that still writes when its reader is gone ends the demo.
"$cli" version | sed -n 1p

title "Starting the emulator"
"$scratch/bin/agentyard-emulator" -listen 127.0.0.1:0 -data "$scratch/emulator.db" -step 300ms \
	>"$scratch/settings" 2>"$scratch/emulator.log" &
emulator=$!
# It prints its settings once it is ready.
for _ in $(seq 100); do
	if grep -q AGENTYARD_API_KEY "$scratch/settings" || ! kill -0 "$emulator" 2>/dev/null; then
		break
	fi
	sleep 0.1
done
if ! grep -q AGENTYARD_API_KEY "$scratch/settings"; then
	echo "demo.sh: the emulator did not start:" >&2
	cat "$scratch/emulator.log" >&2
	exit 1
fi
# shellcheck source=/dev/null
. "$scratch/settings"
echo "It listens on $AGENTYARD_BASE_URL."

mkdir "$scratch/demo"
cp examples/demo/*.tf "$scratch/demo"
changed=(-var 'agents=["ada","grace","edsger"]' -var workstation_user=builder)
terraform() { "$cli" -chdir="$scratch/demo" "$@" $color; }
if ! terraform init >"$scratch/init.log" 2>&1; then
	cat "$scratch/init.log" >&2
	exit 1
fi

title "Plan: two managed computers and a registered machine"
terraform plan -out=demo.tfplan

title "Apply that plan"
terraform apply demo.tfplan

title "Plan again: no changes"
terraform plan -detailed-exitcode

title "Change: a third agent, and another user on the registered machine"
terraform apply -auto-approve "${changed[@]}"

title "Destroy"
terraform destroy -auto-approve "${changed[@]}"

title "Requests to the service: $(grep -c 'method=' "$scratch/emulator.log" || true)"
echo "The demo is finished. The emulator has stopped, and all files are removed."
