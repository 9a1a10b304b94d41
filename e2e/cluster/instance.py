"""One cluster of this machine among others: a number, and all names and addresses that follow.

A lock that ends with its holder makes the number ours, so what an earlier holder left behind
(it was killed) is ours to remove, and two clusters never share a name.

    with Instance() as instance:
        instance.address        10.213.N.2, where the API server is reached from this machine
        instance.work           a folder of its own, removed at the end
"""

import fcntl
import glob
import ipaddress
import json
import os
import shutil
import subprocess
import tempfile

import cgroups

LOCKS = "/run/lock"
# As many clusters on one machine. Each takes 1 GB of memory: other things run out before.
INSTANCES_MAX = 100
NAME = "taas-e2e"
# Linux allows 15 characters for an interface.
INTERFACE = "taase2e"


def networks_of_machine():
    """What this machine has routes to, its default route left out."""
    routes = subprocess.run(
        ["ip", "-json", "-4", "route", "show", "table", "all"],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout
    found = []
    for route in json.loads(routes or "[]"):
        if route["dst"] == "default":
            continue
        try:
            found.append(ipaddress.ip_network(route["dst"], strict=False))
        except ValueError:
            continue  # The kernel's own words for special routes.
    return found


class Instance:

    def __init__(self):
        self.lock = None
        os.makedirs(LOCKS, exist_ok=True)
        taken = None
        for number in range(INSTANCES_MAX):
            if self._take(number):
                # Only after the lock: an interface of an earlier holder of this number goes first.
                self.number = number
                self._sweep()
                taken = taken if taken is not None else networks_of_machine()
                if not any(self.network.overlaps(other) for other in taken):
                    break
                self.lock.close()
                self.lock = None
        if self.lock is None:
            raise RuntimeError(
                f"none of the {INSTANCES_MAX} numbers for clusters of this machine is free: "
                f"each {LOCKS}/{NAME}-N.lock is held, or the machine has a route to 10.213.N.0/30"
            )
        self.name = f"{NAME}-{self.number}"
        self.work = tempfile.mkdtemp(prefix=self.name + "-")
        # Containers of other users look into mounted folders below it.
        os.chmod(self.work, 0o755)

    def _take(self, number):
        lock = open(f"{LOCKS}/{NAME}-{number}.lock", "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self.lock = lock
        return True

    @property
    def network(self):
        return ipaddress.ip_network(f"10.213.{self.number}.0/30")

    @property
    def host_address(self):
        return f"10.213.{self.number}.1"

    @property
    def address(self):
        return f"10.213.{self.number}.2"

    @property
    def interface(self):
        return f"{INTERFACE}{self.number}"

    def _sweep(self):
        """Removes what a holder of this number left that was killed."""
        subprocess.run(["ip", "link", "delete", self.interface], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cgroups.remove(f"{NAME}-{self.number}")
        for left in glob.glob(f"{tempfile.gettempdir()}/{NAME}-{self.number}-*"):
            shutil.rmtree(left, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._sweep()
        shutil.rmtree(self.work, ignore_errors=True)
        self.lock.close()
