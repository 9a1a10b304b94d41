#!/bin/bash
# Runs a test with the suppressions of ThreadSanitizer. Programs that it starts, in whatever folder,
# have them too.

set -euo pipefail
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:suppressions=$PWD/tools/sanitize/tsan_suppressions.txt"
exec "$@"
