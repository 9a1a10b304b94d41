#!/bin/bash
# The measurements of docs/benchmarks.md, one after the other, as markdown; those of the operator, which
# take hours and root, are bench/operator/run.py.

set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup/setup.sh kubernetes
tools/setup/setup.sh python tensorflow
tools/setup/setup.sh python torch
run() {
  /usr/bin/bazel run --noshow_progress --ui_event_filters=-info \
    --disk_cache="$(tools/setup/setup.sh path cache)/bazel" "//bench:$1" -- "${@:2}"
}
made=$(mktemp -d)  # Files of a gigabyte, for those that read and write them.
trap 'rm -rf "$made"' EXIT
run step_bench
run engine_bench
run row_bench
run record_bench "$made"
run input_bench "$made"
run checkpoint_bench "$made"
tools/setup/setup.sh packages e2e
tools/setup/setup.sh browser
bench/local_cluster.py "$@"
bench/ps_training.py
bench/slow_worker.py
bench/trainer/run.py
bench/trainer/precision.py
bench/dashboard/run.py
bench/dashboard/logs.py
