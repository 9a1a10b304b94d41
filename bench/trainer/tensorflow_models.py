"""The named models in TensorFlow, of its plain operations.

    model = build({"name": "mlp", "hidden": [500]}, features=784, classes=10)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model.logits(model.arrange(x)))

`variables` are the trainable ones; `arrange` makes an input of rows of numbers.
"""

import tensorflow as tf


class Model:
    def __init__(self):
        self.variables, self._random = [], tf.random.Generator.from_seed(1)

    def weights(self, *shape, deviation=None):
        fan_in = 1
        for size in shape[:-1]:
            fan_in *= size
        values = self._random.normal(shape, stddev=deviation or fan_in ** -0.5)
        return self._variable(values)

    def _variable(self, values):
        variable = tf.Variable(values)
        self.variables.append(variable)
        return variable

    def zeros(self, *shape):
        return self._variable(tf.zeros(shape))

    def ones(self, *shape):
        return self._variable(tf.ones(shape))

    def dense(self, inputs, outputs, deviation=None):
        """A function."""
        w, b = self.weights(inputs, outputs, deviation=deviation), self.zeros(outputs)

        def apply(x):
            rows = tf.reshape(x, [-1, inputs])
            y = tf.nn.bias_add(tf.matmul(rows, w), b)
            return tf.reshape(y, [*x.shape[:-1], outputs])

        return apply

    def arrange(self, features):
        return features


class Mlp(Model):
    def __init__(self, features, classes, hidden):
        super().__init__()
        widths = [features, *hidden]
        self.layers = [self.dense(a, b) for a, b in zip(widths, widths[1:])]
        self.last = self.dense(widths[-1], classes)

    def logits(self, x):
        for layer in self.layers:
            x = tf.nn.relu(layer(x))
        return self.last(x)


class LeNet(Model):
    def __init__(self, classes):
        super().__init__()
        self.convolutions = [(self.weights(5, 5, a, b), self.zeros(b))
                             for a, b in ((1, 32), (32, 64))]
        self.hidden, self.last = self.dense(7 * 7 * 64, 512), self.dense(512, classes)

    def arrange(self, features):
        return tf.reshape(features, [-1, 28, 28, 1])

    def logits(self, x):
        for w, b in self.convolutions:
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b))
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return self.last(tf.nn.relu(self.hidden(tf.reshape(x, [x.shape[0], 7 * 7 * 64]))))


class ResNet20(Model):
    def __init__(self, classes):
        super().__init__()
        self.first = self.conv_norm(3, 16, 3, 1)
        self.blocks, inputs = [], 16
        for width, stride in ((16, 1), (32, 2), (64, 2)):
            for i in range(3):
                by = stride if i == 0 else 1
                shortcut = None
                if by != 1 or inputs != width:
                    shortcut = self.conv_norm(inputs, width, 1, by)
                self.blocks.append((self.conv_norm(inputs, width, 3, by),
                                    self.conv_norm(width, width, 3, 1), shortcut))
                inputs = width
        self.last = self.dense(64, classes)

    def conv_norm(self, inputs, outputs, size, stride):
        w = self.weights(size, size, inputs, outputs)
        scale, offset = self.ones(outputs), self.zeros(outputs)
        mean = tf.Variable(tf.zeros([outputs]), trainable=False)
        variance = tf.Variable(tf.ones([outputs]), trainable=False)
        pad = size // 2
        padding = [[0, 0], [pad, pad], [pad, pad], [0, 0]]

        def apply(x):
            x = tf.nn.conv2d(x, w, stride, padding)
            x, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(
                x, scale, offset, epsilon=1e-5, is_training=True)
            mean.assign_sub(0.1 * (mean - batch_mean))
            variance.assign_sub(0.1 * (variance - batch_variance))
            return x

        return apply

    def arrange(self, features):
        return tf.reshape(features, [-1, 32, 32, 3])

    def logits(self, x):
        x = tf.nn.relu(self.first(x))
        for first, second, shortcut in self.blocks:
            around = x if shortcut is None else shortcut(x)
            x = tf.nn.relu(second(tf.nn.relu(first(x))) + around)
        return self.last(tf.reduce_mean(x, [1, 2]))


