#!/usr/bin/env bash
# Generates docs/ from the provider's schemas, examples/ and templates/, and formats the examples.
#
# usage: internal/tools/docs.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
terraform=$(internal/tools/install.sh terraform)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tfplugindocs takes the first `terraform` of the PATH, and would download one if it found none.
ln -s "$terraform" "$scratch/terraform"
touch "$scratch/empty.tfrc"
export PATH="$scratch:$PATH" CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE="$scratch/empty.tfrc"

terraform fmt -recursive examples
go tool tfplugindocs generate --provider-name agentyard --rendered-provider-name Agentyard
go run ./internal/tools/assumptions # The generator has deleted this page, which has no template.

# The generator knows no subcategories, which group the pages in the registry's sidebar.
for page in docs/{actions,data-sources,ephemeral-resources,list-resources,resources}/*.md; do
	case ${page##*/} in
	analytics_*) subcategory=Analytics ;;
	ci_*) subcategory=CI ;;
	computer*) subcategory=Computers ;;
	*environment*) subcategory=Environments ;;
	session*) subcategory=Sessions ;;
	*usage_limit*) subcategory=Spend ;;
	wiki_*) subcategory=Wikis ;;
	api_key* | member* | service_account* | enterprise_control*) subcategory=Access ;;
	*)
		echo "docs.sh: $page has no subcategory" >&2
		exit 1
		;;
	esac
	sed -i.bak "s/^subcategory: \"\"$/subcategory: \"$subcategory\"/" "$page" && rm "$page.bak"
done
