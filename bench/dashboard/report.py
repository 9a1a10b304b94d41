"""How results are written: as one markdown table, with the load of the machine.

    rows = [("a change until it shows", ms(seconds), "≤ 500 ms")]
    show("5000 jobs, 50000 pods", before, rows)
"""

import os
import statistics


def ms(seconds):
    """Median and worst."""
    if not seconds:
        return "none"
    return f"{statistics.median(seconds) * 1e3:.0f} … {max(seconds) * 1e3:.0f} ms"


def show(what, before, rows):
    """`before`: os.getloadavg() of then. Rows: measurement, result, what is wanted."""
    print(f"{what}; median … worst; load of the machine {before[0]:.1f} before, "
          f"{os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores\n")
    print("| measurement | result | wanted |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
