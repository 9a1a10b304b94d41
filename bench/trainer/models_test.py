#!/usr/bin/python3
"""The multiplications of a step are those that were counted by hand or are known of the models."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # pylint: disable=wrong-import-position


def forward(products):
    """Multiplications of one example's way forward, in millions."""
    return sum(p.m * p.n * p.k * p.times for p in products) / 1e6


class ModelsTest(unittest.TestCase):

    def test_a_step_of_the_mlp_is_five_products(self):
        five = 3 * 100 * 500 * 10 + 2 * 100 * 784 * 500
        self.assertEqual(models.find("MLP 784-500-10").flops(), 2 * five)

    def test_resnet20_has_the_multiplications_of_its_paper(self):
        # He et al. 2016 do without the two convolutions of the shortcuts, which are 0.26 million.
        self.assertAlmostEqual(forward(models.resnet20_products(1)), 40.55 + 0.26, delta=0.01)

    def test_lenet_is_mostly_its_second_convolution(self):
        second = 14 * 14 * 64 * 25 * 32 / 1e6
        rest = (28 * 28 * 32 * 25 + 3136 * 512 + 512 * 10) / 1e6
        self.assertAlmostEqual(forward(models.lenet_products(1)), second + rest, places=6)

    def test_an_lstm_multiplies_each_weight_once_a_step_but_for_the_first_state(self):
        weights = 4 * 512 * (28 + 512 + 512 + 512)
        first = 2 * 4 * 512 * 512
        self.assertAlmostEqual(forward(models.lstm_products(1, 28, [28, 512, 512])),
                               (28 * weights - first + 512 * 10) / 1e6, places=6)

    def test_gpt2_multiplies_each_weight_once_a_token_and_half_of_all_pairs(self):
        spec = {"blocks": 6, "heads": 6, "width": 384}
        tokens, weights = 256, 6 * 12 * 384 ** 2 + 256 * 384
        pairs = 6 * 2 * 256 * 256 / 2 * 384
        self.assertAlmostEqual(forward(models.gpt2_products(1, spec, 256, 256)),
                               (tokens * weights + pairs) / 1e6, places=6)

    def test_the_first_layer_has_no_gradient_of_its_inputs(self):
        self.assertEqual(models.Product(2, 3, 5).flops(), 3 * 60)
        self.assertEqual(models.Product(2, 3, 5, of_data=True).flops(), 2 * 60)

    def test_batches_divide_the_examples(self):
        for model in models.MODELS:
            self.assertEqual(model.examples % model.batch, 0, model.title)


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
