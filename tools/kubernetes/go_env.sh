# Sourced by the build.sh here and by that of tools/cluster, with `toolchains` and `cache` set.
#
# The module and build caches are Go's own, under the private folder, so that no machine-wide Go
# set-up is read or changed. CGO_ENABLED is one for all: another value compiles all that opens a
# socket anew.

export PATH=$toolchains/bin:/usr/bin:/bin GOTOOLCHAIN=local CGO_ENABLED=0
export GOMODCACHE=$cache/go/mod GOCACHE=$cache/go/build GOPATH=$cache/go
unset GOROOT
# Kubernetes' minor version.
minor=${KUBERNETES_VERSION#v1.} minor=${minor%%.*}
# How a program of Kubernetes learns its version; @ stands for it.
v=k8s.io/component-base/version
kubernetes_flags="-X $v.gitVersion=@ -X $v.gitMajor=1 -X $v.gitMinor=$minor -X $v.gitTreeState=clean"
