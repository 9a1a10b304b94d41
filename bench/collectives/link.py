"""Two network namespaces of this machine with a cable between them; takes root.

    with Link(bits="1gbit") as link:       # by tbf, both ways; None: as fast as the machine is
        link.namespaces, link.hosts        # of the two ends
"""

import os
import subprocess

# Of the token bucket: some packets, so that the rate holds within a fraction of a millisecond.
BURST = "64kb"
# What may wait at the link before packets are lost.
LATENCY = "50ms"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Link:
    def __init__(self, bits=None):
        self.bits = bits
        self.namespaces = [f"taas-bench-{os.getpid()}-{end}" for end in "ab"]
        self.hosts = ["10.77.0.1", "10.77.0.2"]

    def __enter__(self):
        names = [f"tb{os.getpid()}{end}" for end in "ab"]
        for namespace in self.namespaces:
            ip("netns", "add", namespace)
        ip("link", "add", names[0], "netns", self.namespaces[0], "type", "veth", "peer", "name",
           names[1], "netns", self.namespaces[1])
        for namespace, name, host in zip(self.namespaces, names, self.hosts):
            ip("-n", namespace, "addr", "add", host + "/24", "dev", name)
            ip("-n", namespace, "link", "set", name, "up")
            ip("-n", namespace, "link", "set", "lo", "up")
            if self.bits:
                subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", name, "root", "tbf",
                                "rate", self.bits, "burst", BURST, "latency", LATENCY], check=True)
        return self

    def __exit__(self, *_):
        for namespace in self.namespaces:
            ip("netns", "del", namespace)
