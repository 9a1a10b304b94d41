"""A cluster of `taas local up` with its dashboard, for the browser.

    with LocalCluster() as cluster:
        cluster.apply(seeds.all_jobs())
        browser.run("walk of a trainer", "en", url=cluster.url, acts={"link": cluster.link}, …)

Ownership: its folder and all its processes go with the block. Errors: an AssertionError with the
end of its log.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile

import processes
import programs
from waiting import until

LIMIT_S = 120
GPUS = "4x80"
NODES = 2
NICE = 10


class LocalCluster:

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="taas-browser-local-")
        self.dir = os.path.join(self.folder, "cluster")
        self.data = os.path.join(self.folder, "data")
        self.taas = programs.ours("taas")
        self.environ = {"HOME": self.folder, "PATH": programs.SYSTEM_PATH,
                        "KUBECONFIG": os.path.join(self.dir, "kubeconfig")}
        # Of kubectl only: what `taas` is given its pods have, too.
        self.of_kubectl = {**self.environ, **programs.OF_COMMANDS}
        self.process = None

    def __enter__(self):
        processes.OWNERS.add(self)
        try:
            self.run(self.taas, "data", "fetch", "mnist", self.data, "--generate")
            self.start("--port", "0")
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, *options):
        """Again after `stop`: where it was before."""
        with open(os.path.join(self.folder, "up.log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.taas, "local", "up", "--dir", self.dir, "--nodes", str(NODES),
                 "--fake-gpus", GPUS, "--volume", f"mnist-data={self.data}", *options],
                env=self.environ, stdout=log, stderr=log)
        until("an answer of the local cluster", self._answers, LIMIT_S)
        self.url = self.link().split("#")[0]

    def calm(self):
        """From now on what runs in pods takes a tenth of what others have of a busy processor. To a
        kernel that shares alike among sessions, of which each pod is one, the niceness of a session
        counts, to others that of each thread."""
        home = b"HOME=" + self.folder.encode()
        for pid, environ in processes.environments():
            if home in environ and any(it.startswith(b"TAAS_JOB=") for it in environ):
                # Gone, or on a kernel without sessions that share alike.
                with contextlib.suppress(OSError), \
                        open(f"/proc/{pid}/autogroup", "w", encoding="utf-8") as file:
                    file.write(str(NICE))
                with contextlib.suppress(OSError):
                    for thread in os.listdir(f"/proc/{pid}/task"):
                        os.setpriority(os.PRIO_PROCESS, int(thread), NICE)

    def stop(self):
        """The pods go on."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LIMIT_S)

    def _answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "up.log"), encoding="utf-8") as log:
                raise AssertionError(f"taas local up ended: {log.read()[-2000:]}")
        done = subprocess.run([self.taas, "open", "--print", "--dir", self.dir], env=self.environ,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode == 0

    def __exit__(self, *_):
        if self.process is not None:
            # Also of one that has stopped: its pods end with it.
            subprocess.run([self.taas, "local", "down", "--dir", self.dir], env=self.environ,
                           check=False, timeout=LIMIT_S, stdout=subprocess.DEVNULL)
            if self.process.poll() is None:
                self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        processes.OWNERS.discard(self)

    def run(self, *command, stdin=None, environ=None):
        done = subprocess.run(command, input=stdin, env=environ or self.environ, text=True,
                              check=False, timeout=LIMIT_S, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def kubectl(self, *arguments, stdin=None):
        return self.run(programs.path("kubectl"), *arguments, stdin=stdin, environ=self.of_kubectl)

    def apply(self, objects):
        self.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, objects)))

    def token(self):
        with open(os.path.join(self.dir, "api", "token"), encoding="utf-8") as file:
            return file.read().strip()

    def link(self):
        """It logs in once."""
        return self.run(self.taas, "open", "--print", "--dir", self.dir).strip()
