"""Mount, network and pid namespaces in which a whole cluster runs.

Its process 1 ends when this process does, however it ends, and takes every program, mount and
interface in the namespaces along: nothing is left behind. From this machine the cluster is reached
at `instance.address`, over one pair of interfaces; from inside there is no way out.

    with Sandbox(instance, keep=["/folder/of/programs"]) as sandbox:
        process = sandbox.start(["/usr/bin/sleep", "100"], log_path)
"""

import os
import signal
import subprocess

import processes
import programs
from waiting import until

INIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox_init.py")
# Making namespaces takes some milliseconds.
START_LIMIT_S = 30
# A clean PATH, and none of the caller's proxies: all addresses are inside.
ENVIRON = {"PATH": programs.SYSTEM_PATH, "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def child_of(parent):
    """The pid of the one child of a process, or None."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                # The name in parentheses may hold spaces.
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            return int(entry)
    return None


class Sandbox:

    def __init__(self, instance, keep):
        if os.geteuid() != 0:
            raise RuntimeError("a cluster with namespaces of its own needs root: use sudo")
        self.instance = instance
        self.started = []
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--",
             "/usr/bin/python3", INIT, instance.work, *keep],
            env=ENVIRON, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
            # Ctrl-C is for this process, which then ends the cluster in order.
            start_new_session=True,
        )
        try:
            if self.process.stdout.readline() != "ready\n":
                raise RuntimeError(
                    "make the namespaces of a cluster: " + self.process.communicate()[1].strip()
                )
            self.pid = child_of(self.process.pid)
            self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self):
        outer, inner = self.instance.host_address, self.instance.address
        self._here("ip", "link", "add", self.instance.interface, "type", "veth",
                   "peer", "name", "eth0", "netns", str(self.pid))
        self._here("ip", "address", "add", outer + "/30", "dev", self.instance.interface)
        self._here("ip", "link", "set", self.instance.interface, "up")
        self.run("ip", "address", "add", inner + "/30", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def _here(self, *command):
        done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout.strip()}")

    def _entered(self, command):
        return ["nsenter", f"--target={self.pid}", "--mount", "--net", "--pid", "--", *command]

    def run(self, *command, stdin=None, check=True):
        """Runs a program inside to its end; its standard output."""
        done = subprocess.run(self._entered(command), check=False, env=ENVIRON, text=True,
                              input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def start(self, command, log, environ=None):
        """Starts a program inside, with `environ` beside what all have: its Popen is that of a
        parent which ends as it does."""
        with open(log, "a", encoding="utf-8") as stream:
            process = subprocess.Popen(
                self._entered(command), env={**ENVIRON, **(environ or {})},
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True,
            )
        self.started.append(process)
        return process

    def processes(self, **environ):
        """Pids, on this machine, of the pods' processes whose environment has all of `environ`."""
        wanted = {f"{name}={value}".encode() for name, value in environ.items()}
        return [pid for pid, found in processes.environments()
                if wanted <= found and self._is_pods(pid)]

    def _is_pods(self, pid):
        try:
            with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
                return f":/{self.instance.name}/" in file.read()
        except OSError:
            return False

    def close(self):
        if self.process.poll() is None:
            pid = child_of(self.process.pid)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        # The parent of a frozen program is stopped, too; until it reaps, process 1 stays.
        for process in self.started:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
        self.process.stdin.close()
        until("the end of a cluster's processes", lambda: self.process.poll() is not None,
              START_LIMIT_S, poll_s=0.02)
        self.process.stdout.close()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
