"""Markdown tables of measurements.

    print(table.markdown(("work", "ours", "peer"), [("1 job", "5 s", "12 s")]))
"""


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def times(value):
    return "—" if value is None else f"{value:.1f}×"


def share(value):
    return "—" if value is None else f"{value * 100:.0f} %"


def verdict(good):
    """Whether a target was met."""
    return "yes" if good else "**no**"
