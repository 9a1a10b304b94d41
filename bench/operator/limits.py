"""Where it breaks: larger and larger, until something does, and what that was.

    of_operator(contestant, sizes)       {"steps": [{"size": "1 × 2,000", "exist_s": 9.8, …}, …]}

Every size has a control plane of its own, so what breaks is not what an earlier one has left.
"""

import launch


def text(size):
    return f"{size.jobs:,} × {size.replicas:,} on {size.nodes} nodes"


def of_operator(contestant, sizes):
    steps = []
    for size in sizes:
        step = {"size": text(size)}
        try:
            sample, _ = launch.of_operator(contestant, size)
        except Exception as error:  # This is what is looked for.
            step["broke"] = str(error)
        else:
            step.update(sample)
        steps.append(step)
    return {"steps": steps}
