#!/usr/bin/python3
"""Process 1 of a cluster's namespaces. Its end is the end of all that runs in them.

    sandbox_init.py WORK [KEEP…]

Hides /run, /var/lib and /var/log behind folders of its own, since some programs ignore where they
are told to keep their state; the KEEP paths stay visible. Then says "ready" and lives as long as
somebody holds the other end of its standard input.
"""

import os
import signal
import subprocess
import sys

from sandbox_guard import GUARDED

HIDDEN = ("/run", "/var/lib", "/var/log")
# What containers and their logs fill lies on the disk, not in the memory of a tmpfs.
ON_DISK = ("/var/lib/kubelet", "/var/log/pods", "/var/log/containers")


def run(*command):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout.strip()}")


def is_below(path, folder):
    return (path + "/").startswith(folder + "/")


def hide(keep):
    held = {path: os.open(path, os.O_PATH) for path in keep}
    for folder in HIDDEN:
        run("mount", "-n", "-t", "tmpfs", "-o", "mode=755", "taas-e2e", folder)
    for path, descriptor in held.items():
        if any(is_below(path, folder) for folder in HIDDEN):
            os.makedirs(path, exist_ok=True)
            run("mount", "-n", "--bind", f"/proc/{os.getpid()}/fd/{descriptor}", path)
        os.close(descriptor)


def bind_on_disk(work):
    for path in ON_DISK:
        source = os.path.join(work, path.strip("/").replace("/", "-"))
        os.makedirs(source)
        os.makedirs(path)
        run("mount", "-n", "--bind", source, path)


def guard_sysctls(work):
    for name in GUARDED:
        entry = os.path.join("/proc/sys", name)
        if not os.path.exists(entry):
            continue
        copy = os.path.join(work, "sysctl-" + name.replace("/", "-"))
        with open(entry, encoding="utf-8") as source, open(copy, "w", encoding="utf-8") as target:
            target.write(source.read())
        run("mount", "-n", "--bind", copy, entry)


def main():
    work, keep = sys.argv[1], sys.argv[2:]
    # Volumes that are mounted later must reach containers that run already.
    run("mount", "-n", "--make-rshared", "/")
    hide([work, *keep])
    bind_on_disk(work)
    guard_sysctls(work)
    run("ip", "link", "set", "lo", "up")
    # Orphans of ended shims come to process 1; nobody asks how they ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    sys.stdin.read()


main()
