#!/bin/bash
# Puts our programs below a prefix, with what kubectl and shells want to have of them.
#
#   tools/install/install.sh BIN PREFIX     BIN: a folder with taas, taas-operator and taas-trainer
#
# DESTDIR: goes before PREFIX, for who makes packages. To take it away, remove the files that are listed at the end.

set -euo pipefail
fail() { echo "install below $to: $1" >&2; exit 1; }

bin=$1 prefix=$2 to=${DESTDIR:-}$2
[[ $prefix = /* ]] || fail "PREFIX must be an absolute path"
for program in taas taas-operator taas-trainer; do
  [ -x "$bin/$program" ] || fail "$bin/$program is not there; \`make build\` makes it"
done
mkdir -p "$to" 2>/dev/null && [ -w "$to" ] ||
  fail "no right to write there; run it as root, or choose a folder of yours: make install PREFIX=\$HOME/.local"

files=()
put() { # MODE SOURCE PATH
  install -D -m "$1" "$2" "$to/$3"
  files+=("$to/$3")
}
for program in taas taas-operator taas-trainer; do put 755 "$bin/$program" "bin/$program"; done
# `kubectl taas …`, and what kubectl asks when it completes that.
for link in kubectl-taas kubectl_complete-taas; do
  ln -sfn taas "$to/bin/$link"
  files+=("$to/bin/$link")
done
completes() { # SHELL PATH
  local script
  script=$(mktemp)
  "$bin/taas" completion "$1" >"$script"
  put 644 "$script" "$2"
  rm "$script"
}
completes bash share/bash-completion/completions/taas
completes zsh share/zsh/site-functions/_taas
completes fish share/fish/vendor_completions.d/taas.fish

printf '%s\n' "${files[@]}"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) [ -n "${DESTDIR:-}" ] || echo "$prefix/bin is not on your PATH: export PATH=$prefix/bin:\$PATH" >&2 ;;
esac
