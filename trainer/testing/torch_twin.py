#!/usr/bin/python3
"""Trains as model_steps.cc does, by PyTorch: a list of what that reads, a list of what it prints.

"variables" of what it printed is part of the input. With "double" all is computed in float64, and
"difference" is that of the parameters after the last step from ours, beside 1. With "alone" nothing
of ours is: the module gives its own parameters away in our order and takes them back,
{"parameters": their count, "difference": what that changed of its output, "losses": of steps on one
and the same batch}.
"""

import json
import math
import sys

import numpy
import torch

import torch_models


def optimizer_of(options, parameters):
    rate, name = options["learningRate"], options["name"]
    if name in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, rate, momentum=options.get("momentum", 0.0))
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    more = {"weight_decay": options["weightDecay"]} if name == "adamw" else {}
    return kind(parameters, rate, eps=options["epsilon"], **more)


def read(path, kind, *shape):
    return torch.from_numpy(numpy.fromfile(path, kind).reshape(shape))


def batches_of(test):
    steps, batch, width = test["steps"], test["batch"], test["features"]
    text = test["model"]["name"] == "gpt2"
    features = read(f"{test['folder']}/features", "<i4" if text else "<f4", steps, batch, width)
    labels = read(f"{test['folder']}/labels", "<i4", steps, batch, width if text else 1)
    if test.get("double"):
        features = features.double()
    return features, labels.long().reshape(steps, -1)


def penalty_of(test, module):
    """Of weights, which lie some way; biases do not."""
    factors = test.get("regularization", {})
    weights = [parameter for parameter, kind in module.ours() if kind != "same"]
    return sum(factors.get("l1", 0) * w.abs().sum() + factors.get("l2", 0) * (w * w).sum() / 2
               for w in weights)


def clip(limits, parameters):
    if "value" in limits:
        torch.nn.utils.clip_grad_value_(parameters, limits["value"])
    if "globalNorm" in limits:
        torch.nn.utils.clip_grad_norm_(parameters, limits["globalNorm"])


def by_itself(test):
    """Whether PyTorch is to compute without oneDNN, whose LSTM in bfloat16 wants AVX-512."""
    return ("precision" in test and test["model"]["name"] == "lstm" and
            "AVX512" not in torch.backends.cpu.get_cpu_capability())


def train(test, module, batches):
    parameters = [p for p in module.parameters() if p.requires_grad]
    optimizer = optimizer_of(test["optimizer"], parameters)
    losses = []
    for features, labels in zip(*batches):
        optimizer.zero_grad()
        with torch.backends.mkldnn.flags(enabled=not by_itself(test)), \
                torch.autocast("cpu", torch.bfloat16, enabled="precision" in test):
            loss = torch_models.loss_of(module, module.arrange(features), labels)
        if "regularization" in test:
            loss = loss + penalty_of(test, module)
        loss.backward()
        clip(test.get("clip", {}), parameters)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def variables_of(test, name):
    values = numpy.fromfile(f"{test['folder']}/{name}", "<f4")
    named = []
    for variable in test["variables"]:
        count = math.prod(variable["shape"])
        named.append((variable["name"],
                      torch.from_numpy(values[:count].reshape(variable["shape"]))))
        values = values[count:]
    return named


def given_away(module):
    """Its parameters as ours lie."""
    back = {"same": lambda t: t, "dense": lambda t: t.T, "window": lambda t: t.permute(2, 3, 1, 0)}
    return [(kind, back[kind](parameter.detach()).clone()) for parameter, kind in module.ours()]


def alone(test, module):
    features, labels = (batch[:1].expand(test["steps"], *batch.shape[1:])
                        for batch in batches_of(test))
    inputs = module.arrange(features[0])
    variables = given_away(module)
    with torch.no_grad():
        before = module(inputs)
        for parameter, _ in module.ours():
            parameter.fill_(7)
        torch_models.load(module, variables)
        difference = float((module(inputs) - before).abs().max())
    count = sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
    return {"parameters": count, "difference": difference,
            "losses": train(test, module, (features, labels))}


def result_of(test):
    torch.manual_seed(1)
    module = torch_models.build(test["model"], test["features"], test["classes"])
    if test.get("alone"):
        return alone(test, module)
    if test.get("double"):
        module.double()
    torch_models.load(module, variables_of(test, "variables"))
    losses = train(test, module, batches_of(test))
    with torch.no_grad():
        pairs = zip(given_away(module), variables_of(test, "trained"), strict=True)
        differences = [float(((got - want).abs() / (1 + got.abs())).max())
                       for (_, got), (_, want) in pairs]
    return {"losses": losses, "difference": max(differences)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps([result_of(test) for test in json.load(sys.stdin)]))
