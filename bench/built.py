"""Programs that a bench compares: ours as Bazel builds them, and the Python of a peer."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BAZEL = "/usr/bin/bazel"


def setup_path(name):
    return subprocess.check_output([f"{ROOT}/tools/setup/setup.sh", "path", name],
                                   text=True).strip()


def program(label):
    """Builds //folder:name and says where it is."""
    cache = f"--disk_cache={setup_path('cache')}/bazel"
    subprocess.run([BAZEL, "build", "--noshow_progress", "--show_result=0",
                    "--ui_event_filters=-info", cache, label], cwd=ROOT, check=True)
    where = subprocess.check_output([BAZEL, "info", "bazel-bin"], cwd=ROOT, text=True,
                                    stderr=subprocess.DEVNULL)
    return f"{where.strip()}/{label.removeprefix('//').replace(':', '/')}"


def python_of(name):
    """The interpreter of an environment of tools/setup/python; the bench ends without it."""
    python = f"{setup_path(name)}/python"
    if not os.path.exists(python):
        raise SystemExit(f"bench: {python} is not there: `tools/setup/setup.sh python {name}` "
                         "installs it")
    return python
