"""Medians, spreads and percentiles of samples, as tables print them.

    text([10.2, 10.5, 11.0], "s")     "10.5 s (10.2 … 11)"
"""

import math
import statistics


def median(samples):
    return statistics.median(samples)


def percentile(samples, share):
    """The smallest sample that at least `share` of them do not exceed: one that was measured."""
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("no samples to take a percentile of")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def number(value):
    """Three digits that mean something, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"


def text(samples, unit=""):
    if not samples:
        return "—"
    unit = " " + unit if unit else ""
    if len(samples) == 1:
        return f"{number(samples[0])}{unit}"
    return f"{number(median(samples))}{unit} ({number(min(samples))} … {number(max(samples))})"


def ratio(ours, theirs):
    """How many times more `theirs` is; None where one of them was not measured or is nothing."""
    if not ours or not theirs or median(ours) == 0:
        return None
    return median(theirs) / median(ours)
