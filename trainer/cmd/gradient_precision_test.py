#!/usr/bin/python3
"""What bfloat16 on the way to parameter servers costs in accuracy, by whole jobs."""

import re
import unittest

from processes import TOGETHER, Job

NARROW = {**TOGETHER, "gradientPrecision": "bfloat16"}


def trained(test, **config):
    """Loss and accuracy of the evaluation, and the losses on the way."""
    # A step has a gradient of each replica, and these are added in the order of their batches.
    with Job(chief=True, ps=2, workers=1, **config) as job:
        job.start_all()
        job.expect_all_done(test)
        log = job.processes["chief-0"].log()
    (accuracy, loss), = re.findall(
        r"^evaluation at step \d+: accuracy = ([\d.]+), loss = ([\d.e-]+)", log, re.M)
    return float(loss), float(accuracy), re.findall(r"^step .*loss = ([\d.e-]+)", log, re.M)


class GradientPrecisionTest(unittest.TestCase):

    # Momentum adds up the rounding of many steps; gradients are rounded to 8 bits, 0.4 %.
    def test_parameter_servers_learn_as_much_from_gradients_in_bfloat16(self):
        optimizer = {"name": "momentum", "learningRate": 0.02}
        exact = trained(self, strategy=TOGETHER, optimizer=optimizer)
        narrow = trained(self, strategy=NARROW, optimizer=optimizer)
        self.assertNotEqual(narrow[2], exact[2], "gradients went in float32")
        self.assertGreater(exact[1], 0.9, exact)
        self.assertAlmostEqual(narrow[0], exact[0], delta=0.01 * exact[0] + 1e-3)
        self.assertAlmostEqual(narrow[1], exact[1], delta=0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
