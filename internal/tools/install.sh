#!/usr/bin/env bash
# Builds a pinned tool from its Go module, unless it is in the cache already, and prints the path of the binary.
#
# usage: internal/tools/install.sh NAME...
#
# NAME is a folder beside this script. Its go.mod is the one place that names the tool and its version, and its go.sum
# holds the checksums. The cache is shared by all clones; AGENTYARD_TOOLS_CACHE names another folder for it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${AGENTYARD_TOOLS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/terraform-provider-agentyard/bin}

# Terraform's own go.mod replaces these modules by folders that are not in its module's archive, so they are replaced
# by stubs here. Whoever uses one of these backends reads that it is absent. The backend pg is not here: it has a module.
terraform_stubs() {
	local name dir
	for name in azure consul cos gcs kubernetes oci oss s3; do
		dir=$1/$name
		mkdir -p "$dir"
		printf 'module github.com/hashicorp/terraform/internal/backend/remote-state/%s\n\ngo 1.26.0\n' "$name" >"$dir/go.mod"
		cat >"$dir/stub.go" <<EOF
package $name

import (
	"os"

	"github.com/hashicorp/terraform/internal/backend"
)

func New() backend.Backend {
	os.Stderr.WriteString("Error: this Terraform was built for tests, without the backend of remote-state/$name\n")
	os.Exit(1)
	return nil
}
EOF
	done
	mkdir -p "$1/legacy/terraform"
	printf 'module github.com/hashicorp/terraform/internal/legacy\n\ngo 1.26.0\n' >"$1/legacy/go.mod"
	printf 'package terraform\n' >"$1/legacy/terraform/stub.go"
}

install() {
	local name=$1 package module version binary stubs='' own='' ldflags='-s -w'
	if [ ! -f "$here/$name/go.mod" ]; then
		echo "install.sh: there is no tool $name: see the folders of internal/tools" >&2
		return 2
	fi
	# The module of a tool is the longest required path that the tool's package starts with.
	read -r package module version <<<"$(awk '
		$1 == "tool" { package = $2 }
		$1 == "require" && NF >= 3 { version[$2] = $3 }
		$1 ~ /\// && $2 ~ /^v/ { version[$1] = $2 }
		END {
			for (path in version)
				if (index(package "/", path "/") == 1 && length(path) > length(module)) module = path
			print package, module, version[module]
		}' "$here/$name/go.mod")"
	if [ -z "$version" ]; then
		echo "install.sh: $here/$name/go.mod names no tool, or no version of it" >&2
		return 2
	fi
	binary=${package%/v[0-9]} # Not the major version of the module.
	binary=$cache/${binary##*/}-${version#v}
	if grep -q '=> ./stubs/' "$here/$name/go.mod"; then
		# The version does not say what replaces its modules, so that this recipe is part of the name.
		stubs=$here/$name/stubs
		binary+=-$(cat "$here/$name/go.mod" "${BASH_SOURCE[0]}" | cksum | cut -d ' ' -f 1)
	fi
	if [ ! -x "$binary" ]; then
		# The variables by which `make demo` and `make test` take a CLI that is there.
		case $name in
		terraform) own=TF_ACC_TERRAFORM_PATH ;;
		terraform-1.11) own=AGENTYARD_TERRAFORM_1_11 ;;
		terraform-1.5) own=AGENTYARD_TERRAFORM_1_5 ;;
		opentofu) own=AGENTYARD_TOFU ;;
		opentofu-1.11) own=AGENTYARD_TOFU_1_11 ;;
		opa) own=AGENTYARD_OPA ;;
		esac
		echo "Building ${binary##*/} from its Go module, once on this machine. That can take five minutes on two cores.${own:+ To use one that you have, set $own to its path.}" >&2
		mkdir -p "$cache"
		case $module in
		github.com/hashicorp/terraform | github.com/opentofu/opentofu)
			# Without this the CLI reports a development version.
			ldflags+=" -X $module/version.dev=no" ;;
		esac
		[ -z "$stubs" ] || terraform_stubs "$stubs"
		# A build that is interrupted leaves no half binary under the final name.
		temporary=$binary.building.$$
		(cd "$here/$name" && GOFLAGS='' GOWORK=off CGO_ENABLED=0 go build -trimpath -buildvcs=false -mod=readonly -ldflags "$ldflags" -o "$temporary" "$package")
		mv "$temporary" "$binary"
	fi
	echo "$binary"
}

temporary=
trap 'rm -f "$temporary"' EXIT
for name in "$@"; do
	install "$name"
done
