#!/usr/bin/python3
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MEGABYTE = 10 ** 6


class PruneTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, megabytes, read, written):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.truncate(megabytes * MEGABYTE)
        os.utime(path, (read, written))

    def prune(self, gigabytes, *room):
        return subprocess.run([os.path.join(HERE, "prune.py"), self.folder, gigabytes, *room],
                              text=True, stderr=subprocess.PIPE, check=True).stderr

    def left(self):
        return sorted(os.path.relpath(os.path.join(path, name), self.folder)
                      for path, _, names in os.walk(self.folder) for name in names)

    def test_what_was_used_longest_ago_goes_until_a_quarter_is_free(self):
        self.write("ac/read", 300, read=5000, written=1000)
        self.write("cas/oldest", 300, read=2000, written=1000)
        self.write("cas/written", 300, read=2000, written=4000)
        self.write("cas/old", 300, read=3000, written=1000)
        self.assertEqual(self.prune("1"), "removed 0.6 GB that were used longest ago from "
                         f"{self.folder}\n")
        self.assertEqual(self.left(), ["ac/read", "cas/written"])

    def test_precompiled_headers_stay_for_two_weeks(self):
        now = time.time()
        for name, used in (("old", now - 15 * 24 * 3600), ("young", now - 13 * 24 * 3600)):
            self.write("cas/" + name, 600, read=used, written=used)
            with open(os.path.join(self.folder, "cas", name), "r+b") as file:
                file.write(b"gpch.014")
            os.utime(os.path.join(self.folder, "cas", name), (used, used))
        before = now - 2 * 24 * 3600
        self.write("cas/object", 600, read=before, written=before)
        self.prune("1")
        self.assertEqual(self.left(), ["cas/young"])

    # A clone of that day had to compile half of the tree anew.
    def test_what_was_used_within_a_day_goes_only_from_a_disk_without_room(self):
        now = time.time()
        for hours in (1, 2, 3, 30):
            used = now - hours * 3600
            self.write(f"cas/{hours}", 500, read=used, written=used)
        self.prune("1", "0")
        self.assertEqual(self.left(), ["cas/1", "cas/2", "cas/3"])
        self.prune("1", "1000000")
        self.assertEqual(self.left(), ["cas/1"])

    def test_what_has_room_stays(self):
        self.write("cas/one", 500, read=1, written=1)
        self.write("cas/two", 500, read=1, written=1)
        self.assertEqual(self.prune("1"), "")
        self.assertEqual(self.left(), ["cas/one", "cas/two"])

    def test_a_folder_that_is_not_there_has_room(self):
        self.folder = os.path.join(self.folder, "none")
        self.assertEqual(self.prune("1"), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
