"""`taas-operator dashboard` as a process, and what the kernel says that it takes.

    with PageServer(binary, plane) as server:
        server.ready_s, server.rss_mb(), server.cpu_s()
"""

import http.client
import os
import re
import subprocess
import time
import urllib.request

from api_server import end, free_ports

# 50,000 pods are listed in seconds; a machine that others use takes many times as long.
READY_LIMIT_S = 120
# Below what a person notices, and no load.
POLL_S = 0.01
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class PageServer:

    def __init__(self, binary, plane):
        self.binary = binary
        self.plane = plane
        (self.port,) = free_ports(1)
        self.ready_s = None
        self.process = None

    def __enter__(self):
        log = self.plane.path("dashboard.log")
        began = time.monotonic()
        with open(log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen(
                [self.binary, "dashboard", "--addr", f"127.0.0.1:{self.port}", "--kubeconfig",
                 self.plane.kubeconfig], stdout=file, stderr=file)
        try:
            self.await_ready(log)
        except BaseException:
            self.__exit__()
            raise
        self.ready_s = time.monotonic() - began
        return self

    def __exit__(self, *_):
        end(self.process)

    def await_ready(self, log):
        deadline = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).close()
                return
            except OSError:
                time.sleep(POLL_S)
        with open(log, encoding="utf-8", errors="replace") as file:
            tail = file.read()[-2000:]
        raise SystemExit(f"bench: the dashboard has no lists within {READY_LIMIT_S} s:\n{tail}")

    def memory_mb(self, field):
        """10⁶ bytes; field: VmRSS or VmHWM."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(field + r":\s+(\d+) kB", file.read())[1]) * 1024 / 1e6

    def cpu_s(self):
        """Of all threads, in user and kernel mode."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def get(self, path, token, gzip):
        """Seconds, and the bytes on the wire, of a whole answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=READY_LIMIT_S)
        headers = {"Authorization": "Bearer " + token}
        if gzip:
            headers["Accept-Encoding"] = "gzip"
        began = time.monotonic()
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        took = time.monotonic() - began
        connection.close()
        packed = reply.headers.get("Content-Encoding") == "gzip"
        if reply.status != 200 or packed != gzip:
            raise SystemExit(f"bench: GET {path}: {reply.status} {reply.headers} {body[:300]}")
        return took, body
