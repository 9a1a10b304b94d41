#!/bin/bash
# The measurements of docs/benchmarks.md, one after the other, as markdown; those of the operator, which
# take hours and root, are bench/operator/run.py.

set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup/setup.sh kubernetes
tools/setup/setup.sh python tensorflow
tools/setup/setup.sh python torch
/usr/bin/bazel run --noshow_progress --ui_event_filters=-info \
  --disk_cache="$(tools/setup/setup.sh path cache)/bazel" //bench:step_bench
/usr/bin/bazel run --noshow_progress --ui_event_filters=-info \
  --disk_cache="$(tools/setup/setup.sh path cache)/bazel" //bench:engine_bench
/usr/bin/bazel run --noshow_progress --ui_event_filters=-info \
  --disk_cache="$(tools/setup/setup.sh path cache)/bazel" //bench:row_bench
tools/setup/setup.sh packages e2e
tools/setup/setup.sh browser
bench/local_cluster.py "$@"
bench/ps_training.py
bench/slow_worker.py
bench/trainer/run.py
bench/dashboard/run.py
bench/dashboard/logs.py
