"""The named models in PyTorch: what model.h builds, for a test of the numbers and for measurements.

    module = build({"name": "mlp", "hidden": [500]}, features=784, classes=10)
    load(module, [("hidden1/weights", array), …])     # ours, in the order of their creation
    loss = loss_of(module, module.arrange(features), labels)

Each module says in `ours()` which of its parameters our trainable variables are, in our order, and
how they lie: "same"; "dense", ours is in × out; "window", ours is height × width × in × out.
`arrange` makes a module's input of rows as our trainer has them, images as height × width ×
channels.
"""

import torch
from torch import nn
from torch.nn import functional

# Of our order to PyTorch's.
TURNS = {"same": lambda t: t, "dense": lambda t: t.T, "window": lambda t: t.permute(3, 2, 0, 1)}


def dense(layer):
    return [(layer.weight, "dense"), (layer.bias, "same")]


def norm(layer):
    return [(layer.weight, "same"), (layer.bias, "same")]


class Classifier(nn.Module):
    """One whose input is a row of numbers."""

    def arrange(self, features):
        return features


class Mlp(Classifier):
    def __init__(self, features, classes, hidden):
        super().__init__()
        widths = [features, *hidden]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.last = nn.Linear(widths[-1], classes)

    def forward(self, x):
        for layer in self.hidden:
            x = functional.relu(layer(x))
        return self.last(x)

    def ours(self):
        return [pair for layer in [*self.hidden, self.last] for pair in dense(layer)]


class ImageClassifier(nn.Module):
    """One whose input is a square image of so many channels."""

    def __init__(self, size, channels):
        super().__init__()
        self.shape = (size, size, channels)

    def arrange(self, features):
        # In memory they stay as they are: PyTorch calls that "channels last".
        return features.reshape(-1, *self.shape).permute(0, 3, 1, 2)


class LeNet(ImageClassifier):
    def __init__(self, classes):
        super().__init__(28, 1)
        self.conv1 = nn.Conv2d(1, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2)
        self.hidden = nn.Linear(7 * 7 * 64, 512)
        self.last = nn.Linear(512, classes)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = x.permute(0, 2, 3, 1).flatten(1)
        return self.last(functional.relu(self.hidden(x)))

    def ours(self):
        pairs = [(p, kind) for conv in (self.conv1, self.conv2)
                 for p, kind in ((conv.weight, "window"), (conv.bias, "same"))]
        return pairs + dense(self.hidden) + dense(self.last)


class ConvNorm(nn.Sequential):
    """A convolution without bias and a batch normalization, whose moving moments decay by 0.9."""

    def __init__(self, inputs, outputs, size, stride):
        super().__init__(
            nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False),
            nn.BatchNorm2d(outputs, eps=1e-5, momentum=0.1))

    def ours(self):
        return [(self[0].weight, "window"), *norm(self[1])]


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = ConvNorm(inputs, outputs, 3, stride)
        self.second = ConvNorm(outputs, outputs, 3, 1)
        changes = stride != 1 or inputs != outputs
        self.shortcut = ConvNorm(inputs, outputs, 1, stride) if changes else None

    def forward(self, x):
        around = x if self.shortcut is None else self.shortcut(x)
        return functional.relu(self.second(functional.relu(self.first(x))) + around)

    def ours(self):
        pairs = self.first.ours() + self.second.ours()
        return pairs if self.shortcut is None else pairs + self.shortcut.ours()


class ResNet20(ImageClassifier):
    def __init__(self, classes):
        super().__init__(32, 3)
        self.first = ConvNorm(3, 16, 3, 1)
        blocks, inputs = [], 16
        for width, stride in ((16, 1), (32, 2), (64, 2)):
            for i in range(3):
                blocks.append(Block(inputs, width, stride if i == 0 else 1))
                inputs = width
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.Linear(64, classes)

    def forward(self, x):
        x = functional.relu(self.first(x))
        for block in self.blocks:
            x = block(x)
        return self.last(x.mean(dim=(2, 3)))

    def ours(self):
        return (self.first.ours() + [pair for block in self.blocks for pair in block.ours()] +
                dense(self.last))


class Lstm(Classifier):
    """The rows of an image, one after the other."""

    STEPS = 28

    def __init__(self, features, classes, hidden):
        super().__init__()
        if len(set(hidden)) != 1:
            raise ValueError(f"an lstm's layers are of one width in PyTorch, here {hidden}")
        self.lstm = nn.LSTM(features // self.STEPS, hidden[0], num_layers=len(hidden),
                            batch_first=True)
        self.last = nn.Linear(hidden[0], classes)
        with torch.no_grad():
            for layer in range(len(hidden)):
                # Ours is one bias, the sum; this one stays 0.
                bias = getattr(self.lstm, f"bias_hh_l{layer}")
                bias.zero_()
                bias.requires_grad_(False)

    def arrange(self, features):
        return features.reshape(len(features), self.STEPS, -1)

    def forward(self, x):
        return self.last(self.lstm(x)[0][:, -1])

    def ours(self):
        pairs = []
        for layer in range(self.lstm.num_layers):
            pairs += [(getattr(self.lstm, f"weight_ih_l{layer}"), "dense"),
                      (getattr(self.lstm, f"weight_hh_l{layer}"), "dense"),
                      (getattr(self.lstm, f"bias_ih_l{layer}"), "same")]
        return pairs + dense(self.last)


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.reshape(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        wide = functional.gelu(self.wide(self.norm2(x)), approximate="tanh")
        return x + self.narrow(wide)

    def ours(self):
        return (norm(self.norm1) + dense(self.qkv) + dense(self.out) + norm(self.norm2) +
                dense(self.wide) + dense(self.narrow))


class Gpt2(Classifier):
    def __init__(self, context, vocabulary, model):
        super().__init__()
        width = model["width"]
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(GptBlock(width, model["heads"])
                                    for _ in range(model["blocks"]))
        self.norm = nn.LayerNorm(width)
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)

    def forward(self, x):
        x = self.tokens(x) + self.positions.weight[:x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)

    def ours(self):
        return ([(self.tokens.weight, "same"), (self.positions.weight, "same")] +
                [pair for block in self.blocks for pair in block.ours()] + norm(self.norm))


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


def load(module, variables):
    """Sets the parameters from our trainable variables: pairs of a name and a tensor."""
    pairs = module.ours()
    if len(pairs) != len(variables):
        raise ValueError(f"{type(module).__name__} has {len(pairs)} parameters, we have "
                         f"{len(variables)}: {', '.join(name for name, _ in variables)}")
    with torch.no_grad():
        for (parameter, turn), (name, value) in zip(pairs, variables):
            turned = TURNS[turn](value)
            if turned.shape != parameter.shape:
                raise ValueError(f"{name} is {list(value.shape)}, which does not make PyTorch's "
                                 f"{list(parameter.shape)}: does ours() have our order?")
            parameter.copy_(turned)


def loss_of(module, inputs, labels):
    logits = module(inputs)
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten())
