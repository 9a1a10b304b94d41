#!/bin/bash
# Builds Kubeflow's training-operator from its Go module, once, and prints the folder it lies in.
#
#   bench/operator/peer/build.sh      FOLDER/training-operator, FOLDER/tfjobs.yaml
#
# go.mod pins the version. Caches are those of tools/kubernetes; nothing is written into the tree.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
setup=$root/tools/setup/setup.sh
. "$root/tools/setup/versions.env"
cache=$("$setup" path cache)
out=$cache/peer/$(cat "$here"/* "$root/tools/kubernetes/go_env.sh" | sha256sum | cut -c1-12)
if [ ! -e "$out/.complete" ]; then
  "$setup" toolchains
  toolchains=$(dirname "$("$setup" path toolchains)")
  . "$root/tools/kubernetes/go_env.sh"
  mkdir -p "$out"
  # Whoever comes while another builds finds it built already, and Go then has nothing to do.
  exec 9>"$out.lock"
  flock 9
  cd "$here"
  echo "building training-operator (some minutes, once)" >&2
  GOFLAGS=-mod=readonly go build -trimpath -ldflags "-s -w" -o "$out/training-operator" . >&2
  module=$(GOFLAGS=-mod=readonly go list -m -f '{{.Dir}}' github.com/kubeflow/training-operator)
  install -m 644 "$module/manifests/base/crds/kubeflow.org_tfjobs.yaml" "$out/tfjobs.yaml"
  touch "$out/.complete"
fi
echo "$out"
