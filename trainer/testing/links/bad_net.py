"""A network of namespaces of this machine, and ways to make it bad: what this kernel has for that.

    with BadNet(3) as net:                       # ends joined by a switch
        with net.ends[0].inside():               # processes started here, sockets made here, are
            subprocess.Popen([…, net.ends[0].host])                                     # its own
        net.ends[1].limit("20mbit")              # what it sends: a token bucket (tbf)
        net.ends[1].lose(percent=2)              # of what it hears: by chance (nftables)
        net.cut([0], [1, 2])                     # nothing comes through, nobody is told (nftables)
        net.heal()
    with BadNet(3, relay=PROGRAM, delay_us=5000) as net:      # the switch is delay_relay.cc

Namespaces have no names, and end with whoever uses them: nothing is left behind, however this
process ends. The process itself leaves the machine's network for one of its own with the first of
them, for good: where it is root only in Bazel's sandbox it could not come back. Call it from the
main thread. `missing()` says what a machine lacks for it.
"""

import contextlib
import ctypes
import functools
import json
import os
import re
import shutil
import subprocess

CLONE_NEWNET = 0x40000000
THIS = "/proc/thread-self/ns/net"
DEVICE = "link0"
RELAY_ENDS_S = 10  # It has a line to write.
# Of a token bucket: some frames, so that a rate holds within milliseconds; and what may wait before
# it, as bytes at its rate, before frames are lost.
BURST, LATENCY = "16kb", "200ms"
# What is not received goes by address, and by chance: both where it arrives, so that who has sent
# it learns nothing.
RULES = """
table inet bad {
    set silent { type ipv4_addr; }
    chain arrivals {
        type filter hook input priority 0;
        ip saddr @silent drop
    }
    chain chance { }
}
"""
_libc = ctypes.CDLL(None, use_errno=True)
# This process's own network, once it has one.
_home = None


def _check(done):
    if done != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _new():
    """Enters a new namespace; a file that keeps it."""
    _check(_libc.unshare(CLONE_NEWNET))
    return os.open(THIS, os.O_RDONLY)


def _leave_the_machine():
    global _home  # pylint: disable=global-statement
    if _home is None:
        home = _new()
        run("ip", "link", "set", "dev", "lo", "up")
        _home = home


def _made():
    """A new namespace, as a file that keeps it."""
    _leave_the_machine()
    try:
        return _new()
    finally:
        _check(_libc.setns(_home, CLONE_NEWNET))


@contextlib.contextmanager
def _inside(namespace):
    _check(_libc.setns(namespace, CLONE_NEWNET))
    try:
        yield
    finally:
        _check(_libc.setns(_home, CLONE_NEWNET))


@functools.cache
def missing():
    """What a test of these links skips for, or None: a right, a device, or a part of the kernel."""
    if not all(map(shutil.which, ("ip", "tc", "nft"))):
        return "needs: network namespaces"
    try:
        with BadNet(2) as net:
            end = net.ends[0]
            end.limit("1mbit")
            end.lose(1)
            end.run("ip", "tuntap", "add", "mode", "tun", "name", "probe")
    except (OSError, RuntimeError) as why:
        print(f"no bad links here: {why}")
        return "needs: network namespaces"
    return None


class End:

    def __init__(self, number):
        self.host = f"10.77.0.{number + 1}"
        self.namespace = _made()
        # A program that is told of this file finds the namespace in it.
        self.path = f"/proc/{os.getpid()}/fd/{self.namespace}"

    def inside(self):
        return _inside(self.namespace)

    def run(self, *command, stdin=None):
        with self.inside():
            return run(*command, stdin=stdin)

    def connect(self):
        self.run("ip", "address", "add", self.host + "/24", "dev", DEVICE)
        for device in (DEVICE, "lo"):
            self.run("ip", "link", "set", "dev", device, "up")
        self.run("nft", "-f", "-", stdin=RULES)

    def limit(self, bits, burst=BURST):
        """What it sends, "20mbit"; also the acknowledgements."""
        self.run("tc", "qdisc", "replace", "dev", DEVICE, "root", "tbf", "rate", bits,
                 "burst", burst, "latency", LATENCY)

    def held_back(self):
        """How often a frame had to wait for that."""
        (found,) = json.loads(self.run("tc", "-s", "-j", "qdisc", "show", "dev", DEVICE))
        return found["overlimits"]

    def lose(self, percent):
        self.run("nft", "-f", "-", stdin=f"""
            flush chain inet bad chance
            add rule inet bad chance numgen random mod 1000 < {round(10 * percent)} counter drop
            add rule inet bad arrivals iifname {DEVICE} jump chance""")

    def lost(self):
        """Packets."""
        (found,) = re.findall(r"counter packets (\d+)",
                              self.run("nft", "list", "chain", "inet", "bad", "chance"))
        return int(found)

    def hear_nothing_of(self, hosts):
        self.run("nft", f"add element inet bad silent {{ {', '.join(hosts)} }}")

    def hear(self):
        self.run("nft", "flush set inet bad silent")


class BadNet:

    def __init__(self, ends, relay=None, delay_us=0, bytes_per_second=0):
        self.count = ends
        # Of delays and rates: what the relay is told. Without one there is a switch of the kernel.
        self.relay_command = relay and [relay, "--delay-us", str(delay_us), "--bytes-per-second",
                                        str(bytes_per_second)]
        self.ends, self.switch, self.relay = [], None, None
        # What the relay said of itself at its end: packets, and how late they were.
        self.report = None

    def __enter__(self):
        try:
            self.ends = [End(number) for number in range(self.count)]
            if self.relay_command:
                self._start_relay()
            else:
                self._make_switch()
            for end in self.ends:
                end.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_relay(self):
        files = [end.namespace for end in self.ends]
        self.relay = subprocess.Popen(
            [*self.relay_command, "--namespaces", ",".join(f"/proc/self/fd/{it}" for it in files)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=files, text=True)
        if self.relay.stdout.readline() != "ready\n":
            raise RuntimeError(f"the relay ended with {self.relay.wait()}")

    def _make_switch(self):
        self.switch = _made()
        with _inside(self.switch):
            run("ip", "link", "add", "name", "switch", "type", "bridge")
            for number, end in enumerate(self.ends):
                port = f"port{number}"
                run("ip", "link", "add", "name", port, "type", "veth", "peer", "name", DEVICE,
                    "netns", end.path)
                run("ip", "link", "set", "dev", port, "master", "switch", "up")
            run("ip", "link", "set", "dev", "switch", "up")

    def cut(self, some, others):
        """Silently, between two sets of ends."""
        for side, far in ((some, others), (others, some)):
            for number in side:
                self.ends[number].hear_nothing_of([self.ends[it].host for it in far])

    def heal(self):
        for end in self.ends:
            end.hear()

    def __exit__(self, *_):
        if self.relay is not None:
            said, _ = self.relay.communicate(timeout=RELAY_ENDS_S)
            if self.relay.returncode == 0:
                self.report = json.loads(said)
            else:
                print(f"the relay ended with {self.relay.returncode}: {said}")
        for file in [end.namespace for end in self.ends] + [self.switch]:
            if file is not None:
                os.close(file)


def run(*command, stdin=None):
    done = subprocess.run(command, check=False, text=True, input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout
