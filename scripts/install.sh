#!/usr/bin/env bash
# Installs the provider where Terraform and OpenTofu look before they ask a registry, and the emulator where Go installs
# programs. A manifest lists the installed files; nothing else is overwritten or removed.
#
# usage: scripts/install.sh install|uninstall
#
# VERSION is the version, as the CLIs see it, of the provider to install.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${VERSION:-0.1.0}
emulator=./internal/emulator/cmd/agentyard-emulator
program=$(go list -f '{{.Target}}' "$emulator") # Where `go install` would put it.
read -r os arch suffix <<<"$(go env GOOS GOARCH GOEXE | tr '\n' ' ')"

# Both CLIs read Terraform's data folder. The other place that both read, ~/.terraform.d, is better left alone: OpenTofu
# takes its existence for the wish to have its settings there too.
data=${HOME:-}/.local/share
terraform=terraform
case $os in
windows) data=${APPDATA//\\//} && terraform=terraform.d && program=${program//\\//} ;;
darwin) data="${HOME:-}/Library/Application Support" && terraform=io.terraform ;;
*)
	case ${XDG_DATA_HOME:-} in
	/*) data=$XDG_DATA_HOME ;;
	esac
	;;
esac
# A line for each folder that was made, and for each file with its checksum.
manifest=$data/terraform-provider-agentyard/manifest

install() {
	local host target targets=("$program") replaces=
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	local flags=(-trimpath -ldflags "-s -w -X main.version=$version")
	go build "${flags[@]}" -o "$scratch/terraform-provider-agentyard$suffix" .
	go build "${flags[@]}" -o "$scratch/agentyard-emulator$suffix" "$emulator"
	# The same address means another host to each CLI.
	for host in registry.terraform.io registry.opentofu.org; do
		targets+=("$data/$terraform/plugins/$host/agentyard/agentyard/$version/${os}_$arch/terraform-provider-agentyard$suffix")
	done

	for target in "${targets[@]}"; do
		if { [ -e "$target" ] || [ -L "$target" ]; } && ! same "$target" && ! ours "$target"; then
			echo "$target exists, but make install did not create it." >&2
			replaces=yes
		fi
	done
	if [ -n "$replaces" ]; then
		echo "Nothing was installed. Move the files named above, then try again." >&2
		exit 1
	fi

	for target in "$manifest" "${targets[@]}"; do
		folder "${target%/*}"
	done >"$scratch/folders"
	cat "$scratch/folders" >>"$manifest"
	for target in "${targets[@]}"; do
		if same "$target"; then
			echo "$target is up to date"
			continue
		fi
		line "$scratch/${target##*/}" "$target" >>"$manifest"
		rm -f "$target" # It may be running.
		cp "$scratch/${target##*/}" "$target"
		echo "Installed $target"
	done
	case :$PATH: in
	*":${program%/*}:"*) ;;
	*) echo "${program%/*} is not on the PATH. To add it, run: export PATH=\"\$PATH:${program%/*}\"" ;;
	esac
}

# same tells whether a file is what would be installed there.
same() { cmp -s "$scratch/${1##*/}" "$1"; }

# ours tells whether a file is still what was installed there.
ours() { [ -f "$1" ] && [ -f "$manifest" ] && grep -Fxq -- "$(line "$1" "$1")" "$manifest"; }

# line is the manifest's line for the content of one file at the place of another.
line() { echo "file $(cksum <"$1") $2"; }

# folder makes a folder and those above it, and prints the manifest's lines for those that did not exist.
folder() {
	if [ ! -d "$1" ]; then
		folder "${1%/*}"
		mkdir "$1"
		echo "folder $1"
	fi
}

uninstall() {
	local path folders
	if [ ! -f "$manifest" ]; then
		echo "Nothing is installed."
		return
	fi
	sed -n 's/^file [0-9]* [0-9]* //p' "$manifest" | sort -u | while IFS= read -r path; do
		if ours "$path"; then
			rm "$path"
			echo "Removed $path"
		elif [ -e "$path" ]; then
			echo "Kept $path, because it was changed after the installation"
		fi
	done
	# Of the folders all stay that hold anything else. Those within another one come before it.
	folders=$(sed -n 's/^folder //p' "$manifest" | LC_ALL=C sort -r)
	rm "$manifest"
	while IFS= read -r path; do
		rmdir "$path" 2>/dev/null || true
	done <<<"$folders"
}

case ${1:-} in
install | uninstall) "$1" ;;
*)
	sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2
	exit 2
	;;
esac
