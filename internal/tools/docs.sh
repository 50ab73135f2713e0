#!/usr/bin/env bash
# Generates docs/ from the provider's schemas, examples/ and templates/, and formats the examples.
#
# usage: internal/tools/docs.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
terraform=$(internal/tools/install.sh terraform)
tfplugindocs=$(internal/tools/install.sh tfplugindocs)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tfplugindocs takes the first `terraform` of the PATH, and would download one if it found none.
ln -s "$terraform" "$scratch/terraform"
touch "$scratch/empty.tfrc"
export PATH="$scratch:$PATH" CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE="$scratch/empty.tfrc"

terraform fmt -recursive examples
"$tfplugindocs" generate --provider-name agentyard --rendered-provider-name Agentyard
