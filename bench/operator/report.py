"""Samples as markdown tables: medians, spreads, ratios to the peer, and the targets.

    print(report.text(samples))
"""

import figures
import rows
import table
import targets
from names import DEFAULT, TITLES, TUNED, ceilings, title


class Samples:
    """What was measured, by row and contestant; failed trials are apart."""

    def __init__(self, samples):
        self.samples = samples

    def of(self, row, contestant, key):
        """All values of one figure: those of a list are samples of their own."""
        found = []
        for sample in self.samples:
            if (sample["row"], sample["contestant"]) == (row, contestant) and key in sample:
                value = sample[key]
                found += value if isinstance(value, list) else [value]
        return found

    def last(self, row, contestant, key):
        found = [sample[key] for sample in self.samples
                 if (sample["row"], sample["contestant"]) == (row, contestant) and key in sample]
        return found[-1] if found else None

    def failures(self):
        return [sample for sample in self.samples if "failed" in sample]

    def who(self, row):
        """Contestants with samples of a row, in the order of the first."""
        return list(dict.fromkeys(sample["contestant"] for sample in self.samples
                                  if sample["row"] == row and "failed" not in sample))


def both(first, second, show=table.times):
    return "—" if first is None and second is None else f"{show(first)} / {show(second)}"


def compared(samples, row, name, other):
    """How many times sooner all pods exist, and run, than with another."""
    return [figures.ratio(samples.of(row, name, key), samples.of(row, other, key))
            for key in ("exist_s", "run_s")]


def launch_table(samples, row):
    lines = []
    for name in samples.who(row):
        line = [title(name)]
        line += [figures.text(samples.of(row, name, key)) for key in ("exist_s", "run_s")]
        # Of clients too: as much as any operator could be.
        line += [both(*compared(samples, row, name, other)) if name != other else "1"
                 for other in (TUNED, DEFAULT)]
        if name not in TITLES:
            line += ["—"] * 4
        else:
            line += [both(*compared(samples, row, name, other), table.share)
                     for other in ceilings(name)]
            line += [figures.text(samples.of(row, name, key)) for key in ("cpu_s", "rss_mb")]
        lines.append(line)
    return table.markdown(
        ("", "all pods exist, s", "all run, s", "times as fast as tuned", "… as default",
         "of bare clients", "of telling clients", "CPU, s", "RSS, MB"), lines)


def programs_table(samples, row):
    taken = {name: samples.of(row, name, "programs") for name in samples.who(row)}
    programs = dict.fromkeys(program for found in taken.values() for one in found
                             for program in one)
    return table.markdown(("CPU until all run, s", *map(title, taken)), [
        [program, *(figures.text([one[program] for one in found if program in one])
                    for found in taken.values())] for program in programs])


def life_table(samples, row):
    names = samples.who(row)
    kinds = sorted({kind for name in names for kind in samples.last(row, name, "requests")})
    lines = [["all but deletions and watches"] + [
        figures.text(samples.of(row, name, "total")) for name in names]]
    for kind in kinds:
        lines.append([kind] + [str(samples.last(row, name, "requests").get(kind, 0))
                               for name in names])
    return table.markdown(("requests", *map(title, names)), lines)


def first_table(samples, row):
    lines = []
    for name in samples.who(row):
        line = [title(name)]
        for key in ("asked_ms", "exists_ms", "server_ms"):
            found = samples.of(row, name, key)
            line += [figures.number(figures.percentile(found, share)) if found else "—"
                     for share in (0.5, 0.99)]
        lines.append(line)
    return table.markdown(("", "asked for, p50, ms", "p99", "exists, p50, ms", "p99",
                           "of it the API server's, p50, ms", "p99"), lines)


def limits_table(samples, row):
    """Of each trial: what breaks once breaks again."""
    return table.markdown(
        ("", "jobs × replicas", "all pods exist, s", "all run, s", "CPU, s", "RSS, MB", "broke"),
        [[title(sample["contestant"]), sample["size"],
          *(figures.text([sample[key]] if key in sample else [])
            for key in ("exist_s", "run_s", "cpu_s", "rss_mb")), sample.get("broke", "")]
         for sample in samples.samples if sample["row"] == row])


def figures_table(samples, row, keys):
    """One column for each (key, heading)."""
    return table.markdown(("", *(heading for _, heading in keys)), [
        [title(name), *(figures.text(samples.of(row, name, key)) for key, _ in keys)]
        for name in samples.who(row)
    ])


REST = (("requests", "requests a minute"), ("watches", "lists and watches a minute"),
        ("cpu_s", "CPU s a minute"), ("rss_mb", "RSS, MB"))
OTHERS = {
    "write": (("status_ms", "its status, CPU of the API server, ms"),
              ("annotation_ms", "an annotation, ms")),
    "rest0": REST,
    "rest2k": REST,
    "rest10k": REST,
    "repair": (("repair_ms", "lost to made again, ms"),),
    "restart": (("restart_s", "kill -9 to made again, s"),),
    "handover": (("kill_s", "kill -9 to made again, s"), ("term_s", "SIGTERM to made again, s")),
}


def of_row(samples, row):
    if row in rows.LAUNCHES:
        return f"{launch_table(samples, row)}\n\n{programs_table(samples, row)}"
    if row == "life":
        return life_table(samples, row)
    if row == "first":
        return first_table(samples, row)
    if row == "limits":
        return limits_table(samples, row)
    return figures_table(samples, row, OTHERS[row])


def text(kept):
    samples = Samples(kept)
    parts = []
    if any(sample["small"] for sample in kept):
        parts.append("**A rehearsal: sizes are not those of the titles.**")
    parts.append("### Targets\n\n" + targets.text(samples))
    for row, about in rows.ALL.items():
        if samples.who(row):
            parts.append(f"### {about.title}\n\n{of_row(samples, row)}")
    for failure in samples.failures():
        parts.append(f"FAILED {failure['row']} {failure['contestant']}: {failure['failed']}")
    return "\n\n".join(parts)


def brief(sample):
    """One line about one trial, for whoever waits."""
    return ", ".join(
        f"{key} {figures.text(value if isinstance(value, list) else [value])}"
        for key, value in sample.items()
        if isinstance(value, (int, float)) or (isinstance(value, list) and value)
    ) if "failed" not in sample else "FAILED: " + sample["failed"]
