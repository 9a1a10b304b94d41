#!/usr/bin/python3
"""The browser's network and what runs in it end with whoever has made it.

Part of `make e2e`; needs no cluster.
"""

import os
import subprocess
import sys
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


def named(mark):
    """Pids of processes that have it in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


class QuietNetworkTest(unittest.TestCase):

    def test_nothing_outlives_a_maker_that_is_killed(self):
        # Symptom: a `make e2e` that was interrupted left browsers, their Node and two relays.
        mark = f"QUIET_NETWORK_TEST={os.getpid()}"
        name, value = mark.split("=")
        maker = subprocess.Popen([sys.executable, "-c", MAKER, "inside"], text=True,
                                 env={**os.environ, name: value, "PYTHONPATH": PATH},
                                 stdout=subprocess.PIPE)
        with maker:
            self.assertEqual(maker.stdout.readline(), "inside\n")
            # The maker, the shell of the network, the relays on both sides, the sleep.
            self.assertGreaterEqual(len(named(mark)), 5 if os.geteuid() == 0 else 2)
            maker.kill()
        until("the end of all that it has started", lambda: not named(mark), 10)


if __name__ == "__main__":
    unittest.main()
