#!/usr/bin/python3
"""Kills at seeded random moments: the job ends well, no update is lost, doubled or halved."""

import os
import unittest

from survival import Survival


class SurvivalTest(unittest.TestCase):

    def test_kills_of_any_process_leave_one_consistent_history(self):
        seed = int(os.environ.get("TAAS_SURVIVAL_SEED", "1"))
        kills = int(os.environ.get("TAAS_SURVIVAL_KILLS", "20"))
        Survival(seed, kills).run()


if __name__ == "__main__":
    unittest.main()
