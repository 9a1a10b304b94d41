#!/usr/bin/python3
"""The container for developers: what its description names is there, and it asks for no rights.

Nothing is started: no container can be, in a test.
"""

import json
import os
import re
import subprocess
import unittest

TREE = os.path.join(os.environ["TEST_SRCDIR"], "taas")
# What README.md and CONTRIBUTING.md want of a machine.
WANTED = {"git", "make", "python3", "sudo"}
# What would give the container more of the machine than a process of its user has.
RIGHTS = {"capAdd", "privileged", "runArgs", "securityOpt"}


def read(path):
    with open(os.path.join(TREE, path), encoding="utf-8") as file:
        return file.read()


class DevcontainerTest(unittest.TestCase):

    def setUp(self):
        self.container = json.loads(read(".devcontainer/devcontainer.json"))
        self.dockerfile = read(".devcontainer/" + self.container["build"]["dockerfile"])
        self.user = self.container["remoteUser"]

    def test_it_is_debian_12_with_what_set_up_begins_with(self):
        self.assertRegex(self.dockerfile, r"(?m)^FROM debian:12$")
        installed = re.search(r"apt-get install (.*?)&&", self.dockerfile, re.S)[1].split()
        self.assertLessEqual(WANTED, set(installed))

    def test_its_user_is_made_and_may_install_packages(self):
        self.assertRegex(self.dockerfile, rf"(?m)^RUN useradd .* {self.user} &&")
        self.assertIn(f'"{self.user} ALL=(ALL) NOPASSWD: ALL"', self.dockerfile)
        self.assertRegex(self.dockerfile, rf"(?m)^USER {self.user}$")

    def test_the_volume_is_the_folder_that_set_up_fills_and_is_the_users(self):
        line = re.search(r"^cache=.*$", read("tools/setup/setup.sh"), re.M)[0]
        cache = subprocess.run(["/bin/bash", "-euc", f'{line}; echo "$cache"'],
                               env={"HOME": f"/home/{self.user}"}, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.strip()
        (mount,) = self.container["mounts"]
        parts = dict(part.split("=") for part in mount.split(","))
        self.assertEqual(parts["type"], "volume")
        self.assertEqual(parts["target"], cache)
        made = re.search(rf"install -d -o {self.user} -g {self.user} (.*)", self.dockerfile)
        self.assertIn(cache, made[1].split())

    def test_what_is_called_after_its_creation_is_a_target_of_the_makefile(self):
        program, *targets = self.container["postCreateCommand"].split()
        self.assertEqual(program, "make")
        self.assertTrue(targets)
        for target in targets:
            self.assertRegex(read("Makefile"), rf"(?m)^{target}:")

    def test_it_asks_for_no_rights(self):
        self.assertEqual(RIGHTS & set(self.container), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
