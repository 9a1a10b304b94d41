#!/usr/bin/python3
"""The browser's network and what runs in it end with whoever has made it.

Part of `make e2e`; needs no cluster.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from waiting import until

# Where the modules of tests are found.
PATH = os.pathsep.join(sys.path)
MAKER = """
import subprocess, sys
from quiet_network import QuietNetwork
with QuietNetwork("http://127.0.0.1:9/") as network:
    subprocess.run([*network.enter, "sh", "-c", f"echo {sys.argv[1]}; exec sleep 600"])
"""
# Without root it shares the machine's network: the maker and the sleep.
STARTED = 5 if os.geteuid() == 0 else 2


def named(mark):
    """Pids of processes that have it in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if mark.encode() in file.read().split(b"\0"):
                found.append(int(pid))
    return found


def end(mark):
    for pid in named(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class QuietNetworkTest(unittest.TestCase):

    def test_nothing_outlives_a_maker_that_is_killed(self):
        # Symptom: a `make e2e` that was interrupted left browsers, their Node and two relays.
        mark = f"QUIET_NETWORK_TEST={os.getpid()}"
        name, value = mark.split("=")
        # Whoever is killed leaves it; nobody else's is there.
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(end, mark)
        maker = subprocess.Popen(
            [sys.executable, "-c", MAKER, "inside"], text=True, stdout=subprocess.PIPE,
            env={**os.environ, name: value, "PYTHONPATH": PATH, "TMPDIR": folder})
        self.addCleanup(maker.stdout.close)
        self.assertEqual(maker.stdout.readline(), "inside\n")
        self.assertGreaterEqual(len(named(mark)), STARTED)
        maker.kill()
        maker.wait()
        until("the end of all that it has started", lambda: not named(mark), 10)


if __name__ == "__main__":
    unittest.main()
