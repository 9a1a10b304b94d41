#!/bin/bash
# Builds Kubeflow's training-operator, which TaaS stands in for, from its Go module: tests migrate
# from it, measurements compare with it.
#
#   tools/peer/build.sh TOOLCHAINS CACHE OUT     leaves OUT/bin/training-operator, OUT/manifests, as a
#                                                user applies them, OUT/examples of TFJobs, and
#                                                OUT/bin/measured, the same controller with limits
#                                                that are flags
#
# Only `setup.sh peer` calls this. The caches are those of tools/kubernetes; nothing of its sources
# comes into this tree.

set -euo pipefail
toolchains=$1 cache=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../kubernetes/go_env.sh"
module=github.com/kubeflow/training-operator
began=$SECONDS
mkdir -p "$out/bin"
cd "$here"
go build -ldflags "-s -w" -o "$out/bin/training-operator" \
  "$module/cmd/training-operator.v1"
go build -ldflags "-s -w" -o "$out/bin/measured" ./measured
# Files of the module cache cannot be written, and so not be removed with their folder.
sources=$(go list -m -f '{{.Dir}}' "$module")
cp -r --no-preserve=mode "$sources/manifests" "$out/manifests"
cp -r --no-preserve=mode "$sources/examples/tensorflow" "$out/examples"
echo "setup: $(go list -m "$module"): $((SECONDS - began)) s" >&2
