#!/bin/bash
# Installs Debian packages, as root, without starting or enabling a service that they bring.
#
#   tools/setup/install_packages.sh PACKAGE…
#
# containerd is wanted as a program, which tests start where nobody else sees it. A service of the
# whole machine would be a side effect of running tests.

set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' >$policy   # 101: the action is forbidden by policy.
  chmod 755 $policy
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
for package in "$@"; do
  [ "$package" = containerd ] || continue
  # It came with this call, so nobody else has asked for the service. The variable is what the
  # program knows its callers by.
  DPKG_MAINTSCRIPT_PACKAGE=containerd deb-systemd-helper disable containerd.service
done
