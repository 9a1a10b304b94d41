"""The models that are measured, and the multiplications in a training step of each.

    for model in MODELS: model.flops()       # of one step, forward and backward

What is counted are the products of matrices, and convolutions as the direct method makes them, for
they bound a step from below: forward, the gradient of the weights, and that of the inputs but for
the first layer, whose inputs need none. A causal attention looks at half of all pairs.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Product:
    """m × k by k × n, `times` in a step; `of_data` needs no gradient of its first factor."""

    m: float
    n: float
    k: float
    times: float = 1
    of_data: bool = False

    def flops(self):
        return 2 * self.m * self.n * self.k * self.times * (2 if self.of_data else 3)


@dataclasses.dataclass(frozen=True)
class Model:
    title: str
    spec: dict  # The object spec.trainer.model.
    batch: int
    features: int
    classes: int
    optimizer: dict  # The object spec.trainer.optimizer.
    examples: int
    products: list
    # Of an image, as the trainer's data says it; a text has none, and `features` tokens.
    shape: tuple = ()

    @property
    def name(self):
        return self.spec["name"]

    def flops(self):
        return sum(product.flops() for product in self.products)

    def config(self, threads):
        return {"model": self.spec, "image": self.shape, "features": self.features,
                "classes": self.classes, "batch": self.batch, "examples": self.examples,
                "optimizer": self.optimizer, "threads": threads}


def dense_products(batch, widths):
    return [Product(batch, b, a, of_data=i == 0)
            for i, (a, b) in enumerate(zip(widths, widths[1:]))]


def convolution(batch, size, window, channels, of_data=False):
    """To `size` × `size` points; channels are (in, out)."""
    return Product(batch * size ** 2, channels[1], window ** 2 * channels[0], of_data=of_data)


def lenet_products(batch):
    return [convolution(batch, 28, 5, (1, 32), of_data=True), convolution(batch, 14, 5, (32, 64)),
            Product(batch, 512, 3136), Product(batch, 10, 512)]


def resnet20_products(batch):
    products = [convolution(batch, 32, 3, (3, 16), of_data=True)]
    inputs = 16
    for width, size in ((16, 32), (32, 16), (64, 8)):
        for _ in range(3):
            products += [convolution(batch, size, 3, (inputs, width)),
                         convolution(batch, size, 3, (width, width))]
            if inputs != width:
                products.append(convolution(batch, size, 1, (inputs, width)))
            inputs = width
    return products + [Product(batch, 10, 64)]


def lstm_products(batch, steps, widths):
    products = []
    for i, (inputs, width) in enumerate(zip(widths, widths[1:])):
        products += [Product(batch * steps, 4 * width, inputs, of_data=i == 0),
                     Product(batch, 4 * width, width, times=steps - 1)]  # The first state is 0.
    return products + [Product(batch, 10, widths[-1])]


def gpt2_products(batch, spec, length, vocabulary):
    rows, width = batch * length, spec["width"]
    pairs = Product(length, length, width / spec["heads"], times=batch * spec["heads"] / 2)
    block = [Product(rows, 3 * width, width), pairs, pairs, Product(rows, width, width),
             Product(rows, 4 * width, width), Product(rows, width, 4 * width)]
    return block * spec["blocks"] + [Product(rows, vocabulary, width)]


SGD = {"name": "sgd", "learningRate": 0.01}
MOMENTUM = {"name": "momentum", "learningRate": 0.01, "momentum": 0.9}
ADAM = {"name": "adam", "learningRate": 0.001}
ADAMW = {"name": "adamw", "learningRate": 0.0003, "weightDecay": 0.1}
GPT2 = {"name": "gpt2", "blocks": 6, "heads": 6, "width": 384}

MODELS = [
    Model("MLP 784-500-10", {"name": "mlp", "hidden": [500]}, 100, 784, 10, SGD, 10_000,
          dense_products(100, [784, 500, 10]), (28, 28, 1)),
    Model("MLP 784-100-10", {"name": "mlp", "hidden": [100]}, 100, 784, 10, SGD, 10_000,
          dense_products(100, [784, 100, 10]), (28, 28, 1)),
    Model("LeNet", {"name": "lenet"}, 100, 784, 10, MOMENTUM, 10_000, lenet_products(100),
          (28, 28, 1)),
    Model("ResNet-20", {"name": "resnet20"}, 128, 3072, 10, MOMENTUM, 1_280,
          resnet20_products(128), (32, 32, 3)),
    Model("LSTM 512-512", {"name": "lstm", "hidden": [512, 512]}, 64, 784, 10, ADAM, 6_400,
          lstm_products(64, 28, [28, 512, 512]), (28, 28, 1)),
    Model("GPT-2 tiny", GPT2, 8, 256, 256, ADAMW, 320, gpt2_products(8, GPT2, 256, 256)),
]


def find(title):
    return next(model for model in MODELS if model.title == title)
