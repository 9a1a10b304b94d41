#!/bin/bash
# Builds a scheduler that knows gangs, with which tests check what TaaS asks of it: kube-scheduler
# with the coscheduling plugin, and the controller of the plugin's PodGroups.
#
#   tools/scheduler/build.sh TOOLCHAINS CACHE OUT     leaves OUT/bin/{coscheduling,podgroups}
#
# Only `setup.sh scheduler` calls this. The caches are those of tools/kubernetes, but little in them
# serves: the plugin is of an earlier Kubernetes, whose libraries are compiled anew.

set -euo pipefail
toolchains=$1 cache=$2 out=$3
cd "$(dirname "$0")"
. ../kubernetes/go_env.sh
began=$SECONDS
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
mkdir -p "$out/bin"
go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$out/bin" \
  ./coscheduling ./podgroups
echo "setup: $(go list -m sigs.k8s.io/scheduler-plugins): $((SECONDS - began)) s" >&2
