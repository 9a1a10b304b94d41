#!/bin/bash
# Runs the main job of examples/mnist.yaml on this machine, then the same trainer as one process,
# and compares.
#
# Data: the directory $TAAS_DATA if set, else downloaded, else (no network) generated;
# `taas data fetch` says which.

set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$(tools/setup/setup.sh path cache)
data=${TAAS_DEMO_DATA:-$cache/data/mnist-$(echo "${TAAS_DATA:-}" | sha256sum | cut -c1-8)}
# The models stay, for a look.
work=$cache/demo
rm -rf "$work"

bin/taas data fetch mnist "$data"
# The claim that its checkpoints go to is the second word.
run() {
  mkdir -p "$work/$1-out"
  bin/taas local ci -f "examples/$1.yaml" --volume mnist-data="$data" \
    --volume "$2=$work/$1-out" --timeout 300 -o json >"$work/$1.json" ||
    { cat "$work/$1.json"; exit 1; }
  cat "$work/$1.json"
}
echo "== examples/mnist.yaml: 1 chief, 2 ps, 2 workers" >&2
run mnist mnist-out
echo "== examples/mnist-local.yaml: the same trainer in one process" >&2
run mnist-local mnist-local-out
/usr/bin/python3 - "$work/mnist.json" "$work/mnist-local.json" <<'END'
import json, sys
cluster, single = (json.load(open(path)) for path in sys.argv[1:])
gap = abs(cluster["accuracy"] - single["accuracy"])
print(f"cluster {cluster['accuracy']:.4f}, one process {single['accuracy']:.4f}, apart {gap:.4f}")
succeeded = cluster["state"] == single["state"] == "Succeeded"
good = succeeded and cluster["accuracy"] >= 0.93 and gap <= 0.01
sys.exit(0 if good else "demo: wanted Succeeded, accuracy >= 0.93 and the two within 0.01")
END
cat >&2 <<END
The model that was just trained, over its test images:
  bin/taas-trainer eval --config examples/mnist.yaml --volume data=$data --volume out=$work/mnist-out
Next: "Five minutes with kubectl" in README.md
END
