#!/usr/bin/python3
"""Each command of each page works: it is run here as it stands, or the page says who else runs it,
or why nobody does.

The commands of a page run one after the other in one shell, in a folder that looks like a clone in
which `make build` has run, beside a local cluster that has what the page speaks of. Two words are
changed: `data fetch` has `--generate`, since a test asks no network; and what "Ctrl-C ends" is
ended so.
"""

import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import textwrap
import unittest

TREE = os.path.join(os.environ["TEST_SRCDIR"], "taas")
sys.path[:0] = [os.path.join(TREE, "tools/ci"), os.path.join(TREE, "e2e/local")]

# Their folders must be known first.
import shards
from cluster import LIMIT_S, Cluster, kubectl_path
from pages import blocks

load_tests = shards.load_tests

ENDED_BY_HAND = re.compile(r"^(.*?)( +# .*Ctrl-C ends it.*)$", re.MULTILINE)
FETCH = re.compile(r"^(.*\bdata fetch \w+ \S+)", re.MULTILINE)
# Of a command that goes on until then: time for its first lines.
LOOK_S = 3
PRELUDE = f"""
set -eE -o pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
looked_at() {{ timeout --signal=INT {LOOK_S} "$@" || [ $? -eq 124 ]; }}
"""


def read(page):
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        return file.read()


def all_pages():
    return ["README.md", "README.zh.md", "CONTRIBUTING.md", "SECURITY.md"] + sorted(
        "docs/" + name for name in os.listdir(os.path.join(TREE, "docs")) if name.endswith(".md"))


def commands_of(page):
    return [block.text for block in blocks(read(page)) if block.language == "sh"]


def links_of(page):
    """Without those to another language of a page."""
    found = re.findall(r"\]\(([^)]*)\)", read(page))
    other = os.path.basename(page).replace(".zh.md", ".md")
    return {link.replace(".zh.md", ".md") for link in found} - {other}


class MarksTest(unittest.TestCase):
    """What is not run here says so."""

    def test_each_block_of_commands_is_run_or_says_who_runs_it_or_why_not(self):
        wrong = []
        for page in all_pages():
            for block in blocks(read(page)):
                where = f"{page}:{block.line}"
                if block.language != "sh":
                    if block.language == "" and block.has_commands:
                        wrong.append(f"{where} holds commands: give it the language sh")
                elif block.run_by:
                    wrong += self.wrong_test(where, page, block.run_by)
                elif page not in PAGES and (not block.reason or block.left_out):
                    wrong.append(f"{where} is run by nothing: add the page to PAGES, or a mark")
        self.assertEqual(wrong, [], "\n".join(wrong))

    @staticmethod
    def wrong_test(where, page, test):
        """The test that is named is there and reads the page."""
        path = os.path.join(TREE, test)
        if not os.path.exists(path):
            return [f"{where}: there is no {test}"]
        with open(path, encoding="utf-8") as file:
            return [] if os.path.basename(page) in file.read() else [
                f"{where}: {test} does not name {page}"]

    def test_a_translation_has_the_commands_and_the_links_of_its_page(self):
        translations = [page for page in all_pages() if page.endswith(".zh.md")]
        self.assertIn("README.zh.md", translations)
        for page in translations:
            with self.subTest(page):
                original = page.replace(".zh.md", ".md")
                for what in (commands_of, links_of):
                    self.assertEqual(what(page), what(original))

    def test_what_is_left_out_is_there(self):
        for page in all_pages():
            for block in blocks(read(page)):
                for beginning in block.left_out:
                    with self.subTest(page, line=block.line):
                        self.assertIn("\n" + beginning, "\n" + block.text)


