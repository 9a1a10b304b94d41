#!/usr/bin/python3
"""Which libraries get into an image, judged by the loader that starts the program there.

The programs are compiled here and run in the unpacked image, which holds nothing else.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from elf import read_elf
from image_error import ImageError
from unpacked import LIMIT_S, Archive, build, run_in

PROG = "/opt/bin/prog"
HEAD = f'name = "prog"\ntag = "1"\nuser = {{name = "me", id = 1000}}\nentrypoint = ["{PROG}"]\n'
# The program that a test has compiled, and what it needs.
RECIPE = f'files = {{"{PROG}" = "prog"}}\nlibraries = ["{PROG}"]\n'


class LibrariesTest(unittest.TestCase):

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.dir)

    def compile(self, out, source, *flags):
        path = os.path.join(self.dir, out)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["/usr/bin/gcc", "-x", "c", "-", "-o", path, "-L", f"{self.dir}/lib",
                        *flags], input=source, text=True, check=True, timeout=LIMIT_S)

    def compile_chain(self, flag, inner_flags=()):
        """prog needs libouter, and that libinner; `flag` says how prog names their folder."""
        self.compile("lib/libinner.so", "int inner(void) { return 42; }", "-shared", "-fPIC")
        self.compile("lib/libouter.so", "int inner(void); int outer(void) { return inner(); }",
                     "-shared", "-fPIC", "-linner", *inner_flags)
        self.compile("prog", "int outer(void); int main(void) { return outer() != 42; }",
                     "-louter", f"-Wl,-rpath-link,{self.dir}/lib", "-Wl,-rpath,$ORIGIN/../lib",
                     flag)

    def build(self, recipe):
        path = os.path.join(self.dir, "prog.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + recipe)
        return build(path, os.path.join(self.dir, "out"))

    def root(self, recipe):
        done = self.build(recipe)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        root = os.path.join(self.dir, "root")
        shutil.rmtree(root, ignore_errors=True)
        Archive(f"{self.dir}/out/prog.tar").unpack(root)
        return root

    def expect_runs(self, root, program=PROG, out=""):
        done = run_in(root, program)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", out))

    def test_libraries_of_the_system_come_with_the_loader_and_their_links(self):
        self.compile("prog", "#include <math.h>\n#include <stdio.h>\nint main(int c, char** v) {"
                     'printf("%.3f\\n", sin(c)); return 0; }', "-lm")
        root = self.root(RECIPE)
        self.expect_runs(root, out="0.841\n")
        self.assertEqual(sorted(os.listdir(f"{root}/usr/lib/x86_64-linux-gnu")),
                         ["ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6"])
        self.assertEqual(os.readlink(f"{root}/lib64"), "usr/lib64")

    def test_their_packages_are_named_with_version_and_licences(self):
        self.compile("prog", "int main(void) { return 0; }")
        self.root(RECIPE)
        image = Archive(f"{self.dir}/out/prog.tar")
        version = subprocess.run(["/usr/bin/dpkg-query", "-W", "-f=${Version}", "libc6"],
                                 text=True, check=True, timeout=LIMIT_S, capture_output=True)
        status = image.read("/var/lib/dpkg/status.d/libc6").decode().splitlines()
        self.assertIn(f"Version: {version.stdout}", status)
        self.assertIn("Source: glibc", status)
        self.assertEqual([path for path in image.entries() if path.startswith("/var/lib/dpkg/st")],
                         ["/var/lib/dpkg/status.d", "/var/lib/dpkg/status.d/base-files",
                          "/var/lib/dpkg/status.d/libc6"])
        with open("/usr/share/doc/libc6/copyright", "rb") as file:
            self.assertEqual(image.read("/usr/share/doc/libc6/copyright"), file.read())
        self.assertIn(b"LESSER GENERAL", image.read("/usr/share/common-licenses/LGPL-2.1"))
        self.assertIn(b"Debian", image.read("/usr/lib/os-release"))

    def test_a_static_program_brings_nothing_of_the_system(self):
        self.compile("prog", "int main(void) { return 0; }", "-static")
        root = self.root(RECIPE)
        self.expect_runs(root)
        self.assertEqual(sorted(os.listdir(root)), ["dev", "etc", "opt", "proc", "run", "sys"])

    def test_libraries_beside_a_program_are_found_in_the_image(self):
        self.compile_chain("-Wl,--enable-new-dtags", ("-Wl,-rpath,$ORIGIN",))
        self.expect_runs(self.root(RECIPE + 'trees = {"/opt/lib" = "lib"}'))

    def test_the_folders_of_a_program_count_for_its_libraries_only_where_the_loader_says(self):
        recipe = RECIPE + 'trees = {"/opt/lib" = "lib"}\n'
        self.compile_chain("-Wl,--disable-new-dtags")
        self.expect_runs(self.root(recipe))
        self.compile_chain("-Wl,--enable-new-dtags")
        done = self.build(recipe)
        self.assertEqual(done.returncode, 2)
        self.assertIn("find the libraries of /opt/lib/libouter.so: there is no libinner.so in "
                      "/lib/x86_64-linux-gnu", done.stderr)
        # The loader says the same.
        root = self.root(recipe + 'provided = ["libinner.so"]')
        done = run_in(root, PROG)
        self.assertEqual(done.returncode, 127)
        self.assertIn("libinner.so: cannot open shared object file", done.stderr)

    def test_a_library_that_is_nowhere_fails_the_build_with_its_name(self):
        self.compile_chain("-Wl,--enable-new-dtags")
        done = self.build(RECIPE)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aimages: find the libraries of /opt/bin/prog: there is no "
                         r"libouter\.so in /opt/bin/../lib, /lib/x86_64-linux-gnu, .*; install ")
        self.assertFalse(os.path.exists(f"{self.dir}/out"))
        self.assertEqual(self.build(RECIPE + 'provided = ["libouter.so"]').returncode, 0)

    def test_a_library_of_a_folder_that_others_load_is_judged_with_them(self):
        # As wheels of Python are put together: libouter finds libinner only because the module that
        # names both has loaded it before.
        self.compile_chain("-Wl,--enable-new-dtags")
        self.compile("lib/module.so", "int outer(void); int inner(void);"
                     "int module(void) { return outer() + inner(); }", "-shared", "-fPIC",
                     "-linner", "-louter", "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
        self.compile("prog", """
            #include <dlfcn.h>
            int main(void) {
              void* module = dlopen("/opt/lib/module.so", RTLD_NOW);
              return !module || ((int (*)(void))dlsym(module, "module"))() != 84;
            }""")
        recipe = (RECIPE.replace(f'["{PROG}"]', f'["{PROG}", "/opt/lib"]') +
                  'trees = {"/opt/lib" = "lib"}\n')
        self.expect_runs(self.root(recipe))
        os.remove(f"{self.dir}/lib/module.so")
        done = self.build(recipe)
        self.assertEqual(done.returncode, 2)
        self.assertIn("find the libraries of /opt/lib/libouter.so: there is no libinner.so",
                      done.stderr)

    def test_all_programs_of_a_folder_are_looked_at_and_other_files_are_not(self):
        self.compile("tree/a/prog", "#include <math.h>\nint main(int c, char** v) {"
                     "return sin(c) > 1; }", "-lm")
        for name, data in (("script", b"#!/bin/sh\n"), ("empty", b""),
                           ("other-machine", b"\x7fELF\x01\x01\x01" + bytes(60))):
            with open(f"{self.dir}/tree/{name}", "wb") as file:
                file.write(data)
        root = self.root('trees = {"/opt/tree" = "tree"}\nlibraries = ["/opt/tree"]\n'
                         'files = {"/opt/bin/prog" = {source = "tree/script", mode = "0755"}}')
        self.expect_runs(root, "/opt/tree/a/prog")

    def test_names_of_hosts_are_found_without_further_files(self):
        self.compile("prog", """
            #include <arpa/inet.h>
            #include <netdb.h>
            #include <stdio.h>
            int main(void) {
              struct addrinfo hints = {.ai_family = AF_INET}, *all;
              const int bad = getaddrinfo("ps-0.test", NULL, &hints, &all);
              if (bad) return puts(gai_strerror(bad)), 1;
              return puts(inet_ntoa(((struct sockaddr_in*)all->ai_addr)->sin_addr)), 0;
            }""")
        with open(f"{self.dir}/hosts", "w", encoding="ascii") as file:
            file.write("10.1.2.3 ps-0.test\n")
        self.expect_runs(self.root(
            RECIPE.replace('"prog"}', '"prog", "/etc/hosts" = "hosts"}')), out="10.1.2.3\n")

    def test_the_recipe_of_the_guide_makes_a_python_that_runs(self):
        guide = os.path.join(os.environ["TEST_SRCDIR"], "taas", "docs", "images.md")
        with open(guide, encoding="utf-8") as file:
            [recipe] = re.findall("```toml\n(.*?)```", file.read(), re.DOTALL)
        os.mkdir(f"{self.dir}/site-packages")
        for name, text in (("image.toml", recipe), ("site-packages/own.py", "VALUE = 42\n"),
                           ("train.py", "import ctypes, sqlite3, ssl, own\nprint(own.VALUE)\n")):
            with open(f"{self.dir}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        done = build(f"{self.dir}/image.toml", f"{self.dir}/out")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        image = Archive(f"{self.dir}/out/team-between-graph.tar")
        image.unpack(f"{self.dir}/root")
        config = image.config["config"]
        done = run_in(f"{self.dir}/root", *config["Entrypoint"],
                      env=dict(pair.split("=", 1) for pair in config["Env"]))
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "42\n"))
        self.assertIn("/var/lib/dpkg/status.d/libpython3.11-stdlib", image.entries())

    def test_a_damaged_program_is_named(self):
        self.compile("prog", "int main(void) { return 0; }")
        with open(f"{self.dir}/prog", "rb") as file:
            data = file.read()
        for size in (16, 70, 1000):
            with self.subTest(size):
                with open(f"{self.dir}/cut", "wb") as file:
                    file.write(data[:size])
                with self.assertRaisesRegex(ImageError, "read ELF file .*/cut: cut short or dam"):
                    read_elf(f"{self.dir}/cut")


if __name__ == "__main__":
    unittest.main()
