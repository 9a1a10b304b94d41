"""Runs a program on the driver and the libraries that stand for NVIDIA's, in tests that have
//trainer/cuda/fake among their data.

    done = fake_machine.run([PROGRAM, "--out", path], machine=fake_machine.H100)
"""

import os
import subprocess
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Lines as fake_machine.h has them.
H100 = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n"
LIMIT_S = 280  # A Bazel test of medium size has 300.


def run(command, machine=H100, environment=None):
    """What it has said stands in `stdout`, as text."""
    with tempfile.NamedTemporaryFile("w", suffix=".machine", encoding="utf-8") as file:
        file.write(machine)
        file.flush()
        return subprocess.run(
            command, check=False, timeout=LIMIT_S, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"LD_LIBRARY_PATH": FOLDER, "TAAS_FAKE_CUDA": file.name, **(environment or {})})