class Reader:
    """One page, in a clone of its own; what it starts ends with the block."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = cluster.dir
        for name in ("crds", "charts", "examples"):
            os.symlink(os.path.join(TREE, name), os.path.join(self.folder, name))
        self.environ = {**cluster.environ, "GOGC": "off", "PATH": ":".join(
            [os.path.join(self.folder, "programs"), cluster.bin, os.path.dirname(kubectl_path()),
             cluster.environ["PATH"]])}
        # What pods of a local cluster run is looked for there, too.
        cluster.environ = self.environ

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends the clusters that the page starts."""
        for name in os.listdir(self.folder):
            folder = os.path.join(self.folder, name)
            if folder != self.cluster.cluster_dir and os.path.exists(folder + "/kubeconfig"):
                self.cluster.run(self.cluster.taas, "local", "down", "--dir", folder)

    def add_program(self, name, text):
        self.add_file("programs/" + name, text)
        os.chmod(os.path.join(self.folder, "programs", name), 0o755)

    def add_file(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def run(self, script):
        # A model that has learned little writes bytes that are no text.
        done = subprocess.run(["/bin/bash", "-c", PRELUDE + script], env=self.environ, text=True,
                              errors="replace", cwd=self.folder, check=False, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(f"ended with {done.returncode}\n{script}\n---\n{done.stdout}")
        return done.stdout

    def follow(self, page, before=None):
        """Runs the page, before a block that begins so what `before` has for it; its output."""
        script = ""
        before = dict(before or {})
        for block in blocks(read(page)):
            if block.language != "sh" or block.run_by or (block.reason and not block.left_out):
                continue
            for beginning in [each for each in before if block.text.startswith(each)]:
                script += before.pop(beginning) + "\n"
            script += block.script() + "\n"
        if before:
            raise AssertionError(f"{page} has no blocks that begin so: {list(before)}")
        script = FETCH.sub(r"\1 --generate", script)
        return self.run(ENDED_BY_HAND.sub(r"looked_at \1", script))


def readme(reader):
    printed = reader.follow("README.md")
    # The pod that was deleted.
    assert "preempted: 1" in printed, printed


# Trains until it is told to end, so that it can be suspended, scaled, looked at.
LONG = """\
    apiVersion: taas.dev/v1
    kind: TrainingJob
    metadata: {name: mnist}
    spec:
      trainer:
        model: {name: softmax}
        data: {format: generated}
        maxSteps: 100000000
      roles:
        chief: {replicas: 1}
        ps: {replicas: 1}
        worker: {replicas: 2}
    """


# Of four numbers, for examples that fit on a line.
SMALL = """\
    apiVersion: taas.dev/v1
    kind: TrainingJob
    metadata: {name: small}
    spec:
      trainer:
        model: {name: softmax}
        data: {format: generated, generated: {features: 4, classes: 3}}
        strategy: {type: Local}
        maxSteps: 100
        checkpoint: {dir: /out/small}
      roles:
        worker: {replicas: 1}
      volumes:
        - name: out
          mountPath: /out
          source: {persistentVolumeClaim: {claimName: mnist-out}}
    """


def add_ten_images(reader):
    """The first ten of an IDX file, which says in its head how many it has."""
    with gzip.open(os.path.join(reader.cluster.data, "test-images.gz")) as file:
        head = file.read(16)
        count, rows, columns = struct.unpack(">III", head[4:])
        assert count >= 10
        images = file.read(10 * rows * columns)
    with open(os.path.join(reader.folder, "ten-images.idx"), "wb") as file:
        file.write(head[:4] + struct.pack(">III", 10, rows, columns) + images)


def short_gpt2(reader):
    """job.yaml, of a training that takes seconds, and its data: its page is about any job."""
    reader.run("taas data fetch text text-data --generate; "
               "sed 's/maxSteps: .*/maxSteps: 20/' examples/models/gpt2.yaml > job.yaml")


def cli(reader):
    short_gpt2(reader)
    reader.cluster.up("--fake-gpus", "8x80", "--volume", f"text-data={reader.folder}/text-data")
    tested = os.path.join(reader.cluster.data, "test-images.gz")
    shutil.copy(tested, os.path.join(reader.cluster.data, "new-images.gz"))
    add_ten_images(reader)
    reader.add_file("small.yaml", SMALL)
    # For the program of an image, which a local cluster does not run, and for a chart of one's own.
    reader.add_program("python", "#!/bin/sh\necho \"epochs: $EPOCHS\"\n")
    reader.add_program("helm", "#!/bin/sh\ncat examples/mnist.yaml\n")
    reader.add_file("long.yaml", LONG)
    printed = reader.follow("docs/cli.md", {
        "echo '[0, 0.2": "taas submit -f small.yaml",
        "taas generate": "head -c 40 text-data/test.txt > part.txt; taas submit -f job.yaml",
        "taas top node": "taas submit -f long.yaml --detach; taas wait mnist --for Running",
        "taas validate": "cp examples/mnist.yaml .; cp examples/tfjob.yaml .; mkdir jobs; "
                         "cp examples/evaluator.yaml jobs",
        "taas wait": "taas delete mnist; taas submit -f examples/mnist.yaml --detach",
        "taas suspend": "taas delete mnist; taas submit -f long.yaml --detach; "
                        "taas wait mnist --for Running",
        "taas local up": "taas data fetch mnist mnist-data --generate",
    })
    assert "epochs: 3" in printed, printed
    assert len(re.findall(r"^{\"class\":", printed, re.MULTILINE)) > 10, printed


def elastic(reader):
    reader.cluster.up()
    reader.follow("docs/strategies.md", {
        "kubectl scale": "taas submit -f examples/all-reduce-elastic.yaml --detach; "
                         "taas wait all-reduce-elastic --for Running"})


def trainer(reader):
    short_gpt2(reader)
    reader.add_file("trainer.json", """\
        {"model": {"name": "softmax"}, "data": {"format": "generated"}, "maxSteps": 100,
         "strategy": {"type": "Local"}, "checkpoint": {"dir": "softmax-out"}}
        """)
    reader.follow("docs/trainer.md")


def trainer_use(reader):
    reader.cluster.up()
    add_ten_images(reader)
    printed = reader.follow("docs/trainer-use.md", {
        "taas eval": "taas submit -f examples/mnist.yaml"})
    # As the page shows them.
    assert re.search(r"small-out/model.ckpt-1000: step 1000, accuracy ", printed), printed
    assert re.search(r'^{"seed":2,"text":', printed, re.MULTILINE), printed


def text(reader):
    reader.run("taas data fetch text made --generate; cat made/*.txt > my.txt")
    printed = reader.follow("docs/text.md")
    assert "perplexity" in printed, printed


def beside_a_cluster(page):
    def follow(reader):
        reader.cluster.up()
        reader.follow(page)
    return follow


# What is done for each page, whose path is the name of the test.
PAGES = {
    "README.md": readme,
    "docs/cli.md": cli,
    "docs/dashboard.md": lambda reader: reader.follow("docs/dashboard.md"),
    "docs/dashboard-walkthrough.md": lambda reader: reader.follow("docs/dashboard-walkthrough.md"),
    "docs/local-cluster.md": beside_a_cluster("docs/local-cluster.md"),
    "docs/strategies.md": elastic,
    "docs/text.md": text,
    "docs/trainer.md": trainer,
    "docs/trainer-use.md": trainer_use,
}


class PagesTest(unittest.TestCase):
    """One test for each page, made below."""


def make_test(page, follow):
    def test(self):
        with Cluster() as cluster, Reader(cluster) as reader:
            follow(reader)
    return test


for _page, _follow in PAGES.items():
    setattr(PagesTest, "test_" + re.sub(r"\W", "_", _page), make_test(_page, _follow))

if __name__ == "__main__":
    unittest.main(verbosity=2)
