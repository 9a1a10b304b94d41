#!/bin/bash
# Builds the programs of a real Kubernetes control plane, for tests, from Go modules.
#
#   tools/kubernetes/build.sh TOOLCHAINS CACHE OUT     leaves OUT/bin/{etcd,kube-apiserver,…}
#
# Only `setup.sh kubernetes` calls this.

set -euo pipefail
toolchains=$1 cache=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../setup/versions.env"
. "$here/go_env.sh"
export GOFLAGS=-mod=mod
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/go.mod "$here"/go.sum "$here"/tools.go "$work"/
cd "$work"
mkdir -p "$out/bin"
go build -trimpath -ldflags "-s -w ${kubernetes_flags//@/$KUBERNETES_VERSION}" -o "$out/bin/" \
  k8s.io/kubernetes/cmd/kubectl k8s.io/kubernetes/cmd/kube-apiserver
go build -trimpath -ldflags "-s -w" -o "$out/bin/etcd" go.etcd.io/etcd/server/v3
