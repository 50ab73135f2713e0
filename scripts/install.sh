#!/usr/bin/env bash
# Installs the provider where Terraform and OpenTofu look for one before they ask a registry, and the emulator among Go's
# programs; or removes exactly that.
#
# usage: scripts/install.sh install|uninstall
#
# VERSION is the provider's version as the CLIs see it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${VERSION:-0.1.0}
read -r os arch suffix <<<"$(go env GOOS GOARCH GOEXE | tr '\n' ' ')"

# Both CLIs read Terraform's data folder. The other place that both read, ~/.terraform.d, is better left alone: OpenTofu
# takes its existence for the wish to have its settings there too.
data=${HOME:-}
case $os in
windows) data=${APPDATA//\\//} && plugins=$data/terraform.d/plugins ;;
darwin) plugins="$data/Library/Application Support/io.terraform/plugins" ;;
*)
	case ${XDG_DATA_HOME:-} in
	/*) data=$XDG_DATA_HOME && plugins=$data/terraform/plugins ;;
	*) plugins=$data/.local/share/terraform/plugins ;;
	esac
	;;
esac
# The same address means another host to each CLI.
packages=()
for host in registry.terraform.io registry.opentofu.org; do
	packages+=("$plugins/$host/agentyard/agentyard/$version/${os}_$arch")
done

programs=$(go env GOBIN)
if [ -z "$programs" ]; then
	programs=$(go env GOPATH)
	programs=${programs%%:*}/bin
fi

install() {
	local package built=
	for package in "${packages[@]}"; do
		mkdir -p "$package"
		if [ -z "$built" ]; then
			built=$package/terraform-provider-agentyard$suffix
			go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$built" .
		else
			cp -f "$built" "$package"
		fi
		echo "Installed $package/terraform-provider-agentyard$suffix"
	done
	go install -trimpath ./internal/emulator/cmd/agentyard-emulator
	echo "Installed $programs/agentyard-emulator$suffix"
	case :$PATH: in
	*":$programs:"*) ;;
	*) echo "$programs is not on the PATH." ;;
	esac
}

uninstall() {
	local package
	for package in "${packages[@]}"; do
		discard "$package/terraform-provider-agentyard$suffix"
		# Folders go up to the one that is not the installation's, and none that holds anything else.
		while [ "$package" != "$data" ] && rmdir "$package" 2>/dev/null; do
			package=${package%/*}
		done
	done
	discard "$programs/agentyard-emulator$suffix"
}

discard() {
	if [ -e "$1" ]; then
		rm "$1"
		echo "Removed $1"
	fi
}

case ${1:-} in
install | uninstall) "$1" ;;
*)
	sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
	exit 2
	;;
esac
