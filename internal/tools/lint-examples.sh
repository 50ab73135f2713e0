#!/usr/bin/env bash
# Lints the examples with the rules that TFLint recommends. A folder with an exception has a .tflint.hcl, which says why.
#
# usage: internal/tools/lint-examples.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tflint=$(internal/tools/install.sh tflint)

# What is copied as a whole: it constrains the versions of the CLI and of the provider.
for folder in provider demo testing guides modules; do
	"$tflint" --recursive --chdir="examples/$folder" --format=compact
done
# What is copied into a module that has these constraints, and that uses what it declares.
for folder in actions data-sources ephemeral-resources resources; do
	"$tflint" --recursive --chdir="examples/$folder" --format=compact --disable-rule=terraform_required_version \
		--disable-rule=terraform_required_providers --disable-rule=terraform_unused_declarations
done
