"""The commands of the project's pages, and who runs them.

A fenced block of the language `sh` holds commands. A comment just above it may say that another
test runs them, that nobody does and why, or that of some alone:

    <!-- run by e2e/chart/release_test.py -->
    <!-- not run: it opens a browser -->
    <!-- not run: `taas open`, `xdg-open`: they open a browser -->
"""

import dataclasses
import re

# A block that begins with one of these, or has a line that does, holds commands.
PROGRAMS = {"bin/taas", "bazel", "cd", "ctr", "curl", "dist/gpu/check", "docker", "export", "git",
            "helm", "kubectl", "make", "node", "npm", "pip", "python", "python3", "skopeo",
            "source", "sudo", "taas", "taas-operator", "taas-trainer"}
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z]*)\n(?P<text>.*?)^(?P=indent)```$",
                   re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- (?P<kind>run by|not run:) (?P<words>[^>]*?) -->\n\Z", re.DOTALL)
BEGINNINGS = re.compile(r"`([^`]+)`(?:, )?")


@dataclasses.dataclass
class Block:
    line: int  # Of the page, from 1.
    language: str
    text: str
    run_by: str = ""  # A test's path.
    reason: str = ""  # Why not all of it is run,
    left_out: tuple = ()  # but only what begins so; () with a reason: none of it is run.

    @property
    def has_commands(self):
        """Whatever its language is."""
        return any(line.split(" ")[0] in PROGRAMS for line in self.text.splitlines())

    def script(self):
        """What of it is to be run, as it stands on the page."""
        kept, goes_on, keeps = [], False, True
        for line in self.text.splitlines():
            keeps = keeps if goes_on else not line.startswith(self.left_out or ("#",))
            goes_on = line.endswith("\\")
            if keeps:
                kept.append(line)
        return "\n".join(kept)


def blocks(text):
    """Those of a page in Markdown."""
    found = []
    for match in FENCE.finditer(text):
        block = Block(text.count("\n", 0, match.start()) + 1, match["language"], match["text"])
        mark = MARK.search(text[:match.start()])
        if mark and mark["kind"] == "run by":
            block.run_by = mark["words"]
        elif mark:
            beginnings, _, reason = mark["words"].rpartition(": ")
            block.left_out = tuple(BEGINNINGS.findall(beginnings))
            block.reason = " ".join((reason or mark["words"]).split())
        found.append(block)
    return found