class Lstm(Model):
    """All steps of a layer are multiplied with its weights at once, but for the states."""

    STEPS = 28

    def __init__(self, features, classes, hidden):
        super().__init__()
        widths = [features // self.STEPS, *hidden]
        self.layers = [(self.dense(a, 4 * b), self.weights(b, 4 * b))
                       for a, b in zip(widths, widths[1:])]
        self.last = self.dense(widths[-1], classes)

    def arrange(self, features):
        return tf.reshape(features, [-1, self.STEPS, features.shape[1] // self.STEPS])

    def logits(self, x):
        x = tf.transpose(x, [1, 0, 2])
        for of_input, of_state in self.layers:
            parts = tf.unstack(of_input(x))
            state = cell = None
            outputs = []
            for part in parts:
                z = part if state is None else part + tf.matmul(state, of_state)
                i, f, g, o = tf.split(z, 4, axis=1)
                add = tf.sigmoid(i) * tf.tanh(g)
                cell = add if cell is None else tf.sigmoid(f) * cell + add
                state = tf.sigmoid(o) * tf.tanh(cell)
                outputs.append(state)
            x = tf.stack(outputs)
        return self.last(x[-1])


class Gpt2(Model):
    def __init__(self, length, vocabulary, model):
        super().__init__()
        self.width, self.heads = model["width"], model["heads"]
        self.tokens = self.weights(vocabulary, self.width, deviation=0.02)
        self.positions = self.weights(length, self.width, deviation=0.02)
        self.blocks = [self.block() for _ in range(model["blocks"])]
        self.norm = self.layer_norm()
        self.mask = (1 - tf.linalg.band_part(tf.ones([length, length]), -1, 0)) * -1e9

    def layer_norm(self):
        scale, offset = self.ones(self.width), self.zeros(self.width)

        def apply(x):
            mean, variance = tf.nn.moments(x, -1, keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + offset

        return apply

    def block(self):
        width = self.width
        return {"norm1": self.layer_norm(), "qkv": self.dense(width, 3 * width, 0.02),
                "out": self.dense(width, width, 0.02), "norm2": self.layer_norm(),
                "wide": self.dense(width, 4 * width, 0.02),
                "narrow": self.dense(4 * width, width, 0.02)}

    def attention(self, x, block):
        batch, length, width = x.shape
        qkv = tf.reshape(block["qkv"](x), [batch, length, 3, self.heads, width // self.heads])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        scores = tf.matmul(q, k, transpose_b=True) * (width // self.heads) ** -0.5
        shares = tf.nn.softmax(scores + self.mask)
        mixed = tf.transpose(tf.matmul(shares, v), [0, 2, 1, 3])
        return block["out"](tf.reshape(mixed, [batch, length, width]))

    def logits(self, x):
        batch, length = x.shape
        x = tf.gather(self.tokens, x) + self.positions
        for block in self.blocks:
            x = x + self.attention(block["norm1"](x), block)
            wide = tf.nn.gelu(block["wide"](block["norm2"](x)), approximate=True)
            x = x + block["narrow"](wide)
        rows = tf.reshape(self.norm(x), [batch * length, self.width])
        logits = tf.matmul(rows, self.tokens, transpose_b=True)
        return tf.reshape(logits, [batch, length, self.tokens.shape[0]])


BUILDERS = {
    "mlp": lambda model, features, classes: Mlp(features, classes, model["hidden"]),
    "lenet": lambda model, features, classes: LeNet(classes),
    "resnet20": lambda model, features, classes: ResNet20(classes),
    "lstm": lambda model, features, classes: Lstm(features, classes, model["hidden"]),
    "gpt2": lambda model, features, classes: Gpt2(features, classes, model),
}


def build(model, features, classes):
    """`model` is the object spec.trainer.model; of gpt2 `features` is the length of a text."""
    return BUILDERS[model["name"]](model, features, classes)
