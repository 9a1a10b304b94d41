#!/usr/bin/python3
"""Training steps by PyTorch, for run.py, which says how on standard input (peer.py).

The variant is a list of words: "eager" or "compiled", and of image models "channels last" or
"channels first", the order of their memory. Batches lie ready in it. With "precision": "bfloat16"
products are computed by torch.autocast.
"""

import os
import sys

import torch

from peer import serve

sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../../trainer/testing")
import torch_models  # pylint: disable=wrong-import-position


def optimizer_of(options, parameters):
    rate = options["learningRate"]
    if options["name"] in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, rate, momentum=options.get("momentum", 0), fused=True)
    if options["name"] == "adam":
        return torch.optim.Adam(parameters, rate, fused=True)
    return torch.optim.AdamW(parameters, rate, weight_decay=options["weightDecay"], fused=True)


def batches_of(config, module, variant):
    batch, width, classes = config["batch"], config["features"], config["classes"]
    made = []
    for _ in range(config["examples"] // batch):
        if config["model"]["name"] == "gpt2":
            text = torch.randint(0, classes, (batch, width + 1))
            made.append((text[:, :-1].contiguous(), text[:, 1:].contiguous()))
            continue
        features = module.arrange(torch.rand(batch, width))
        if "channels first" in variant:
            features = features.contiguous()
        made.append((features, torch.randint(0, classes, (batch,))))
    return made


def make(config):
    variant = config["variant"]
    torch.manual_seed(1)
    torch.set_num_threads(config["threads"])
    torch.set_num_interop_threads(1)
    module = torch_models.build(config["model"], config["features"], config["classes"])
    if "channels last" in variant:
        module = module.to(memory_format=torch.channels_last)
    parameters = [p for p in module.parameters() if p.requires_grad]
    optimizer = optimizer_of(config["optimizer"], parameters)
    batches = batches_of(config, module, variant)

    rounds = config.get("precision") == "bfloat16"

    def loss_of(inputs, labels):
        with torch.autocast("cpu", torch.bfloat16, enabled=rounds):
            return torch_models.loss_of(module, inputs, labels)

    if "compiled" in variant:
        loss_of = torch.compile(loss_of)
    count = 0

    def step():
        nonlocal count
        optimizer.zero_grad()
        loss = loss_of(*batches[count % len(batches)])
        loss.backward()
        optimizer.step()
        count += 1
        return loss.detach()

    return step, sum(p.numel() for p in parameters)


if __name__ == "__main__":
    serve(make)
