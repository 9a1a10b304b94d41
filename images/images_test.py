#!/usr/bin/python3
"""The images that are shipped: what is in them, who may do what there, and that they run.

They are built from the programs of this tree and unpacked once for all tests.
"""

import json
import os
import re
import shutil
import stat
import sys
import tempfile
import tomllib
import unittest

sys.dont_write_bytecode = True
from unpacked import USER, Archive, build, run_in

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
NAMES = ("operator", "trainer", "trainer-cuda")
PROGRAMS = {name: f"/usr/bin/taas-{name.removesuffix('-cuda')}" for name in NAMES}
# Programs that are not the entry point.
BESIDE = {"operator": ["/usr/bin/taas"], "trainer": [], "trainer-cuda": []}
# Without NVIDIA's libraries, for which small ones stand here.
SIZE_MAX = {"operator": 60_000_000, "trainer": 150_000_000, "trainer-cuda": 151_000_000}
LIBRARIES = [f"/usr/lib/x86_64-linux-gnu/{name}"
             for name in ("libcublasLt.so.13", "libcudnn.so.9",
                          "libcudnn_engines_precompiled.so.9",
                          "libcudnn_engines_runtime_compiled.so.9",
                          "libcudnn_engines_tensor_ir.so.9", "libcudnn_graph.so.9",
                          "libcudnn_heuristic.so.9", "libnccl.so.2")]
SHELLS = {"sh", "bash", "dash", "busybox", "ash", "zsh", "perl", "python3"}
CONFIG = {
    "model": {"name": "mlp", "hidden": [32]},
    "data": {"format": "generated",
             "generated": {"examples": 1000, "testExamples": 200, "features": 32, "classes": 5}},
    "batchSize": 50, "maxSteps": 200, "logSteps": 50,
}


def stage(folder):
    """A folder as `make images` finds the tree: the programs in bin/, the notices at the top."""
    os.makedirs(f"{folder}/bin")
    for name in ("operator", "trainer"):
        shutil.copy(f"{RUNFILES}/{name}/cmd/taas-{name}", f"{folder}/bin/")
    stage_libraries(f"{folder}/bin/cuda-libraries")
    shutil.copy(f"{RUNFILES}/cli/taas", f"{folder}/bin/")
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
        shutil.copy(f"{RUNFILES}/{name}", folder)
    return folder


