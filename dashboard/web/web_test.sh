#!/bin/bash
# One check of the page, in the tree that it was built in: its packages lie there.
#
#   web_test.sh unit | lint | types | size
#
# TAAS_NODE_BIN: the folder of node (tools/setup/setup.sh path node).

set -euo pipefail
cd "$(dirname "$(realpath "$0")")"
export PATH=${TAAS_NODE_BIN:?the folder of node}:$PATH HOME=${TEST_TMPDIR:-/tmp}
modules=node_modules
[ -d $modules ] || { echo "the page's packages are not there: run tools/setup/setup.sh web" >&2; exit 1; }
case $1 in
  unit)
    # Bazel takes a target for one without shards that does not leave the file.
    shard=$((${TEST_SHARD_INDEX:-0} + 1))/${TEST_TOTAL_SHARDS:-1}
    touch "${TEST_SHARD_STATUS_FILE:-/dev/null}"
    node $modules/vitest/vitest.mjs run --shard="$shard" --maxWorkers=1 --reporter=default --reporter=junit \
      --outputFile.junit="${XML_OUTPUT_FILE:-/dev/null}" ;;
  lint) node $modules/eslint/bin/eslint.js --max-warnings 0 . ;;
  types) node $modules/typescript/bin/tsc --noEmit ;;
  size) node scripts/size.mjs ;;
  *) echo "no such check: $1" >&2; exit 2 ;;
esac
