"""The data set that the measurements train with."""

import contextlib
import os
import subprocess
import tempfile

TAAS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "taas")


@contextlib.contextmanager
def mnist(folder):
    """`folder`, made by `taas data fetch mnist`; without one such a folder for the block."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="taas-bench-data-") as made:
        subprocess.run(
            [TAAS, "data", "fetch", "mnist", made], check=True, stdout=subprocess.DEVNULL
        )
        yield made
