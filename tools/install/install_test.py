#!/usr/bin/python3
"""What `make install` puts below a prefix, and what it says where it cannot."""

import os
import subprocess
import tempfile
import unittest

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
SCRIPT = os.path.join(RUNFILES, "tools/install/install.sh")
PROGRAMS = ("cli/taas", "operator/cmd/taas-operator", "trainer/cmd/taas-trainer")


class InstallTest(unittest.TestCase):

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.bin = os.path.join(self.folder, "built")
        os.mkdir(self.bin)
        for program in PROGRAMS:
            os.symlink(os.path.join(RUNFILES, program),
                       os.path.join(self.bin, os.path.basename(program)))
        self.prefix = os.path.join(self.folder, "a prefix")

    def install(self, prefix=None, path="/usr/bin:/bin", **environ):
        return subprocess.run([SCRIPT, self.bin, prefix or self.prefix], check=False, text=True,
                              env={"PATH": path, **environ}, capture_output=True)

    def test_programs_run_from_there_and_kubectl_and_shells_find_theirs(self):
        done = self.install()
        self.assertEqual((done.returncode, done.stderr), (
            0, f"{self.prefix}/bin is not on your PATH: export PATH={self.prefix}/bin:$PATH\n"))
        there = done.stdout.splitlines()
        self.assertEqual([path for path in there if not os.path.exists(path)], [])
        self.assertEqual(sorted(os.listdir(f"{self.prefix}/bin")), [
            "kubectl-taas", "kubectl_complete-taas", "taas", "taas-operator", "taas-trainer"])
        for program in ("taas", "kubectl-taas", "taas-operator", "taas-trainer"):
            self.assertFalse(os.path.realpath(f"{self.prefix}/bin/{program}").startswith(self.bin))
            subprocess.run([f"{self.prefix}/bin/{program}", "--version"], check=True,
                           stdout=subprocess.DEVNULL)
        for shell, path in (("bash", "bash-completion/completions/taas"),
                            ("zsh", "zsh/site-functions/_taas"),
                            ("fish", "fish/vendor_completions.d/taas.fish")):
            with open(f"{self.prefix}/share/{path}", encoding="utf-8") as file:
                self.assertIn("__complete", file.read(), shell)

    def test_what_is_on_the_path_gets_no_advice_and_an_earlier_one_is_replaced(self):
        self.assertEqual(self.install().returncode, 0)
        done = self.install(path=f"/usr/bin:/bin:{self.prefix}/bin")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_package_is_made_below_another_root(self):
        done = self.install("/usr", DESTDIR=f"{self.folder}/root")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.islink(f"{self.folder}/root/usr/bin/kubectl-taas"))
        self.assertEqual(os.readlink(f"{self.folder}/root/usr/bin/kubectl-taas"), "taas")

    def test_where_it_cannot_it_says_what_helps(self):
        for prefix, says in (("here", "PREFIX must be an absolute path"),
                             ("/proc/taas", "make install PREFIX=$HOME/.local")):
            done = self.install(prefix)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
        os.remove(os.path.join(self.bin, "taas-trainer"))
        done = self.install()
        self.assertEqual(done.returncode, 1)
        self.assertIn("taas-trainer is not there; `make build` makes it", done.stderr)
        self.assertFalse(os.path.exists(self.prefix), "nothing half done")


if __name__ == "__main__":
    unittest.main(verbosity=2)