def stage_libraries(folder):
    """What the recipe takes of NVIDIA's packages, by files that stand for them."""
    with open(f"{RUNFILES}/images/trainer-cuda.toml", "rb") as file:
        sources = tomllib.load(file)["files"].values()
    for source in sources:
        if not isinstance(source, str) or not source.startswith("bin/cuda-libraries/"):
            continue
        target = os.path.join(folder, source.removeprefix("bin/cuda-libraries/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        name = os.path.basename(target)
        # What cuDNN opens is in one library here.
        name = "libcudnn.so.9" if name.startswith("libcudnn") else name
        shutil.copy(f"{RUNFILES}/trainer/cuda/fake/{name}" if ".so." in name else
                    f"{RUNFILES}/LICENSE", target)


def version():
    with open(f"{RUNFILES}/VERSION", encoding="ascii") as file:
        return file.read().strip()


def build_image(name, folder, out, **environment):
    done = build(f"{RUNFILES}/images/{name}.toml", out, "--from", folder, "--tag", version(),
                 **environment)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return Archive(f"{out}/taas-{name}.tar")


class ImagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.tree = stage(f"{cls.dir}/tree")
        cls.images = {name: build_image(name, cls.tree, f"{cls.dir}/out") for name in NAMES}
        cls.roots = {}
        for name, image in cls.images.items():
            cls.roots[name] = f"{cls.dir}/{name}-root"
            image.unpack(cls.roots[name])

    def run_image(self, name, *args, **options):
        return run_in(self.roots[name], PROGRAMS[name], *args, **options)

    def test_they_are_built_twice_with_the_same_digest(self):
        umask = os.umask(0o077)
        try:
            tree = stage(f"{self.dir}/other/place")
            for name in NAMES:
                again = build_image(name, tree, f"{self.dir}/other/out", TZ="Asia/Shanghai",
                                    LANG="de_DE.UTF-8", HOME=self.dir)
                self.assertEqual(again.digest, self.images[name].digest)
                with open(again.path, "rb") as one, open(self.images[name].path, "rb") as two:
                    self.assertEqual(one.read(), two.read())
        finally:
            os.umask(umask)

    def test_no_program_holds_the_path_that_it_was_compiled_below(self):
        """Else another clone, or another user's, would give another digest."""
        for path in (f"{RUNFILES}/operator/cmd/taas-operator", f"{RUNFILES}/cli/taas",
                     f"{RUNFILES}/trainer/cmd/taas-trainer"):
            outputs, found, _ = os.path.realpath(path).partition("/execroot/")
            self.assertTrue(found, path)
            with open(path, "rb") as file:
                self.assertNotIn(outputs.encode(), file.read(), path)

    def test_they_are_small(self):
        for name, image in self.images.items():
            self.assertLessEqual(os.path.getsize(image.path), SIZE_MAX[name], name)

    def test_they_run_as_nobody_special_and_hold_no_shell(self):
        for name, image in self.images.items():
            with self.subTest(name):
                self.assertEqual(image.config["config"]["User"], f"{USER}:{USER}")
                self.assertEqual(image.config["config"]["Entrypoint"], [PROGRAMS[name]])
                self.assertEqual({os.path.basename(path) for path in image.entries()} & SHELLS,
                                 set())
                programs = [path for path in image.entries()
                            if re.fullmatch("(/usr)?/s?bin/.*", path)]
                self.assertEqual(sorted(programs), sorted([PROGRAMS[name], *BESIDE[name]]))

    def test_nobody_but_root_may_change_anything_in_them(self):
        own = {"operator": set(), "trainer": {"/data", "/out"}, "trainer-cuda": {"/data", "/out"}}
        for name, image in self.images.items():
            for path, info in image.entries().items():
                with self.subTest(image=name, path=path):
                    owner = USER if path in own[name] else 0
                    self.assertEqual((info.uid, info.gid), (owner, owner))
                    self.assertEqual(info.mode & (stat.S_ISUID | stat.S_ISGID), 0)
                    if not info.issym():
                        self.assertEqual(info.mode & (stat.S_IWGRP | stat.S_IWOTH), 0)

    def test_they_bring_the_licences_of_all_that_is_in_them(self):
        for name, image in self.images.items():
            entries = image.entries()
            packages = [path.rpartition("/")[2] for path in entries
                        if path.startswith("/var/lib/dpkg/status.d/")]
            with self.subTest(name):
                self.assertTrue({"libc6", "libstdc++6", "libboost1.74-dev", "libcli11-dev",
                                 "nlohmann-json3-dev"} <= set(packages), packages)
                self.assertEqual([package for package in packages
                                  if f"/usr/share/doc/{package}/copyright" not in entries], [])
                if name == "operator":
                    # Parts of the programs, which need no library of theirs beside them.
                    self.assertTrue({"libabsl-dev", "libyaml-cpp-dev"} <= set(packages), packages)
                    self.assertEqual([package for package in packages if package.startswith(
                        ("libabsl2", "libyaml-cpp0"))], [])
                with open(f"{RUNFILES}/LICENSE", "rb") as file:
                    self.assertEqual(image.read("/usr/share/doc/taas/LICENSE"), file.read())
                self.assertIn(b"cpprestsdk",
                              image.read("/usr/share/doc/taas/THIRD_PARTY_NOTICES.md"))

    def test_the_programs_start_in_them_without_a_place_to_write(self):
        for name in NAMES:
            with self.subTest(name):
                # A locale that is not there is no reason to fail.
                done = self.run_image(name, "--help", env={"LANG": "de_DE.UTF-8"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("Usage", done.stdout)

    def test_the_one_for_gpus_is_the_trainers_and_nvidias_libraries(self):
        there, plain = (set(self.images[name].entries()) for name in ("trainer-cuda", "trainer"))
        self.assertEqual(plain - there, set())
        notices = [f"/usr/share/doc/{package}" for package in ("nvidia-cublas", "nvidia-cudnn-cu13",
                                                             "nvidia-nccl-cu13")]
        self.assertEqual(there - plain, {*LIBRARIES, *notices,
                                         *(f"{notice}/copyright" for notice in notices)})
        for name, told in (("trainer-cuda", True), ("trainer", False)):
            for variable in ("NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                             "NVIDIA_VISIBLE_DEVICES=all"):
                self.assertEqual(variable in self.images[name].config["config"]["Env"], told)

    def test_the_trainer_finds_nvidias_libraries_in_the_one_for_gpus(self):
        for name, there in (("trainer-cuda", True), ("trainer", False)):
            done = self.run_image(name, "devices")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no NVIDIA driver here", done.stdout)
            for library in ("cuBLASLt", "NCCL"):
                self.assertEqual(bool(re.search(library + r" +\d+\.\d+\.\d+ +/", done.stdout)),
                                 there, done.stdout)

    def test_the_operator_says_why_it_cannot_start(self):
        done = self.run_image("operator")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Ataas-operator: .*kube")

    def test_a_model_is_trained_where_nothing_can_be_written(self):
        done = self.run_image("trainer", env={"TAAS_TRAINER": json.dumps(CONFIG)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"accuracy = 0\.[5-9]|accuracy = 1")

    def test_checkpoints_and_summaries_go_to_a_volume(self):
        volume = f"{self.dir}/volume"
        os.mkdir(volume)
        config = {**CONFIG, "checkpoint": {"dir": "/out/checkpoints"},
                  "summaries": {"dir": "/out/summaries", "everySteps": 50}}
        done = self.run_image("trainer", binds=[(volume, "/out")],
                              env={"TAAS_TRAINER": json.dumps(config),
                                   "TAAS_TERMINATION_LOG": "/out/end"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"model.ckpt-{CONFIG['maxSteps']}.index",
                      os.listdir(f"{volume}/checkpoints"))
        self.assertTrue(any("tfevents" in name for name in os.listdir(f"{volume}/summaries")))
        with open(f"{volume}/end", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["step"], CONFIG["maxSteps"])

    def test_a_checkpoint_that_cannot_be_written_is_a_sentence(self):
        config = {**CONFIG, "checkpoint": {"dir": "/out/checkpoints"}}
        # A disk may be mounted anew, so it is tried up to the deadline for starts.
        done = self.run_image("trainer", "--start_deadline_secs=1",
                              env={"TAAS_TRAINER": json.dumps(config)})
        self.assertEqual(done.returncode, 138, done.stderr)
        self.assertRegex(done.stdout + done.stderr, "/out/checkpoints.*Read-only file system")

    def test_one_version_is_said_everywhere(self):
        want = version()
        for name, image in self.images.items():
            self.assertEqual(image.index["manifests"][0]["annotations"]
                             ["io.containerd.image.name"], f"docker.io/taas/{name}:{want}")
        self.assertEqual(self.run_image("operator", "--version").stdout,
                         f"taas-operator {want}\n")
        # The image of jobs that name none is the one that is built here.
        self.assertIn(f"taas/trainer:{want}", self.run_image("operator", "--help").stdout)
        taas = run_in(self.roots["operator"], "/usr/bin/taas", "version")
        self.assertEqual(taas.stdout, f"taas {want}\n", taas.stderr)
        for example in os.listdir(f"{RUNFILES}/examples"):
            with open(f"{RUNFILES}/examples/{example}", encoding="utf-8") as file:
                self.assertEqual(set(re.findall("taas/trainer:(.*)", file.read())) - {want}, set())


if __name__ == "__main__":
    unittest.main()
