"""One round of a measurement: everybody who takes part, in turn.

    for name, sample in trials("many", small=False, only=()): …

A trial that fails is a sample {"failed": why}: what breaks is a result, too.
"""

import time

import bare
import launch
import life
import limits
import names
import recovery
import rest
import rows
import writes
from contestants import BY_NAME

# In a rehearsal nobody waits for whole minutes.
MINUTE_S, SMALL_MINUTE_S = 60, 5


def guarded(trial):
    began = time.monotonic()
    try:
        sample = trial()
    except Exception as error:  # Kept, shown, and counted by the exit code.
        sample = {"failed": str(error)}
    return {**sample, "took_s": round(time.monotonic() - began, 1)}


def launches(name, size, only):
    """The contestant, then bare and telling clients with what it made."""
    contestant = BY_NAME[name]
    made = []

    def of_operator():
        sample, objects = launch.of_operator(contestant, size, keep=name in names.OURS)
        made.extend(objects)
        return sample

    if wanted(name, only):
        yield name, guarded(of_operator)
    if made and wanted("bare", only):
        yield names.bare(name), guarded(
            lambda: launch.of_bare_clients(contestant, size, bare.without_words(made)))
    if made and wanted("telling", only):
        yield names.telling(name), guarded(
            lambda: launch.of_telling_clients(contestant, size, made))


def wanted(name, only):
    return not only or name in only


def trials(row, small, only):
    """(contestant, sample) of one round."""
    size = rows.ALL[row].small if small else rows.ALL[row].full
    minute_s = SMALL_MINUTE_S if small else MINUTE_S
    of = {
        "life": lambda contestant: life.of_operator(contestant, size),
        "first": lambda contestant: life.of_first_pods(contestant, size),
        "write": lambda contestant: writes.of_status(contestant, size),
        **{row: lambda contestant: rest.of_operator(contestant, size, minute_s)
           for row in ("rest0", "rest2k", "rest10k")},
        "repair": lambda contestant: recovery.of_lost_pods(contestant, size),
        "restart": lambda contestant: recovery.of_restarts(contestant, size),
        "handover": lambda contestant: recovery.of_hand_overs(contestant, size),
    }
    for name in rows.ALL[row].who:
        if row in rows.LAUNCHES:
            yield from launches(name, size, only)
        elif row == "limits" and wanted(name, only):
            for larger in size:
                yield name, guarded(lambda contestant=BY_NAME[name], size=larger:
                                    limits.of_operator(contestant, size))
        elif wanted(name, only):
            yield name, guarded(lambda contestant=BY_NAME[name]: of[row](contestant))
