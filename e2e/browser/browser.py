"""Runs a scenario of main.ts in a real browser; what it finds wrong is an AssertionError.

    browser.run("walk of a trainer", "en", url=url, token=token, namespace="default", local=False)

What the page's surroundings do meanwhile is in `acts`: the scenario calls them by name, and gets
what they return.

    browser.run("cluster that goes away", "en", acts={"stop": cluster.stop}, …)

Screenshots, pages and consoles of a failure lie in a folder that the error names.
"""

import contextlib
import dataclasses
import glob
import json
import os
import subprocess
import tempfile
import threading

import programs
from quiet_network import QuietNetwork

FOLDER = os.path.dirname(os.path.abspath(__file__))
# The longest, in which every page is looked at, takes a third of it on two busy cores.
LIMIT_S = 1200
# Before a line of a scenario that asks for an act: see src/acts.ts.
ACT = "act "


@dataclasses.dataclass(frozen=True)
class Said:
    text: str
    failed: bool


def node():
    """Node, when all that runs in it is installed."""
    folder = os.environ.get("TAAS_NODE_BIN") or subprocess.run(
        [programs.SETUP, "path", "node"], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.strip()
    found = os.path.join(folder, "node")
    if not glob.glob(os.path.join(FOLDER, "node_modules", "playwright-core")):
        raise programs.ProgramMissing(
            f"{FOLDER} has no node_modules: `tools/setup/setup.sh browser` installs them")
    return found


def traces_folder():
    parent = os.environ.get("E2E_LOGS") or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    return tempfile.mkdtemp(prefix="taas-browser-", dir=parent)


def run(scenario, language, folder=None, acts=None, **task):
    kept = folder or traces_folder()
    task = {"jobs": {}, **task,
            "scenario": scenario, "language": language, "folder": kept}
    with QuietNetwork(task["url"]) as network:
        said = run_in(network, task, acts or {})
    if said.failed:
        raise AssertionError(f"{scenario} ({language}): {said.text}\ntraces: {kept}")
    if not folder:
        os.rmdir(kept)
    return said.text


def run_in(network, task, acts):
    command = [*network.enter, node(), "--import", os.path.join(FOLDER, "resolve.mjs"),
               os.path.join(FOLDER, "main.ts")]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        try:
            text = converse(process, task, acts)
        finally:
            timer.cancel()
            if process.poll() is None:
                process.kill()
    return Said(text, process.returncode != 0)


def converse(process, task, acts):
    """What the scenario said, once it has ended."""
    said = []

    def tell(value):
        # One that has ended already says why in what is read below.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(value) + "\n")
            process.stdin.flush()

    tell(task)
    for line in process.stdout:
        if line.startswith(ACT):
            tell(acts[line.removeprefix(ACT).strip()]())
        else:
            said.append(line)
    process.wait()
    return "".join(said)


def check_types():
    """Of the scenarios, and that each text they look for exists in both languages."""
    compiler = os.path.join(programs.TREE, "dashboard", "web", "node_modules", "typescript", "bin",
                            "tsc")
    done = subprocess.run([node(), compiler, "--project", FOLDER], text=True, check=False,
                          timeout=LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise AssertionError(done.stdout)
