"""The real taas-trainer with strategy Local: its speed, its memory and its start.

    with data_of(model) as data: rates(model, data, steps=100, windows=5)
"""

import contextlib
import json
import os
import subprocess
import tempfile
import time

from contestant import Failed, environment, pin

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = f"{ROOT}/bin/taas-trainer"
LIMIT_S = 900


@contextlib.contextmanager
def data_of(model):
    """spec.trainer.data for bytes of any content, in files for the block."""
    with tempfile.TemporaryDirectory(prefix="taas-bench-data-") as folder:
        if not model.shape:  # A text.
            with open(f"{folder}/text", "wb") as file:
                file.write(os.urandom(model.examples * model.features + 1))
            yield {"format": "text", "train": {"files": [f"{folder}/text"]},
                   "text": {"context": model.features}}
            return
        with open(f"{folder}/images", "wb") as file:
            file.write(os.urandom(model.examples * model.features))
        with open(f"{folder}/labels", "wb") as file:
            file.write(bytes(i % model.classes for i in range(model.examples)))
        files = {"images": f"{folder}/images", "labels": f"{folder}/labels"}
        yield {"format": "raw", "train": files, "classes": model.classes,
               "raw": {"dtype": "uint8", "shape": list(model.shape), "labelDtype": "uint8"}}


class Run:
    """One training; all ends with the block."""

    def __init__(self, model, data, steps, log_steps):
        config = {"model": model.spec, "data": data, "strategy": {"type": "Local"},
                  "optimizer": model.optimizer, "batchSize": model.batch, "maxSteps": steps,
                  "logSteps": log_steps, "jsonLogs": True}
        self._folder = tempfile.TemporaryDirectory(prefix="taas-bench-trainer-")
        self._errors = tempfile.TemporaryFile("w+")
        self.began = time.monotonic()
        self._process = subprocess.Popen(
            [PROGRAM, "--config", json.dumps(config)], stdout=subprocess.PIPE,
            stderr=self._errors, text=True, preexec_fn=lambda: pin(1),
            env={**environment(1, self._folder.name),
                 "TF_CONFIG": json.dumps({"task": {"type": "worker", "index": 0}}),
                 "TAAS_TERMINATION_LOG": f"{self._folder.name}/end"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()
        self._folder.cleanup()

    def windows(self):
        """The objects that it writes, one each `log_steps` steps."""
        for line in self._process.stdout:
            if line.startswith("{") and "secondsPerBatch" in line:
                yield json.loads(line)

    def peak_mb(self):
        """Waits for the end."""
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.returncode != 0:
            self._errors.seek(0)
            raise Failed(f"{PROGRAM} ended with {self._process.returncode}; it said:\n"
                         f"{self._errors.read()[-2000:]}")
        return usage.ru_maxrss / 1024


def rates(model, data, steps, windows):
    """(examples/s of each window but the first, peak in MB)"""
    with Run(model, data, steps * (windows + 1), steps) as run:
        speeds = [model.batch / window["secondsPerBatch"] for window in run.windows()]
        return speeds[1:], run.peak_mb()


def start_seconds(model, data):
    """From exec until the first step is made."""
    with Run(model, data, steps=1, log_steps=1) as run:
        next(run.windows(), None)
        spent = time.monotonic() - run.began
        run.peak_mb()
        return spent
