"""One program of a cluster: started, stopped, killed, frozen and started again, with its log.

    etcd = Component(sandbox, "etcd", [programs.path("etcd"), …], work + "/logs")
    etcd.start()
    etcd.kill()             # SIGKILL; stop() is SIGTERM
    etcd.start()            # the same command line, the same log
"""

import contextlib
import os
import signal

from sandbox import child_of
from waiting import until

# A kubelet or an API server that is told to end does so within a second or two.
STOP_LIMIT_S = 60
LOG_TAIL_BYTES = 2000


class Component:

    def __init__(self, sandbox, name, command, logs, environ=None):
        self.sandbox = sandbox
        self.name = name
        self.command = command
        self.environ = environ
        self.log = os.path.join(logs, name + ".log")
        self.process = None

    def start(self):
        if self.running():
            raise RuntimeError(f"{self.name} runs already")
        self.process = self.sandbox.start(self.command, self.log, self.environ)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def pid(self):
        """On this machine; waits for a program that is only just starting."""
        return until(
            f"the process of {self.name}", lambda: self.check() and child_of(self.process.pid)
        )

    def check(self):
        """True, or a RuntimeError with the end of the log of a program that has ended."""
        if self.running():
            return True
        code = "was not started" if self.process is None else f"ended: {self.process.poll()}"
        raise RuntimeError(f"{self.name} {code}\n{self.log_tail()}")

    def log_tail(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, "rb") as file:
            file.seek(max(0, os.path.getsize(self.log) - LOG_TAIL_BYTES))
            return file.read().decode(errors="replace")

    def signal(self, number):
        os.kill(self.pid(), number)

    def _end(self, number):
        self.signal(number)
        until(f"the end of {self.name}", lambda: not self.running(), STOP_LIMIT_S, poll_s=0.02)

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def discard(self):
        """It is as before its start, also if it ends by itself at this moment or is only just
        starting: nobody looks why it has ended."""

        def over():
            child = child_of(self.process.pid) if self.running() else None
            if child is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            return not self.running()

        if self.process is not None:
            until(f"the end of {self.name}", over, STOP_LIMIT_S, poll_s=0.02)
        self.process = None

    def restart(self):
        self.stop()
        self.start()

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)
        # The parent stopped itself when it saw the program stop, and would not see it end.
        os.kill(self.process.pid, signal.SIGCONT)
