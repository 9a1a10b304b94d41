"""A program that makes training steps when it is told to (peer.py, steps.cc), and its resources.

    with Contestant(["peer.py"], threads=1, config={…}) as program:
        program.seconds(10)      # of ten steps
"""

import json
import os
import select
import subprocess
import tempfile
import time

# Until a program is ready, which may compile some minutes, and until it has made its steps.
READY_S = 900
STEPS_S = 600


class Failed(RuntimeError):
    pass


class Unknown(RuntimeError):
    """The model is not known to the program."""


def environment(threads, folder):
    """Nothing of the caller's; all that counts threads by a variable has as many."""
    return {"PATH": "/usr/bin:/bin", "HOME": folder, "OMP_NUM_THREADS": str(threads),
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TORCHINDUCTOR_COMPILE_THREADS": "1"}


def pin(threads):
    """In the child: to as many cores as it has threads."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))


class Contestant:
    def __init__(self, command, threads, config=None, more=None):
        """`more` goes into the program's environment."""
        self.command = command
        self.began = time.monotonic()
        self._folder = tempfile.TemporaryDirectory(prefix="taas-bench-trainer-")
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env={**environment(threads, self._folder.name), **(more or {})},
            preexec_fn=lambda: pin(threads))
        try:
            if config is not None:
                self._tell(json.dumps(config))
            answer = self._hear(READY_S)
            self.ready_after = time.monotonic() - self.began
            if "unknown" in answer:
                raise Unknown(answer["unknown"])
            self.parameters = answer.get("parameters")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            pipe.close()
        self._folder.cleanup()

    def _tell(self, text):
        try:
            self._process.stdin.write(text.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self._why("it ended")) from None

    def _hear(self, limit):
        if not select.select([self._process.stdout], [], [], limit)[0]:
            raise Failed(self._why(f"it did not answer within {limit} s"))
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._why("it ended"))
        return json.loads(line)

    def _why(self, what):
        self._errors.seek(0)
        return f"{' '.join(self.command)}: {what}; it said:\n{self._errors.read()[-2000:]}"

    def ask(self, steps):
        self._tell(str(steps))
        return self._hear(STEPS_S)

    def seconds(self, steps):
        return self.ask(steps)["seconds"]

    def steps_in(self, seconds):
        """How many steps take about as long."""
        one = self.seconds(1)
        few = max(1, min(1000, int(0.2 * seconds / one)))
        return max(1, round(seconds * few / self.seconds(few)))

    def peak_mb(self):
        with open(f"/proc/{self._process.pid}/status", encoding="utf-8") as file:
            line = next(line for line in file if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
