#!/usr/bin/python3
"""What bfloat16 on the way to parameter servers costs in accuracy, by whole jobs."""

import glob
import os
import re
import unittest

from processes import TOGETHER, Job

NARROW = {**TOGETHER, "gradientPrecision": "bfloat16"}


def trained(test, **config):
    """Accuracy and loss of the evaluation, and the bytes of the last checkpoint's variables."""
    # A step has a gradient of each replica, and these are added in the order of their batches.
    with Job(chief=True, ps=2, workers=1, **config) as job:
        job.checkpoints()
        job.start_all()
        job.expect_all_done(test)
        log = job.processes["chief-0"].log()
        last = os.path.join(job.out, f"model.ckpt-{job.config['maxSteps']}.data")
        last = sorted(glob.glob(last + "*"))
        test.assertTrue(last, os.listdir(job.out))
        variables = []
        for path in last:
            with open(path, "rb") as file:
                variables.append(file.read())
    (accuracy, loss), = re.findall(
        r"^evaluation at step \d+: accuracy = ([\d.]+), loss = ([\d.e-]+)", log, re.M)
    return float(accuracy), float(loss), variables


class GradientPrecisionTest(unittest.TestCase):

    # Momentum adds up the rounding of many steps; gradients are rounded to 8 bits, 0.4 %.
    def test_parameter_servers_learn_as_much_from_gradients_in_bfloat16(self):
        optimizer = {"name": "momentum", "learningRate": 0.02}
        exact = trained(self, strategy=TOGETHER, optimizer=optimizer)
        again = trained(self, strategy=TOGETHER, optimizer=optimizer)
        narrow = trained(self, strategy=NARROW, optimizer=optimizer)
        self.assertTrue(again == exact, "the same job does not learn the same")
        self.assertFalse(narrow[2] == exact[2], "gradients went in float32")
        self.assertGreater(exact[0], 0.9)
        self.assertAlmostEqual(narrow[0], exact[0], delta=0.01)
        self.assertAlmostEqual(narrow[1], exact[1], delta=0.01 * exact[1] + 1e-3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
