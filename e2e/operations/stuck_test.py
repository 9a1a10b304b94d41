"""A process of the operator whose deciding thread stands still: its node starts it anew.

The thread is held by ptrace, which no other thread of the process notices.
"""

import ctypes
import os

import taas
from scenario import Scenario

DECIDES = "io"
# Of <sys/ptrace.h> and <linux/wait.h>.
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
# 30 s until it counts as stuck, three probes 10 s apart, and 30 s for an end in good order.
LIMIT_S = 180
KILLED = 128 + 9


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"ptrace {request:#x} of thread {thread}: {os.strerror(error)}")


def thread_of(pid, name):
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return int(thread)
    raise LookupError(f"process {pid} has no thread {name}")


class Held:
    """A thread that stands still. Only the thread that began this may ask or end it."""

    def __init__(self, thread):
        self.thread = thread
        self.gone = False

    def __enter__(self):
        ptrace(PTRACE_SEIZE, self.thread)
        ptrace(PTRACE_INTERRUPT, self.thread)
        os.waitpid(self.thread, WALL)
        return self

    def has_been_killed(self):
        """Without being asked for it a dead thread keeps its process from ending."""
        self.gone = self.gone or os.waitpid(self.thread, WALL | os.WNOHANG) != (0, 0)
        return self.gone

    def __exit__(self, *_):
        if not self.has_been_killed():
            ptrace(PTRACE_DETACH, self.thread)


class StuckTest(Scenario):

    needs = ("components", "node")
    def test_a_process_whose_deciding_thread_stands_still_is_started_again(self):
        standby = self.standby()
        (pid,) = self.cluster.sandbox.processes(HOSTNAME=standby)
        before = self.container(standby)["restartCount"]
        with Held(thread_of(pid, DECIDES)) as held:
            self.wait_for("the process to be killed", held.has_been_killed, LIMIT_S)
        self.wait_for("the kubelet to start it again",
                      lambda: self.container(standby)["restartCount"] > before)
        last = self.container(standby)["lastState"]["terminated"]
        self.assertEqual(last["exitCode"], KILLED)
        self.assertTrue(self.was_told("503", standby))
        self.wait_for("it to be ready", lambda: self.container(standby)["ready"])

    def standby(self):
        """One that leads ends by itself when it cannot renew its lease; no job misses this one."""
        leader = taas.leader(self.kubectl)
        return next(name for name in taas.operators(self.kubectl) if name != leader)

    def container(self, pod):
        found = self.kubectl.json("get", "pod", pod, "-n", taas.NAMESPACE)
        return found["status"]["containerStatuses"][0]

    def was_told(self, text, pod):
        events = self.kubectl.json("get", "events", "-n", taas.NAMESPACE, "--field-selector",
                                   f"involvedObject.name={pod},reason=Unhealthy")["items"]
        return any(text in event["message"] and "Liveness" in event["message"] for event in events)
