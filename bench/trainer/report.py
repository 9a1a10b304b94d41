"""The tables of run.py, as docs/benchmarks.md has them.

    Row(model, threads=1, rates={"ours": [1.0, 2.0], "PyTorch": […]}, gflops=[…]).line()
"""

import dataclasses
import statistics

SIDES = ("ours", "PyTorch", "TensorFlow")
NONE = "—"

HEAD = """
| model, batch | GFLOP a step | products, GFLOP/s | bound, examples/s | ours, examples/s \
| of the bound \
| PyTorch, examples/s | its way | ours / PyTorch | TensorFlow, examples/s | its way \
| ours / TensorFlow |
|---|---|---|---|---|---|---|---|---|---|---|---|"""


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(values):
    """The median and, in brackets, the extremes."""
    if not values:
        return NONE
    return (f"{number(statistics.median(values))} "
            f"({number(min(values))} … {number(max(values))})")


def ratio(ours, theirs):
    """Of the rounds, in which both saw the same machine."""
    if not ours or not theirs:
        return NONE
    return f"{statistics.median(a / b for a, b in zip(ours, theirs)):.2f}"


@dataclasses.dataclass
class Row:
    model: object
    gflops: list  # Of the products of matrices in each round.
    rates: dict  # Examples/s in each round, by side.
    ways: dict  # Of a peer.

    def bounds(self):
        return [rate * 1e9 / self.model.flops() * self.model.batch for rate in self.gflops]

    def line(self):
        ours, bounds = self.rates.get("ours", []), self.bounds()
        share = NONE
        if ours:
            share = f"{statistics.median(a / b for a, b in zip(ours, bounds)):.0%}"
        cells = [f"{self.model.title}, {self.model.batch}", f"{self.model.flops() / 1e9:.3g}",
                 spread(self.gflops), number(statistics.median(bounds)), spread(ours), share]
        for peer in SIDES[1:]:
            theirs = self.rates.get(peer, [])
            cells += [spread(theirs), self.ways.get(peer, NONE), ratio(ours, theirs)]
        return "| " + " | ".join(cells) + " |"


def memory_table(peaks):
    """`peaks` by the model's title and side, in MB."""
    lines = ["| model | ours | PyTorch | TensorFlow |", "|---|---|---|---|"]
    for title, of_side in peaks.items():
        cells = [f"{of_side[side]:,.0f}" if side in of_side else NONE for side in SIDES]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
