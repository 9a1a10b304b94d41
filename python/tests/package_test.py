"""What users get: a package that installs, has types, and is of this release."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = os.environ["TAAS_TREE"]
# A use that has to be fine, and lines that each have to be refused.
GOOD = """
import taas
client = taas.Client(namespace="team-a")
job = client.submit(taas.TrainingJob(name="t", model="mlp", optimizer={"name": "adam"}, workers=2))
loss: list[taas.Point] = job.series()["loss"]
message: str = job.wait(lambda seen: seen.ended, timeout=3.5).message
for replica, time, text in job.logs(follow=True):
    print(replica, time.hour, text.strip())
"""
BAD = ("taas.TrainingJob(name='t', wrokers=2)",
       "taas.TrainingJob(name='t', optimizer={'learning_rate': 0.1})",
       "taas.TFJob(name='t', restart_policy='Sometimes')",
       "job.status().stat", "job.wait(timeout='3 min')", "job.status().state = ''")
# Both start a compiler or an installer of Python.
LIMIT_S = 300


class PackageTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        # Builds and caches are written beside the sources, which are not ours to change.
        self.package = os.path.join(self.folder, "python")
        os.mkdir(self.package)
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(os.path.join(TREE, "python", name), self.package)
        shutil.copytree(os.path.join(TREE, "python", "taas"), os.path.join(self.package, "taas"),
                        ignore=shutil.ignore_patterns("__pycache__"))

    def run_module(self, *arguments, cwd, **environment):
        return subprocess.run(
            [sys.executable, "-m", *arguments], cwd=cwd, check=False, text=True, timeout=LIMIT_S,
            env={"PATH": "/usr/bin:/bin", "HOME": self.folder, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def mypy(self, *arguments, cwd):
        return self.run_module("mypy", "--no-incremental", *arguments, cwd=cwd)

    def test_its_types_are_strictly_right(self):
        done = self.mypy(cwd=self.package)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_it_installs_with_its_types_and_a_user_s_mistakes_are_found(self):
        site = os.path.join(self.folder, "site")
        done = self.run_module("pip", "install", "--no-index", "--no-deps", "--no-build-isolation",
                               "--disable-pip-version-check", "--target", site, self.package,
                               cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(os.path.join(TREE, "VERSION"), encoding="utf-8") as file:
            version = file.read().strip()
        said = self.run_module("taas_version", cwd=self.write("taas_version.py", (
            "import importlib.metadata, taas\n"
            "print(taas.__version__, importlib.metadata.version('taas'), taas.__file__)\n")),
            PYTHONPATH=site).stdout.split()
        self.assertEqual(said[:2], [version, version])
        self.assertTrue(said[2].startswith(site), said)
        self.assertTrue(os.path.exists(os.path.join(site, "taas", "py.typed")))
        self.check_types(site)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.folder

    def check_types(self, site):
        lines = len(GOOD.splitlines())
        self.write("use.py", GOOD + "\n".join(BAD) + "\n")
        done = self.run_module("mypy", "--strict", "--no-incremental", "use.py", cwd=self.folder,
                               MYPYPATH=site)
        found = {int(line.split(":")[1]) for line in done.stdout.splitlines()
                 if line.startswith("use.py:") and ": error:" in line}
        self.assertEqual(found, {lines + 1 + i for i in range(len(BAD))}, done.stdout)


if __name__ == "__main__":
    unittest.main()
