"""In which order tests run, without a cluster."""

import threading
import unittest

from schedule import ALONE, OWN, SHARED, Queue, Unit, ordered, run


def unit(name, where, lane="", tests=1):
    return Unit([name] * tests, where, lane)


def names(units):
    return [each.tests[0] for each in units]


class ScheduleTest(unittest.TestCase):

    def test_lanes_begin_first_and_the_longest_of_them(self):
        units = [unit("own", OWN), unit("alone", ALONE), unit("shared", SHARED),
                 unit("lane", OWN, "faults", 3), unit("longer", SHARED, "training", 5)]
        self.assertEqual(names(ordered(units)), ["longer", "lane", "shared", "alone", "own"])

    def test_alone_is_when_nothing_else_is_left_on_the_shared_cluster(self):
        queue = Queue([unit("a", SHARED), unit("b", SHARED), unit("c", ALONE), unit("d", ALONE),
                       unit("e", OWN), unit("f", OWN)])
        a, b = queue.take(), queue.take()
        own = queue.take()
        self.assertEqual(names([a, b, own]), ["a", "b", "e"])
        queue.done(b)
        self.assertEqual(names([queue.take()]), ["f"], "a is still under way")
        queue.done(a)
        alone = queue.take()
        self.assertEqual(names([alone]), ["c"])
        taken = []
        waiter = threading.Thread(target=lambda: taken.append(queue.take()))
        waiter.start()
        queue.done(own)
        self.assertEqual(names(queue.waiting), ["d"], "one at a time")
        queue.done(alone)
        waiter.join()
        self.assertEqual(names(taken), ["d"])
        self.assertIsNone(queue.take())

    def test_of_a_lane_one_runs_at_a_time_wherever_it_is(self):
        queue = Queue([unit("chart", SHARED, "browser", 2), unit("local", OWN, "browser"),
                       unit("other", OWN)])
        chart, other = queue.take(), queue.take()
        self.assertEqual(names([chart, other]), ["chart", "other"])
        queue.done(chart)
        self.assertEqual(names([queue.take()]), ["local"])

    def test_all_run_and_what_fails_is_told(self):
        units = [unit(str(number), where) for number, where in
                 enumerate([SHARED, ALONE, OWN, ALONE, SHARED, OWN])]
        found = list(run(units, lambda each: each.tests[0], at_once=3))
        self.assertEqual(sorted(found), [str(number) for number in range(6)])
        with self.assertRaisesRegex(ValueError, "broken"):
            list(run([unit("a", ALONE), unit("b", ALONE)], self.broken, at_once=2))

    def broken(self, each):
        raise ValueError(f"broken: {each.tests}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
