#!/bin/bash
# Installs Debian packages, as root, without starting or enabling a service that they bring.
#
#   tools/setup/install_packages.sh PACKAGE…
#
# containerd, a registry or Prometheus are wanted as programs, which tests start where nobody else
# sees them. A service of the whole machine would be a side effect of running tests.

set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

installed() {
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u
}

# disable_services_of PACKAGE   in systemd and in the run levels of SysV, now and after upgrades.
disable_services_of() {
  local file
  dpkg-query -L "$1" | while read -r file; do
    case $file in
      /etc/init.d/*)
        [ ! -x "$file" ] || update-rc.d "${file##*/}" disable ;;
      /lib/systemd/system/*.* | /usr/lib/systemd/system/*.*)
        # Without this section there is nothing that could be enabled. The variable is what the
        # program knows its callers by.
        ! grep -qs '^\[Install\]' "$file" ||
          DPKG_MAINTSCRIPT_PACKAGE=$1 deb-systemd-helper disable "${file##*/}" ;;
    esac
  done
}

policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' >$policy   # 101: the action is forbidden by policy.
  chmod 755 $policy
fi
apt-get update -qq
before=$(installed)
packages=(--no-install-recommends "$@")
count=$(apt-get install -s -qq "${packages[@]}" | grep -c '^Inst ' || true)
# Of the many lines that it prints one in forty is enough to see it work.
apt-get install -y -q "${packages[@]}" | awk -v count="$count" '
  /^Unpacking / { if (++unpacked % 40 == 0) say("unpacked", unpacked) }
  /^Setting up / { if (++set_up % 40 == 0 || set_up == count) say("installed", set_up) }
  function say(what, so_far) {
    printf "setup: %s %d of %d packages\n", what, so_far, count >"/dev/stderr"
  }'
# What came with this call, be it for the sake of another package, brings services that nobody else
# has asked for. One that was there before is its owner's.
for package in $(comm -13 <(echo "$before") <(installed)); do
  disable_services_of "$package"
done
