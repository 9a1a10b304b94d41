#!/bin/bash
# Builds the programs of a real Kubernetes control plane, for tests, from Go modules.
#
#   tools/kubernetes/build.sh TOOLCHAINS CACHE OUT     leaves OUT/bin/{etcd,kube-apiserver,…}
#
# Only `setup.sh kubernetes` calls this. The module and build caches are Go's own, under CACHE, so
# that no machine-wide Go set-up is read or changed.

set -euo pipefail
toolchains=$1 cache=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../setup/versions.env"
export PATH=$toolchains/bin:/usr/bin:/bin GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-mod=mod
export GOMODCACHE=$cache/go/mod GOCACHE=$cache/go/build GOPATH=$cache/go
unset GOROOT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/go.mod "$here"/go.sum "$here"/tools.go "$work"/
cd "$work"
mkdir -p "$out/bin"
minor=${KUBERNETES_VERSION#v1.} minor=${minor%%.*}
version=k8s.io/component-base/version
flags="-s -w -X $version.gitVersion=$KUBERNETES_VERSION -X $version.gitMajor=1"
flags="$flags -X $version.gitMinor=$minor -X $version.gitTreeState=clean"
go build -trimpath -ldflags "$flags" -o "$out/bin/" \
  k8s.io/kubernetes/cmd/kubectl k8s.io/kubernetes/cmd/kube-apiserver
go build -trimpath -ldflags "-s -w" -o "$out/bin/etcd" go.etcd.io/etcd/server/v3
