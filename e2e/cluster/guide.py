"""A guide of docs/ whose commands are run as they stand: the blocks ```sh, by heading.

    guide = Guide("docs/migrate-from-kubeflow.md", kubectl)
    guide.follow("2. Stop the old controller")
    assert not guide.left()
"""

import os
import re
import subprocess

import programs
import taas

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^##+ (.*)\n", re.MULTILINE)
# The slowest is a Helm release with two operators.
LIMIT_S = 300


class Guide:

    def __init__(self, path, kubeconfig, folder):
        """Commands run in `folder`, which gets what the guide takes to be there."""
        with open(os.path.join(programs.TREE, path), encoding="utf-8") as file:
            texts = HEADING.split(file.read())
        self.blocks = {heading: BLOCK.findall(text)
                       for heading, text in zip(texts[1::2], texts[2::2])}
        self.followed = set()
        self.folder = folder
        for name in ("charts", "crds", "examples"):
            os.symlink(os.path.join(programs.TREE, name), os.path.join(folder, name))
        tools = [programs.folder("kubernetes"), programs.folder("cluster"),
                 os.path.dirname(taas.CLI), programs.SYSTEM_PATH]
        self.environ = {"KUBECONFIG": kubeconfig, "HOME": folder, "PATH": ":".join(tools)}

    def follow(self, heading):
        """Runs all of a section; what it printed."""
        self.followed.add(heading)
        return "".join(self.run(block, f"the guide's section `{heading}`")
                       for block in self.blocks[heading])

    def run(self, commands, whose):
        """What they print; fails at the first that does."""
        done = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", commands], cwd=self.folder,
            env=self.environ, text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(f"{whose} ended with {done.returncode}\n{commands}\n{done.stdout}")
        return done.stdout

    def left(self):
        """Sections with commands that nobody has followed."""
        return [heading for heading, blocks in self.blocks.items()
                if blocks and heading not in self.followed]
