#!/usr/bin/python3
"""The libraries of the image for GPUs: each pinned and with its reason, and the recipe has these
and no others. Nothing is fetched; images_test.py builds the image with files in their place.
"""

import os
import re
import tomllib
import unittest

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
FOLDER = "/usr/lib/x86_64-linux-gnu/"
# Where a package has its library, below bin/cuda-libraries/nvidia.
WITHIN = {"nvidia-cublas": "cu13", "nvidia-cudnn-cu13": "cudnn", "nvidia-nccl-cu13": "nccl"}
# A reason shorter than this is none.
REASON_BYTES_MIN = 20
LIBRARY = r"(?P<library>lib\w+\.so\.\d+)"
# What a library opens itself.
OPENED = re.compile(r"#   (lib\w+\.so\.\d+), (\d+) MB\n")
PINNED = re.compile(
    rf"# {LIBRARY}, (?P<size>\d+ MB): (?P<reason>.+)\n"
    rf"(?P<opened>(?:{OPENED.pattern})*)"
    r"(?P<package>[a-z0-9-]+)==(?P<version>[0-9.]+) \\\n"
    r"    --hash=sha256:[0-9a-f]{64}\n")


def read(*path):
    with open(os.path.join(RUNFILES, *path), encoding="utf-8") as file:
        return file.read()


def found(pattern):
    return [match.groupdict() for match in
            pattern.finditer(read("tools", "setup", "python", "cuda-libraries.txt"))]


def libraries(package):
    return [package["library"], *(name for name, _ in OPENED.findall(package["opened"]))]


def recipe(name):
    return tomllib.loads(read("images", name + ".toml"))


class CudaLibrariesTest(unittest.TestCase):

    maxDiff = None

    def test_each_is_pinned_by_version_and_digest_and_has_its_size_and_reason(self):
        text = read("tools", "setup", "python", "cuda-libraries.txt")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        # A package is two lines: what has another form is not among those found.
        self.assertEqual(len(lines), 2 * len(found(PINNED)), lines)
        self.assertEqual({"libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"},
                         {it["library"] for it in found(PINNED)})
        for it in found(PINNED):
            self.assertGreaterEqual(len(it["reason"]), REASON_BYTES_MIN, it)
            opened = sum(int(size) for _, size in OPENED.findall(it["opened"]))
            self.assertLessEqual(opened, int(it["size"].split()[0]), it)

    def test_the_recipe_has_these_and_no_others(self):
        files = recipe("trainer-cuda")["files"]
        taken = {path: source for path, source in files.items()
                 if path.startswith(FOLDER)}
        self.assertEqual(taken, {
            FOLDER + name: f"bin/cuda-libraries/nvidia/{WITHIN[it['package']]}/lib/{name}"
            for it in found(PINNED) for name in libraries(it)})
        # Opened by name, so that what they need themselves is not seen in the program.
        self.assertLessEqual(set(taken), set(recipe("trainer-cuda")["libraries"]))

    def test_each_brings_the_licence_of_the_version_that_is_pinned(self):
        files = recipe("trainer-cuda")["files"]
        for it in found(PINNED):
            info = f"{it['package'].replace('-', '_')}-{it['version']}.dist-info"
            self.assertEqual(files[f"/usr/share/doc/{it['package']}/copyright"],
                             f"bin/cuda-libraries/{info}/licenses/License.txt")

    def test_they_are_those_that_the_trainer_opens(self):
        named = [name for header in ("cublaslt.h", "cudnn.h", "nccl.h")
                 for name in re.findall(r'kLibrary\[\] = "(.*)"', read("trainer", "cuda", header))]
        self.assertEqual(set(named), {it["library"] for it in found(PINNED)})

    def test_but_for_them_the_image_is_the_trainers(self):
        cuda, plain = recipe("trainer-cuda"), recipe("trainer")
        for field in ("user", "entrypoint", "ports", "directories"):
            self.assertEqual(cuda[field], plain[field], field)
        self.assertEqual(cuda["files"], {**cuda["files"], **plain["files"]})
        self.assertEqual(cuda["libraries"][: len(plain["libraries"])], plain["libraries"])

    def test_the_page_tells_of_each(self):
        page = read("docs", "gpu.md")
        for it in found(PINNED):
            self.assertIn(f"| `{it['library']}` | {it['package']} {it['version']} | "
                          f"{it['size']} |", page)
            for name, size in OPENED.findall(it["opened"]):
                self.assertIn(f"`{name}` ({size} MB)", page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
