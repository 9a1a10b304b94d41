"""A cluster that stays up until somebody takes it down, for people who want to look.

A process of its own holds it. What belongs to the cluster NAME lies in `folder(NAME)`:
`kubeconfig`, `pid` of the holder, `log`.
"""

import os
import signal
import subprocess
import sys

import programs
import taas
from cluster import Cluster
from waiting import until

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")


def folder(name):
    cache = subprocess.run([programs.SETUP, "path", "cache"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.strip()
    return os.path.join(cache, "clusters", name)


def holder(name):
    """The pid of the process that holds a cluster, or None."""
    try:
        with open(os.path.join(folder(name), "pid"), encoding="utf-8") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            # The number may be another process's by now.
            return pid if b"hold" in file.read().split(b"\0") else None
    except (OSError, ValueError):
        return None


def up(name, fake_nodes, install):
    if holder(name) is not None:
        print(f"cluster {name} is up already; `down --name {name}` ends it", file=sys.stderr)
        return 1
    os.makedirs(folder(name), exist_ok=True)
    ready = os.path.join(folder(name), "kubeconfig")
    if os.path.exists(ready):
        os.unlink(ready)
    log = os.path.join(folder(name), "log")
    with open(log, "w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            [sys.executable, RUN, "hold", "--name", name, f"--fake-nodes={fake_nodes}",
             *(["--install"] if install else [])],
            stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True)
    until("the cluster", lambda: os.path.exists(ready) or process.poll() is not None)
    if process.poll() is not None:
        with open(log, encoding="utf-8") as stream:
            print(stream.read(), file=sys.stderr)
        return 1
    print(f"export KUBECONFIG={ready}")
    print(f"# kubectl: {programs.path('kubectl')}; the end: {RUN} down --name {name}")
    return 0


def hold(name, fake_nodes, install):
    with open(os.path.join(folder(name), "pid"), "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    with Cluster(fake_nodes=fake_nodes) as cluster:
        if install or taas.archives():
            taas.load_images(cluster.node)
        if install:
            taas.install(cluster.kubectl)
        # Linked last: it is what `up` waits for.
        target = os.path.join(folder(name), "kubeconfig")
        os.symlink(cluster.kubeconfig, target)
        try:
            signal.pause()
        except KeyboardInterrupt:
            os.unlink(target)
    return 0


def down(name):
    pid = holder(name)
    if pid is None:
        print(f"there is no cluster {name}", file=sys.stderr)
        return 3
    os.kill(pid, signal.SIGTERM)
    until("the end of the cluster", lambda: holder(name) is None)
    return 0
