#!/usr/bin/env bash
# Runs examples/demo with a real CLI against the emulator: plan, apply, change, and destroy.
#
# usage: scripts/demo.sh
#
# The CLI is TF_ACC_TERRAFORM_PATH if that is set, else the terraform (1.5 or newer) or tofu (1.6 or newer) on the PATH,
# else the pinned Terraform, which is built the first time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

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

# follow runs the demo with the CLI $cli, in the folder $scratch, against the emulator whose settings are in the environment.
follow() {
	color=-no-color
	[ ! -t 1 ] || [ -n "${NO_COLOR:-}" ] || color=
	terraform() { "$cli" -chdir="$scratch/demo" "$@" $color; }
	changed=(-var 'agents=["ada","grace","edsger"]' -var workstation_user=builder)
	mkdir "$scratch/demo"
	cp examples/demo/*.tf "$scratch/demo"
	terraform init >"$scratch/init.log" 2>&1 || { cat "$scratch/init.log" >&2 && return 1; }
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
	title "Created 4, changed 1, and destroyed 4, in $SECONDS s with $("$scratch/bin/agentyard-emulator" control GET journal | grep -o '"operation"' | wc -l) requests to the service"
	echo "The emulator stops, and all files are removed. Next: make install, and then the quick start in README.md."
}

if [ "${1:-}" = follow ]; then
	follow
	exit
fi
# What the caller's environment says about another service or another working folder does not count here.
unset TF_CLI_ARGS TF_DATA_DIR TF_REATTACH_PROVIDERS TF_WORKSPACE
export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cli=$(find_cli)
export scratch cli
# The provider is found in a folder, as a released one would be: a development override would be warned of in each run.
export TF_CLI_CONFIG_FILE=$scratch/cli.tfrc
printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$scratch/providers" >"$TF_CLI_CONFIG_FILE"
for host in registry.terraform.io registry.opentofu.org; do
	mkdir -p "$scratch/providers/$host/agentyard/agentyard/0.1.0"
	ln -s "$scratch/bin" "$scratch/providers/$host/agentyard/agentyard/0.1.0/$(go env GOOS)_$(go env GOARCH)"
done
mkdir "$scratch/bin"
title "1 of 2: building the provider (the first time, one to three minutes without output)"
go build -o "$scratch/bin/" .
title "2 of 2: building the emulator"
go build -o "$scratch/bin/" ./internal/emulator/cmd/agentyard-emulator
# sed reads to the end, as head would not: a CLI that still writes when its reader is gone ends the demo.
"$cli" version | sed -n 1p
"$scratch/bin/agentyard-emulator" -step 300ms -- "$root/scripts/demo.sh" follow
