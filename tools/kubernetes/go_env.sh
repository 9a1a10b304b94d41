# Sourced by what builds programs of others from Go modules, with `toolchains` and `cache` set.
#
# The module and build caches are Go's own, under the private folder, so that no machine-wide Go
# set-up is read or changed. Flags are one for all: what one program compiled serves the next, and
# another value of CGO_ENABLED compiles all that opens a socket anew. Nobody debugs these programs,
# and a tenth of the compilers' time goes into what debuggers read. Another tenth goes into collecting
# garbage at the usual pace.

export PATH=$toolchains/bin:/usr/bin:/bin GOTOOLCHAIN=local CGO_ENABLED=0
export GOMODCACHE=$cache/go/mod GOCACHE=$cache/go/build GOPATH=$cache/go
export GOFLAGS="-mod=readonly -trimpath -gcflags=all=-dwarf=false"
export GOGC=400
unset GOROOT
