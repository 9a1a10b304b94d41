#!/usr/bin/python3
"""The archive: what its readers need, the same bytes each time, trees of other people's files."""

import os
import py_compile
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
from image_error import ImageError
from oci import Image, Layout, write_archive
from root import Root
from unpacked import BUILD, LIMIT_S, Archive

IMAGE = Image("docker.io/me/tree", "1", {"User": "7:7"})
# The limit that is promised for trees of any size.
MEMORY_MAX_KB = 100_000


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


class OciTest(unittest.TestCase):

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.tree = os.path.join(self.dir, "tree")
        os.mkdir(self.tree)

    def archive(self, name="image.tar", tree=None, moment=0):
        root = Root()
        root.add_tree("/opt/app", tree or self.tree)
        path = os.path.join(self.dir, name)
        written = write_archive(path, IMAGE, root, moment)
        self.assertEqual(written.size, os.path.getsize(path))
        image = Archive(path)
        self.assertEqual(written.digest, image.digest)
        return image

    def test_every_blob_is_named_and_counted_as_its_bytes_are(self):
        write(f"{self.tree}/a", b"x" * 1000)
        image = self.archive()
        self.assertEqual(image.broken_blobs(), [])
        self.assertEqual(image.layout, {"imageLayoutVersion": "1.0.0"})
        for descriptor in (image.index["manifests"][0], image.manifest["config"],
                           *image.manifest["layers"]):
            self.assertEqual(descriptor["size"], len(image.blobs[descriptor["digest"]]))
        self.assertEqual(len(image.blobs), 3)
        # The layer is not compressed, so that its digest is that of what is unpacked.
        self.assertEqual(image.config["rootfs"]["diff_ids"],
                         [image.manifest["layers"][0]["digest"]])

    def test_the_tar_is_whole_for_programs_that_are_strict(self):
        write(f"{self.tree}/a", b"x" * 1001)
        self.archive()
        done = subprocess.run(["/usr/bin/tar", "--warning=all", "-tf", f"{self.dir}/image.tar"],
                              text=True, check=True, timeout=LIMIT_S, capture_output=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(len(done.stdout.splitlines()), 6)

    def test_containerd_and_docker_are_told_the_same_image_and_name(self):
        image = self.archive()
        self.assertEqual(image.index["manifests"][0]["annotations"], {
            "io.containerd.image.name": "docker.io/me/tree:1",
            "org.opencontainers.image.ref.name": "1"})
        [docker] = image.docker
        self.assertEqual(docker["RepoTags"], ["me/tree:1"])
        self.assertEqual(docker["Config"],
                         "blobs/sha256/" + image.manifest["config"]["digest"].split(":")[1])
        self.assertEqual(docker["Layers"],
                         ["blobs/sha256/" + image.manifest["layers"][0]["digest"].split(":")[1]])
        self.assertTrue(set(docker["Layers"]) | {docker["Config"]} <= set(image.names))

    def test_links_programs_long_names_and_empty_folders_of_a_tree_stay(self):
        name = "long-" * 30
        write(f"{self.tree}/bin/run", b"#!/bin/run", 0o700)
        write(f"{self.tree}/{name}/{name}/ünïcode", b"text", 0o600)
        os.mkdir(f"{self.tree}/empty")
        os.symlink("../bin/run", f"{self.tree}/empty/../go")
        os.symlink("/nowhere/" + name, f"{self.tree}/away")
        entries = self.archive().entries()
        self.assertEqual(entries["/opt/app/bin/run"].mode, 0o755)
        self.assertEqual(entries[f"/opt/app/{name}/{name}/ünïcode"].mode, 0o644)
        self.assertTrue(entries["/opt/app/empty"].isdir())
        self.assertEqual(entries["/opt/app/go"].linkname, "../bin/run")
        self.assertEqual(entries["/opt/app/away"].linkname, "/nowhere/" + name)
        self.assertEqual({(info.uid, info.gid, info.uname, info.gname)
                          for info in entries.values()}, {(0, 0, "", "")})

    def test_whoever_builds_when_and_where_makes_the_same_bytes(self):
        names = ["b/1", "a/2", "c", "a-b/3"]
        for name in names:
            write(f"{self.tree}/{name}", name.encode(), 0o644)
        other = os.path.join(self.dir, "elsewhere", "tree")
        umask = os.umask(0o077)
        try:
            for name in reversed(names):
                write(f"{other}/{name}", name.encode(), 0o600)
                os.utime(f"{other}/{name}", (10**9, 10**9))
        finally:
            os.umask(umask)
        self.archive("one.tar")
        self.archive("two.tar", tree=other)
        with open(f"{self.dir}/one.tar", "rb") as one, open(f"{self.dir}/two.tar", "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_the_moment_is_that_of_all_files_and_of_the_image(self):
        write(f"{self.tree}/a", b"")
        image = self.archive(moment=1_700_000_000)
        self.assertEqual({info.mtime for info in image.entries().values()}, {1_700_000_000})
        self.assertEqual(image.config["created"], "2023-11-14T22:13:20Z")
        self.assertEqual(self.archive().config["created"], "1970-01-01T00:00:00Z")

    def test_python_loads_the_compiled_modules_of_a_tree_and_no_stale_ones(self):
        for name in ("fresh", "stale"):
            write(f"{self.tree}/{name}.py", b"VALUE = 1\n")
            py_compile.compile(f"{self.tree}/{name}.py", doraise=True,
                               invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
        # Compiled before it was edited; the size is the same.
        write(f"{self.tree}/stale.py", b"VALUE = 2\n")
        os.utime(f"{self.tree}/stale.py", (10**9, 10**9))
        root = os.path.join(self.dir, "root")
        self.archive(moment=1_600_000_000).unpack(root)
        self.assertEqual(os.path.getmtime(f"{root}/opt/app/fresh.py"), 1_600_000_000)
        done = subprocess.run(
            [sys.executable, "-B", "-v", "-c", "import fresh, stale; print(fresh.VALUE, "
             "stale.VALUE)"], cwd=f"{root}/opt/app", env={"PYTHONPATH": "."}, text=True, check=True,
            timeout=LIMIT_S, capture_output=True)
        self.assertEqual(done.stdout, "1 2\n")
        matches = [line for line in done.stderr.splitlines() if " matches " in line]
        self.assertTrue(any("fresh" in line for line in matches), done.stderr)
        self.assertFalse(any("stale" in line for line in matches), done.stderr)

    def test_a_file_that_is_written_to_meanwhile_ends_the_build_and_leaves_the_old_archive(self):
        before = self.archive().digest
        for data in (b"", b"longer than it was"):
            with self.subTest(size=len(data)):
                write(f"{self.tree}/log", b"12345")
                root = Root()
                root.add_tree("/opt/app", self.tree)
                write(f"{self.tree}/log", data)
                with self.assertRaisesRegex(ImageError, "tree/log: it is written to meanwhile"):
                    write_archive(f"{self.dir}/image.tar", IMAGE, root, 0)
                self.assertEqual(Archive(f"{self.dir}/image.tar").digest, before)
                self.assertEqual([name for name in os.listdir(self.dir) if "new" in name], [])

    def test_what_is_neither_file_folder_nor_link_is_refused(self):
        os.mkfifo(f"{self.tree}/pipe")
        with self.assertRaisesRegex(ImageError, "tree/pipe at /opt/app/pipe .* neither file"):
            self.archive()

    def test_a_name_that_is_not_utf8_is_refused(self):
        write(os.fsencode(self.tree).decode() + "/\udcff", b"")
        with self.assertRaisesRegex(ImageError, "not UTF-8"):
            self.archive()
        os.remove(self.tree + "/\udcff")
        os.symlink("/\udcff", f"{self.tree}/link")
        with self.assertRaisesRegex(ImageError, "link /opt/app/link .* not UTF-8"):
            self.archive()

    def test_a_layer_of_more_than_8_gib_has_a_header_of_one_block_too(self):
        # Its place is kept before its size is known.
        header = Layout(None, 0).header("blobs/sha256/" + "0" * 64, 9 << 30)
        self.assertEqual(len(header), tarfile.BLOCKSIZE)
        self.assertEqual(tarfile.TarInfo.frombuf(header, "utf-8", "strict").size, 9 << 30)

    def test_a_large_tree_takes_little_memory(self):
        for folder in range(100):
            os.makedirs(f"{self.tree}/site-packages/package-{folder:03}/with/some/depth")
            for name in range(200):
                os.mknod(f"{self.tree}/site-packages/package-{folder:03}/with/some/depth/{name}")
        write(f"{self.tree}/prog", b"#!/prog", 0o755)
        with open(f"{self.tree}/large", "wb") as file:
            file.truncate(3 * MEMORY_MAX_KB * 1000)
        with open(f"{self.dir}/large.toml", "w", encoding="utf-8") as file:
            file.write('name = "large"\ntag = "1"\nuser = {name = "me", id = 7}\n'
                       'entrypoint = ["/opt/prog"]\ntrees = {"/opt" = "tree"}\n')
        child = subprocess.Popen([sys.executable, "-B", BUILD, f"{self.dir}/large.toml", "--out",
                                  self.dir], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertGreater(os.path.getsize(f"{self.dir}/large.tar"), 3 * MEMORY_MAX_KB * 1000)
        self.assertLess(usage.ru_maxrss, MEMORY_MAX_KB)


if __name__ == "__main__":
    unittest.main()
