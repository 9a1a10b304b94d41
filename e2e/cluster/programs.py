"""Where the programs of a cluster lie: those that set-up builds, and those of Debian.

    programs.path("kubelet")          an absolute path, or a sentence that says how to get it
    programs.ours("taas-operator")    the same of one of this project's
    programs.version("kubelet")       what the program itself says, e.g. "Kubernetes v1.34.4"
"""

import functools
import os
import shutil
import subprocess

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETUP = os.path.join(TREE, "tools", "setup", "setup.sh")
# Sets of programs that set-up builds, and the variable that names another folder of each.
BUILT = {"kubernetes": "TAAS_KUBERNETES_BIN", "cluster": "TAAS_CLUSTER_BIN"}
# What is tested with beside them, which is no part of a cluster.
BESIDE = {"peer": "TAAS_PEER_BIN", "clients": "TAAS_CLIENTS_BIN",
          "tensorflow": "TAAS_TENSORFLOW_BIN"}
# The environment of a cluster's programs: Go's collector runs a fourth as often, which is a
# seventh less work of an API server, for 100 MB.
OF_KUBERNETES = {"GOGC": "400"}
# That of kubectl and helm, which are over before a collector is of use: a fifth less work. Below
# the limit, since some follow a log.
OF_COMMANDS = {"GOGC": "off", "GOMEMLIMIT": "400MiB"}
# Not what the caller's PATH happens to have first.
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class ProgramMissing(RuntimeError):
    pass


@functools.cache
def folder(built):
    named = os.environ.get({**BUILT, **BESIDE}[built])
    if named:
        return named
    return subprocess.run(
        [SETUP, "path", built], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.strip()


@functools.cache
def path(name):
    for built in BUILT:
        candidate = os.path.join(folder(built), name)
        if os.access(candidate, os.X_OK):
            return candidate
    found = shutil.which(name, path=SYSTEM_PATH)
    if found:
        return found
    raise ProgramMissing(
        f"the program {name} is neither in {' nor in '.join(map(folder, BUILT))} nor in "
        f"{SYSTEM_PATH}: `tools/setup/setup.sh kubernetes`, `… cluster` and `… packages e2e` "
        "bring all of them"
    )


def ours(name, by="make build"):
    """A program that `by` puts into bin/."""
    found = os.path.join(TREE, "bin", name)
    if not os.access(found, os.X_OK):
        raise ProgramMissing(f"there is no {found}: `{by}` makes it")
    return found


def version(name):
    done = subprocess.run(
        [path(name), "--version"],
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.strip().split("\n")[0]
