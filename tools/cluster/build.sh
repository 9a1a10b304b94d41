#!/bin/bash
# Builds what a whole cluster has beside the control plane of tools/kubernetes, from Go modules.
#
#   tools/cluster/build.sh TOOLCHAINS CACHE OUT     leaves OUT/bin/{kubelet,helm,promrules,…}
#
# Only `setup.sh cluster` calls this. Each folder here is a module of its own, since they use
# different releases of Kubernetes' libraries; its go.mod is where the version is pinned. The caches
# are those of tools/kubernetes, so that packages which it compiled are not compiled again.

set -euo pipefail
toolchains=$1 cache=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../setup/versions.env"
. "$here/../kubernetes/go_env.sh"
export GOFLAGS=-mod=readonly
mkdir -p "$out/bin"

# build FOLDER MODULE LINKFLAGS OUTPUT PACKAGE…   @ in the flags is the pinned version.
build() {
  local folder=$1 module=$2 flags=$3 output=$4 began=$SECONDS version
  shift 4
  cd "$here/$folder"
  version=$(go list -m -f '{{.Version}}' "$module")
  go build -trimpath -ldflags "-s -w ${flags//@/$version}" -o "$out/bin/$output" "$@"
  echo "setup: $folder $version: $((SECONDS - began)) s" >&2
}

# Both halves of one Kubernetes must be of one release, else checks of version skew refuse.
pinned=$(cd "$here/kubernetes" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
[ "$pinned" = "$KUBERNETES_VERSION" ] || {
  echo "tools/cluster/kubernetes/go.mod has Kubernetes $pinned, versions.env $KUBERNETES_VERSION" >&2
  exit 1
}
build kubernetes k8s.io/kubernetes "$kubernetes_flags" "" \
  k8s.io/kubernetes/cmd/{kube-controller-manager,kube-scheduler,kubelet,kube-proxy}
build coredns github.com/coredns/coredns "" coredns .
build kwok sigs.k8s.io/kwok "-X sigs.k8s.io/kwok/pkg/consts.Version=@" kwok \
  sigs.k8s.io/kwok/cmd/kwok
build promrules github.com/prometheus/prometheus "" promrules .
# The Kubernetes that `helm template` and `helm lint` take a chart to be for.
c=helm.sh/helm/v3/pkg/chartutil
charts_for="-X $c.k8sVersionMajor=1 -X $c.k8sVersionMinor=$minor"
build helm helm.sh/helm/v3 "-X helm.sh/helm/v3/internal/version.version=@ $charts_for" helm \
  helm.sh/helm/v3/cmd/helm
