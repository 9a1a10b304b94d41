#!/usr/bin/python3
"""Recipes: each field as it arrives in the image, and a sentence for each mistake."""

import contextlib
import io
import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from build import main
from unpacked import Archive, build

RECIPE = """
name = "team/mine"
tag = "1.2"
user = {name = "me", id = 1000}
entrypoint = ["/usr/bin/prog", "--serve"]
files = {"/usr/bin/prog" = {source = "prog", mode = "0755"}}
"""


class RecipeTest(unittest.TestCase):

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.out = os.path.join(self.dir, "out")
        self.write("prog", "#!/prog\n")

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def build(self, text, *flags, **environment):
        """(exit code, standard output, standard error) of build.py, run within this process."""
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            code = main([self.write("mine.toml", text), "--out", self.out, *flags])
        return code, out.getvalue(), err.getvalue()

    def image(self, text, *flags, name="team-mine"):
        code, _, err = self.build(text, *flags)
        self.assertEqual((code, err), (0, ""))
        return Archive(os.path.join(self.out, name + ".tar"))

    def test_the_configuration_says_what_the_recipe_says(self):
        image = self.image(RECIPE + """
            command = ["--port", "80"]
            workdir = "/work"
            env = {MODE = "fast", A = "b=c"}
            ports = [80, 443]
            labels = {"org.example.team" = "us"}
            directories = {"/work" = {owner = 1000, mode = "0700"}, "/tmp" = {mode = "1777"}}
            links = {"/usr/bin/other" = "prog"}""")
        config = image.config["config"]
        self.assertEqual(config, {
            "User": "1000:1000", "Entrypoint": ["/usr/bin/prog", "--serve"],
            "Cmd": ["--port", "80"], "WorkingDir": "/work",
            "Env": ["A=b=c", "MODE=fast",
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "ExposedPorts": {"80/tcp": {}, "443/tcp": {}},
            "Labels": {"org.example.team": "us", "org.opencontainers.image.version": "1.2"}})
        self.assertEqual((image.config["architecture"], image.config["os"]), ("amd64", "linux"))
        entries = image.entries()
        self.assertEqual((entries["/work"].uid, entries["/work"].gid, entries["/work"].mode),
                         (1000, 1000, 0o700))
        self.assertEqual((entries["/tmp"].uid, entries["/tmp"].mode), (0, 0o1777))
        self.assertEqual(entries["/usr/bin/other"].linkname, "prog")
        self.assertTrue({"/dev", "/proc", "/run", "/sys"} <= set(entries))
        self.assertEqual(image.read("/etc/passwd").decode().splitlines(),
                         ["root:x:0:0:root:/:/sbin/nologin", "me:x:1000:1000:me:/:/sbin/nologin"])
        self.assertEqual(image.read("/etc/group"), b"root:x:0:\nme:x:1000:\n")
        # A pod's own names stand in /etc/hosts; a DNS server that knows them not must not win.
        self.assertIn(b"hosts: files dns\n", image.read("/etc/nsswitch.conf"))

    def test_what_is_built_is_printed_with_name_digest_size_and_archive(self):
        # As a program, once.
        done = build(self.write("mine.toml", RECIPE), self.out)
        image = Archive(f"{self.out}/team-mine.tar")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"team/mine:1.2  {image.digest}  0.0 MB  "
                         f"{self.out}/team-mine.tar\n")

    def test_names_get_their_registry(self):
        short = RECIPE.replace("team/mine", "mine")
        for name, flags, want in (
                ("team/mine", (), "docker.io/team/mine:1.2"),
                ("mine", (), "docker.io/library/mine:1.2"),
                ("localhost/mine", (), "localhost/mine:1.2"),
                ("quay.io/mine", (), "quay.io/mine:1.2"),
                ("mine", ("--registry", "ghcr.io/acme"), "ghcr.io/acme/mine:1.2"),
                ("mine", ("--registry", "localhost:5000"), "localhost:5000/mine:1.2"),
                ("mine", ("--tag", "2"), "docker.io/library/mine:2")):
            with self.subTest(name=name, flags=flags):
                image = self.image(short.replace('"mine"', f'"{name}"'), *flags,
                                   name=name.replace("/", "-"))
                self.assertEqual(image.index["manifests"][0]["annotations"]
                                 ["io.containerd.image.name"], want)

    def test_paths_begin_at_the_recipe_or_where_the_caller_says(self):
        self.write("elsewhere/prog", "#!/other\n")
        self.assertEqual(self.image(RECIPE).read("/usr/bin/prog"), b"#!/prog\n")
        self.assertEqual(self.image(RECIPE, "--from", f"{self.dir}/elsewhere")
                         .read("/usr/bin/prog"), b"#!/other\n")

    def test_folders_that_debian_has_merged_are_links_into_usr(self):
        self.write("tree/other", "")
        image = self.image(RECIPE.replace("/usr/bin/prog", "/bin/prog") +
                           'trees = {"/sbin/more" = "tree"}')
        entries = image.entries()
        self.assertEqual((entries["/bin"].linkname, entries["/sbin"].linkname),
                         ("usr/bin", "usr/sbin"))
        self.assertTrue({"/usr/bin/prog", "/usr/sbin/more/other"} <= set(entries))
        self.assertNotIn("/lib", entries)

    def test_a_tree_that_brings_such_a_folder_keeps_it(self):
        self.write("tree/bin/prog", "#!/bin/other\n")
        image = self.image(RECIPE + 'trees = {"/" = "tree"}')
        self.assertTrue(image.entries()["/bin"].isdir())
        self.assertEqual(image.read("/bin/prog"), b"#!/bin/other\n")
        self.assertEqual(image.read("/usr/bin/prog"), b"#!/prog\n")

    def expect_refused(self, text, sentence, *flags, **environment):
        code, _, err = self.build(text, *flags, **environment)
        self.assertEqual(code, 2, err)
        self.assertRegex(err, r"\Aimages: [^\n]*\n\Z")
        self.assertIn(sentence, err)
        self.assertFalse(os.path.exists(self.out) and os.listdir(self.out))

    def test_a_mistake_in_a_field_is_a_sentence_that_names_it(self):
        cases = {
            "entrypont = []": "there is no field `entrypont`; there are name, tag, user",
            'ports = "80"': "`ports` must be a list",
            "ports = [0]": "`ports` must be numbers from 1 to 65535, not 0",
            "ports = [true]": "not True",
            "command = [1]": "`command` must be a list of texts",
            "env = {A = 1}": "`env.A` must be a text",
            'workdir = "work"': "`workdir`: 'work' is no path inside the image",
            'links = {"/a/../b" = "c"}': "`links`: '/a/../b' is no path inside the image",
            'trees = {"usr" = "."}': "`trees`: 'usr' is no path inside the image",
            'directories = {"/a" = {mode = "0o755"}}': "`directories./a.mode` must be a text",
            'directories = {"/a" = {mode = 493}}': "`directories./a.mode` must be a text",
            'directories = {"/a" = {owner = -1}}': "`directories./a.owner` must be the number",
            'directories = {"/a" = {uid = 1}}': "`directories./a` must be a table with `owner`",
            'directories = {"/a" = 5}': "`directories./a` must be a table with `owner`",
            'libraries = ["/usr/bin/none"]': "nothing in the image is there",
            'libraries = ["/usr/bin/prog"]': "it is no program or library for x86-64",
            'links = {"/usr/bin/prog" = "c"}': "prog is there",
            'links = {"/usr/bin/prog/x" = "c"}': "/usr/bin/prog is the file",
            'links = {"/l" = "/none", "/l/x" = "c"}': "the link /l to /none leads nowhere",
            'trees = {"/a" = "no-such-folder"}': "no-such-folder at /a of the image: No such file",
            'trees = {"/a" = "../.."}': "'../..' is outside of",
            "=": "mine.toml: Invalid statement",
        }
        for line, sentence in cases.items():
            with self.subTest(line):
                self.expect_refused(RECIPE + line, sentence)

    def test_a_mistake_in_what_every_recipe_has_is_one_too(self):
        cases = [
            ('"team/mine"', '"Team/mine"', "`name` 'Team/mine' is no name of an image"),
            ('"team/mine"', '"team//mine"', "`name` 'team//mine' is no name of an image"),
            ('tag = "1.2"', "", "`tag` '' is no tag of an image; give one here or with --tag"),
            ('"1.2"', '"latest"', "`tag` must not be `latest`"),
            ("{name = \"me\", id = 1000}", "{name = \"me\"}", "`user` must have `name` and `id`"),
            ('"me"', '"a:b"', "`user.name` 'a:b' is no name of a user"),
            ("1000", '"1000"', "`user.id` must be a number from 0"),
            ("1000", "0", "`user.id` 0 is `root`, and nobody else"),
            ('["/usr/bin/prog", "--serve"]', "[]", "`entrypoint` must name the program"),
            ('["/usr/bin/prog"', '["prog"', "`entrypoint` 'prog' is no program in the image"),
            ('["/usr/bin/prog"', '["/etc/passwd"', "'/etc/passwd' is no program in the image"),
            ('"0755"', '"4755"', "`files./usr/bin/prog.mode` 4755 gives a program rights"),
            ('source = "prog"', 'path = "prog"', "`files./usr/bin/prog` must be a path on this"),
            ('source = "prog"', 'source = "none"', "none at /usr/bin/prog of the image: No such"),
            ('source = "prog"', 'source = "."', "it is no file; a folder goes into [trees]"),
            ('source = "prog"', 'source = "../prog"', "'../prog' is outside of"),
        ]
        for old, new, sentence in cases:
            with self.subTest(new):
                self.assertIn(old, RECIPE)
                self.expect_refused(RECIPE.replace(old, new, 1), sentence)

    def test_a_mistake_on_the_command_line_is_one_too(self):
        self.expect_refused(RECIPE, "SOURCE_DATE_EPOCH is '-1'; it must be a whole number",
                            SOURCE_DATE_EPOCH="-1")
        self.expect_refused(RECIPE, "SOURCE_DATE_EPOCH is '4294967296'",
                            SOURCE_DATE_EPOCH="4294967296")
        self.expect_refused(RECIPE, "--registry 'https://ghcr.io' is no registry",
                            "--registry", "https://ghcr.io")
        self.expect_refused(RECIPE, "`tag` 'a b' is no tag", "--tag", "a b")
        done = build(f"{self.dir}/none.toml", self.out)
        self.assertEqual((done.returncode, done.stderr), (
            2, f"images: read recipe {self.dir}/none.toml: No such file or directory\n"))

    def test_a_machine_that_cannot_write_is_another_exit_code(self):
        self.write("file", "")
        done = build(self.write("mine.toml", RECIPE), os.path.join(self.dir, "file", "out"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("Not a directory", done.stderr)


if __name__ == "__main__":
    unittest.main()
