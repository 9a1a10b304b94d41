#!/usr/bin/python3
"""Runs test modules of this folder with the interpreter that has the `kubernetes` package.

    TAAS_CLIENTS_BIN=… run.py 'job_test.py'
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# In Bazel the tree is what the test depends on.
TREE = os.path.join(os.environ["TEST_SRCDIR"], "taas") if "TEST_SRCDIR" in os.environ else \
    os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.join(os.environ.get("TAAS_CLIENTS_BIN", "/TAAS_CLIENTS_BIN-is-not-set"), "python")


def main():
    if not os.path.exists(PYTHON):
        raise RuntimeError(f"{PYTHON}: `make test` installs the clients, sets TAAS_CLIENTS_BIN")
    package = os.path.join(TREE, "python")
    environment = {**os.environ, "PYTHONPATH": package, "TAAS_TREE": TREE,
                   "PYTHONDONTWRITEBYTECODE": "1"}
    os.execve(PYTHON, [PYTHON, "-m", "unittest", "discover", "-v", "-s",
                       os.path.join(package, "tests"), "-p", *sys.argv[1:]], environment)


if __name__ == "__main__":
    main()
