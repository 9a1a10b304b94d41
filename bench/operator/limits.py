"""Where it breaks: larger and larger, until something does, and what that was.

    of_operator(contestant, size)       {"size": "1 × 2,000 on 100 nodes", "exist_s": 9.8, …}

Every size has a control plane of its own, so what breaks is not what an earlier one has left.
"""

import launch


def text(size):
    return f"{size.jobs:,} × {size.replicas:,} on {size.nodes} nodes"


def of_operator(contestant, size):
    try:
        sample, _ = launch.of_operator(contestant, size)
    except Exception as error:  # This is what is looked for.
        sample = {"broke": str(error)}
    return {"size": text(size), **sample}
