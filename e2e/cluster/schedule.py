"""In which order tests run, and beside which.

    for result in run(units, lambda unit: …, at_once=4): …

A unit's tests run one after the other, and so do units of one lane. Units are on a cluster that all
share, or have one of their own and run at any time. What others on the shared cluster would feel
runs alone there: when none of them is left, one unit at a time.
"""

import concurrent.futures
import threading
from typing import NamedTuple

SHARED, ALONE, OWN = range(3)


class Unit(NamedTuple):
    tests: list
    where: int
    lane: str = ""  # Tests of several classes.


def ordered(units):
    """Lanes, which take longest, begin at once; then what others on the shared cluster wait for."""
    return sorted(units, key=lambda unit: (not unit.lane, unit.where, -len(unit.tests)))


class Queue:
    """What waits, and what is under way; for any number of threads."""

    def __init__(self, units):
        self.changed = threading.Condition()
        self.waiting = ordered(units)
        self.under_way = []

    def _may_run(self, unit):
        if unit.lane and any(other.lane == unit.lane for other in self.under_way):
            return False
        if unit.where != ALONE:
            return True
        others = self.under_way + [other for other in self.waiting if other.where == SHARED]
        return all(other.where == OWN for other in others)

    def take(self):
        """The next that may run, as soon as there is one; None when none is left."""
        with self.changed:
            while self.waiting:
                unit = next(filter(self._may_run, self.waiting), None)
                if unit is not None:
                    self.waiting.remove(unit)
                    self.under_way.append(unit)
                    return unit
                self.changed.wait()
            return None

    def done(self, unit):
        with self.changed:
            self.under_way.remove(unit)
            self.changed.notify_all()

    def drop(self):
        """Nothing more begins."""
        with self.changed:
            self.waiting.clear()
            self.changed.notify_all()


def run(units, work, at_once):
    """What `work` makes of each, in no order."""
    queue = Queue(units)

    def each():
        found = []
        while (unit := queue.take()) is not None:
            try:
                found.append(work(unit))
            finally:
                queue.done(unit)
        return found

    pool = concurrent.futures.ThreadPoolExecutor(at_once)
    try:
        for future in [pool.submit(each) for _ in range(at_once)]:
            yield from future.result()
    finally:
        # At Ctrl-C those under way are not waited for: their cluster goes.
        queue.drop()
        pool.shutdown(wait=False, cancel_futures=True)
