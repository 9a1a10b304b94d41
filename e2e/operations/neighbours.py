"""Makes the modules of e2e/chart and e2e/cluster known to those that import this first."""

import os
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
for folder in ("cluster", "chart"):
    path = os.path.join(TREE, "e2e", folder)
    if path not in sys.path:
        sys.path.append(path)
