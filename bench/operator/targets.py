"""What was promised, beside what was measured.

    print(targets.text(samples))      | work | who | measured | target | met |
"""

import figures
import rows
import table
from names import DEFAULT, OURS, TUNED, bare, title

# For each launch and contestant: times as fast as the tuned peer.
TUNED_TIMES = {
    "one": {"taas-trainingjob": 2.5, "taas-perjob": 2.5, "taas-tfjob": 1.8},
    "many": {"taas-trainingjob": 2, "taas-perjob": 2, "taas-tfjob": 1.35},
}
DEFAULT_TIMES = 8
OF_BARE = 0.8
REQUESTS = {"taas-trainingjob": 22, "taas-perjob": 22, "taas-tfjob": 30}
# With no jobs, 2,000 and 10,000 pods: row, figure, MB.
RSS_MB = (("many", "idle_mb", 15), ("many", "rss_mb", 25), ("scale", "rss_mb", 60))
CPU_S = (("many", {}, 1.5), ("scale", {"taas-tfjob": 11}, 8))  # docs/design/0010.
# For five times the pods.
CPU_GROWTH = 5
REST_CPU_S = 0.02
FIRST_POD_MS = 10
RESTART_S = 0.5
HAND_OVER_S = {"kill_s": 17, "term_s": 2}
LEAST, MOST = "≥", "≤"


def line(work, name, shown, sign, limit, unit, value):
    """`value`: what is compared with the limit."""
    good = value >= limit if sign == LEAST else value <= limit
    return work, name, shown, f"{sign} {limit:g}{unit}", table.verdict(good)


def launch_lines(samples, row, name):
    exist = samples.of(row, name, "exist_s")
    if not exist:
        return
    work = f"{rows.ALL[row].title}, all pods exist"
    for other, limit, words in (
        (TUNED, TUNED_TIMES.get(row, {}).get(name), "tuned peer"),
        (DEFAULT, DEFAULT_TIMES, "peer's defaults"),
    ):
        value = figures.ratio(exist, samples.of(row, other, "exist_s"))
        if value is not None and limit is not None:
            yield line(f"{work}, beside the {words}", name, table.times(value), LEAST, limit, "×",
                       value)
    value = figures.ratio(exist, samples.of(row, bare(name), "exist_s"))
    if value is not None:
        yield line(f"{work}, beside bare clients", name, table.share(value), LEAST,
                   round(OF_BARE * 100), " %", round(value * 100))


def usage_lines(samples, name):
    for row, key, limit in RSS_MB:
        found = samples.of(row, name, key)
        what = "no jobs" if key == "idle_mb" else f"{rows.ALL[row].title}"
        if found:
            yield line(f"RSS, {what}", name, figures.text(found, "MB"), MOST, limit, " MB",
                       figures.median(found))
    for row, of_kinds, limit in CPU_S:
        found = samples.of(row, name, "cpu_s")
        if found:
            yield line(f"CPU until all run, {rows.ALL[row].title}", name, figures.text(found, "s"),
                       MOST, of_kinds.get(name, limit), " s", figures.median(found))
    growth = figures.ratio(samples.of("many", name, "cpu_s"), samples.of("scale", name, "cpu_s"))
    if growth is not None:
        yield line("CPU for five times the pods", name, table.times(growth), MOST, CPU_GROWTH, "×",
                   growth)


def quiet_lines(samples, name):
    found = samples.of("life", name, "total")
    if found:
        yield line(rows.ALL["life"].title, name, figures.text(found), MOST, REQUESTS[name], "",
                   figures.median(found))
    for row in ("rest0", "rest2k", "rest10k"):
        requests, cpu = samples.of(row, name, "requests"), samples.of(row, name, "cpu_s")
        if requests:
            yield line(f"{rows.ALL[row].title}, requests a minute", name, figures.text(requests),
                       MOST, 0, "", max(requests))
            yield line(f"{rows.ALL[row].title}, CPU a minute", name, figures.text(cpu, "s"), MOST,
                       REST_CPU_S, " s", figures.median(cpu))


def delay_lines(samples, name):
    found = samples.of("first", name, "exists_ms")
    if found:
        value = figures.percentile(found, 0.99)
        yield line("first pod of a job exists, p99", name, f"{figures.number(value)} ms", MOST,
                   FIRST_POD_MS, " ms", value)
    for row, key, limit, what in (
        ("restart", "restart_s", RESTART_S, "kill -9 to the replacement of a lost pod"),
        ("handover", "kill_s", HAND_OVER_S["kill_s"], "the same with leader election"),
        ("handover", "term_s", HAND_OVER_S["term_s"], "SIGTERM with leader election"),
    ):
        found = samples.of(row, name, key)
        if found:
            yield line(what, name, figures.text(found, "s"), MOST, limit, " s", max(found))


def lines(samples):
    for name in OURS:
        for row in rows.LAUNCHES:
            yield from launch_lines(samples, row, name)
        yield from usage_lines(samples, name)
        yield from quiet_lines(samples, name)
        yield from delay_lines(samples, name)


def text(samples):
    return table.markdown(("work", "who", "measured", "target", "met"), [
        (work, title(name), *rest) for work, name, *rest in lines(samples)])
