#!/bin/bash
# Builds the programs of a real Kubernetes, for tests, from Go modules.
#
#   tools/kubernetes/build.sh api TOOLCHAINS CACHE OUT       OUT/bin/{kube-apiserver,etcd,…} and
#                                                            OUT/definitions, kinds of other projects
#   tools/kubernetes/build.sh cluster TOOLCHAINS CACHE OUT   OUT/bin/{kubelet,helm,kwok,coscheduling,…}
#
# Only `setup.sh` calls this. All programs are of one module, so that the libraries which they share
# are compiled once; go.mod is where versions are pinned.

set -euo pipefail
part=$1 toolchains=$2 cache=$3 out=$4
cd "$(dirname "$0")"
. ../setup/versions.env
. go_env.sh
# Kubernetes' minor version.
minor=${KUBERNETES_VERSION#v1.} minor=${minor%%.*}
mkdir -p "$out/bin"

version_of() { go list -m -f '{{.Version}}' "$1"; }

# must_be MODULE VERSION   versions.env is what other parts of the tree read.
must_be() {
  [ "$(version_of "$1")" = "$2" ] && return
  echo "tools/kubernetes/go.mod has $1 $(version_of "$1"), versions.env $2" >&2
  exit 1
}

# build NAME LINKFLAGS OUTPUT PACKAGE…
build() {
  local name=$1 flags=$2 output=$3 began=$SECONDS
  shift 3
  go build -ldflags "-s -w $flags" -o "$out/bin/$output" "$@"
  echo "setup: $name: $((SECONDS - began)) s" >&2
}

# How a program of Kubernetes learns its version.
build_of_kubernetes() {
  local v=k8s.io/component-base/version
  build "$1" "-X $v.gitVersion=$KUBERNETES_VERSION -X $v.gitMajor=1 -X $v.gitMinor=$minor \
    -X $v.gitTreeState=clean" "" "${@:2}"
}

# take_definitions MODULE FOLDER FILE…   into OUT/definitions.
take_definitions() {
  local from
  from=$(cd definitions && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/$2
  shift 2
  (cd "$from" && install -m 644 -t "$out/definitions" "$@")
}

case $part in
  api)
    must_be k8s.io/kubernetes "$KUBERNETES_VERSION"
    must_be go.etcd.io/etcd/server/v3 "$ETCD_VERSION"
    build_of_kubernetes "kube-apiserver $KUBERNETES_VERSION" k8s.io/kubernetes/cmd/{kube-apiserver,kubectl}
    build "etcd $ETCD_VERSION" "" etcd go.etcd.io/etcd/server/v3
    build informer "" "" ./informer
    mkdir -p "$out/definitions"
    take_definitions volcano.sh/volcano config/crd/volcano/bases scheduling.volcano.sh_podgroups.yaml
    take_definitions sigs.k8s.io/scheduler-plugins config/crd/bases scheduling.x-k8s.io_podgroups.yaml
    take_definitions github.com/prometheus-operator/prometheus-operator \
      example/prometheus-operator-crd monitoring.coreos.com_{servicemonitors,prometheusrules}.yaml
    ;;
  cluster)
    build_of_kubernetes "kubelet and others" \
      k8s.io/kubernetes/cmd/{kube-controller-manager,kube-scheduler,kubelet,kube-proxy}
    build "CoreDNS, kwok, netpol, promrules" "" "" ./coredns ./kwok ./netpol ./promrules
    build_of_kubernetes "the scheduler of gangs" ./coscheduling ./podgroups
    # The Kubernetes that `helm template` and `helm lint` take a chart to be for.
    c=helm.sh/helm/v3/pkg/chartutil
    build Helm "-X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3) \
      -X $c.k8sVersionMajor=1 -X $c.k8sVersionMinor=$minor" helm helm.sh/helm/v3/cmd/helm
    ;;
esac
