"""The measured models in PyTorch that torch_models.py has not, and what it has, by a row of ours.

    module = build(row)                    # a row of `gpu_bench rows`
    loss = loss_of(module, inputs, labels)  # inputs as in_bytes_or_ids() makes them
"""

import torch
import torch_models
from torch import nn
from torch.nn import functional


class Bottleneck(nn.Module):
    """Of ResNet-50 "v1.5": the stride is that of the 3 x 3 convolution."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        norm = torch_models.ConvNorm
        self.first, self.second = norm(inputs, width, 1, 1), norm(width, width, 3, stride)
        self.third = norm(width, 4 * width, 1, 1)
        changes = stride != 1 or inputs != 4 * width
        self.shortcut = norm(inputs, 4 * width, 1, stride) if changes else None

    def forward(self, x):
        around = x if self.shortcut is None else self.shortcut(x)
        x = functional.relu(self.second(functional.relu(self.first(x))))
        return functional.relu(self.third(x) + around)


class ResNet50(torch_models.ImageClassifier):
    def __init__(self, classes):
        super().__init__(224, 3)
        self.first = torch_models.ConvNorm(3, 64, 7, 2)
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Linear(inputs, classes)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.first(x)), 3, stride=2, padding=1)
        return self.last(self.blocks(x).mean(dim=(2, 3)))


class WideDeep(nn.Module):
    """All categories in two tables, one wide and one deep, of which each column has its rows: one
    lookup instead of one for each column, which is in favour of this side."""

    def __init__(self, columns, classes, hidden):
        super().__init__()
        categories = [count for count in columns if count > 0]
        self.quantities = len(columns) - len(categories)
        # As the trainer's default: the fourth root.
        units = next(n for n in range(1, 1_000) if n ** 4 >= max(categories))
        first = torch.tensor([sum(categories[:i]) for i in range(len(categories))])
        self.register_buffer("first", first)
        self.wide = nn.Embedding(sum(categories), classes)
        self.deep = nn.Embedding(sum(categories), units)
        widths = [self.quantities + units * len(categories), *hidden]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.last = nn.Linear(widths[-1], classes)

    def forward(self, x):
        quantities, ids = x
        rows = ids + self.first
        deep = torch.cat([quantities, self.deep(rows).flatten(1)], dim=1)
        for layer in self.hidden:
            deep = functional.relu(layer(deep))
        return self.last(deep) + self.wide(rows).sum(dim=1)


def build(row):
    model = row["model"]
    if model["name"] == "resnet50":
        return ResNet50(row["classes"])
    if model["name"] == "wideDeep":
        return WideDeep(row["columns"], row["classes"], model["hidden"])
    if model["name"] == "gpt2":
        model = {"blocks": 12, "heads": 12, "width": 768, **model}
    return torch_models.build(model, row["features"], row["classes"])


def in_bytes_or_ids(row):
    """A batch as data has it, on the host: inputs and labels."""
    batch, features, classes = row["batch"], row["features"], row["classes"]
    if row["model"]["name"] == "gpt2":
        text = torch.randint(0, classes, (batch, features + 1))
        return [text[:, :-1].contiguous()], text[:, 1:].contiguous()
    labels = torch.randint(0, classes, (batch,))
    if row["columns"]:
        ids = [count for count in row["columns"] if count > 0]
        return [torch.rand(batch, features - len(ids)),
                torch.randint(0, max(ids), (batch, len(ids)))], labels
    return [torch.randint(0, 256, (batch, features), dtype=torch.uint8)], labels


def arranged(module, inputs):
    """What a module takes, of inputs on its device: bytes become numbers there."""
    if len(inputs) > 1:
        return inputs
    values = inputs[0]
    return module.arrange(values.float() / 255) if values.dtype == torch.uint8 else values


def loss_of(module, inputs, labels):
    logits = module(arranged(module, inputs))
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten())
