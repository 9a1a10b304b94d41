"""The cgroup below which a node keeps its pods, on cgroup v1 and v2.

    cgroups.make("taas-e2e-0")      /taas-e2e-0 in each hierarchy, ready to have children
    cgroups.remove("taas-e2e-0")    with all below it; its processes have ended
"""

import os
import time

ROOT = "/sys/fs/cgroup"
# The kubelet asks for these; a machine that lacks one of the others is no obstacle.
CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "io", "hugetlb")
# The kernel shares processors between a cgroup as a whole and each single process beside it. Those
# of a node's pods that train wait for each other many times in a step, so each step would wait for
# every test and server that computes: ten times the share of one process.
SHARE = {"cpu.shares": "10240", "cpu.weight": "1000"}
# The kernel lets go of a cgroup some milliseconds after its last process.
REMOVE_LIMIT_S = 10


def is_unified():
    return os.path.exists(os.path.join(ROOT, "cgroup.controllers"))


def hierarchies():
    """The mount points, once each: cpu and cpuacct may be one hierarchy with two names."""
    if is_unified():
        return [ROOT]
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    # Where v1 rules, runc makes cgroups in a v2 hierarchy beside it as well.
    return sorted({mount[1] for mount in mounts if mount[2] in ("cgroup", "cgroup2")})


def make(name):
    for top in hierarchies():
        folder = os.path.join(top, name)
        os.makedirs(folder, exist_ok=True)
        if is_unified():
            _enable(top, _read(top, "cgroup.controllers").split())
            _enable(folder, _read(folder, "cgroup.controllers").split())
        else:
            # An empty cpuset takes no process.
            for file in ("cpuset.cpus", "cpuset.mems"):
                if os.path.exists(os.path.join(folder, file)):
                    _write(folder, file, _read(top, file))
        for file, share in SHARE.items():
            if os.path.exists(os.path.join(folder, file)):
                _write(folder, file, share)


def _enable(folder, available):
    for controller in CONTROLLERS:
        if controller not in available:
            continue
        try:
            _write(folder, "cgroup.subtree_control", "+" + controller)
        except OSError as error:
            raise RuntimeError(
                f"give the children of cgroup {folder} the controller {controller}: {error}. In "
                "a container, move its processes out of the top cgroup first (docker: "
                "--cgroupns=host --privileged)"
            ) from error


def remove(name):
    deadline = time.monotonic() + REMOVE_LIMIT_S
    left = [os.path.join(top, name) for top in hierarchies()]
    while left:
        left = [folder for folder in left if os.path.isdir(folder) and not _removed(folder)]
        if left and time.monotonic() > deadline:
            raise RuntimeError(f"cgroups {left} still have processes: see their cgroup.procs")
        if left:
            time.sleep(0.02)


def _removed(folder):
    for parent, children, _ in os.walk(folder, topdown=False):
        for child in children:
            _rmdir(os.path.join(parent, child))
    return _rmdir(folder)


def _rmdir(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read(folder, file):
    with open(os.path.join(folder, file), encoding="utf-8") as stream:
        return stream.read().strip()


def _write(folder, file, text):
    with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
        stream.write(text)
