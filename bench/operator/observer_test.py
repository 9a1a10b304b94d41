#!/usr/bin/python3
"""What is noted of a pod's events, and how a wait for them ends."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from api_client import Event
from observer import JobObserver, PodObserver


def row(name, status):
    return [name, "1/1", status, "0", "3s", "10.0.0.1", "fake-1", "<none>", "<none>"]


class Script:
    """A client whose watches have these events, one list each, and which then is refused."""

    def __init__(self, *watches):
        self.watches = list(watches)
        self.versions = []

    def watch(self, _path, opened, version):
        self.versions.append(version)
        if not self.watches:
            raise RuntimeError("refused")
        opened()
        yield from self.watches.pop(0)


class PodObserverTest(unittest.TestCase):

    def test_a_pod_is_created_runs_and_goes(self):
        pods = PodObserver(None, "bench")
        pods.note("ADDED", "a", "Pending", 1)
        pods.note("MODIFIED", "a", "ContainerCreating", 2)
        pods.note("MODIFIED", "a", "Running", 3)
        pods.note("MODIFIED", "a", "Running", 4)
        self.assertEqual((pods.created, pods.running), ({"a": 1}, {"a": 3}))
        pods.note("DELETED", "a", "Running", 5)
        self.assertEqual((pods.running, pods.gone), ({}, {"a": 5}))

    def test_a_pod_that_has_ended_well_is_noted_once(self):
        pods = PodObserver(None, "bench")
        for now, status in enumerate(("Running", "Completed", "Completed"), 1):
            pods.note("MODIFIED", "a", status, now)
        self.assertEqual(pods.ended, {"a": 2})

    def test_of_a_job_the_first_time_counts_that_it_says_something(self):
        jobs = JobObserver(None, "/jobs")
        for now, state in enumerate(("", "Running", "Running", "Succeeded"), 1):
            jobs.note("MODIFIED", "j", state, now)
        jobs.note("DELETED", "j", "Failed", 9)
        self.assertEqual(jobs.told["Running"], {"j": 2})
        self.assertEqual(jobs.told["Succeeded"], {"j": 4})
        self.assertEqual(jobs.told["Failed"], {})

    def test_a_pod_made_again_counts_from_its_new_creation(self):
        pods = PodObserver(None, "bench")
        for kind, status, now in (("ADDED", "Pending", 1), ("MODIFIED", "Running", 2),
                                  ("DELETED", "Running", 3), ("ADDED", "Pending", 4),
                                  ("MODIFIED", "Running", 5)):
            pods.note(kind, "a", status, now)
        self.assertEqual((pods.created["a"], pods.running["a"]), (4, 5))

    def test_a_wait_ends_when_what_it_waits_for_was_seen(self):
        events = [Event("ADDED", [row("a", "Pending")], 3),
                  Event("MODIFIED", [row("a", "Running")], 4)]
        with PodObserver(Script(events), "bench") as pods:
            pods.until("a running pod", lambda: "a" in pods.running)

    def test_a_wait_for_what_does_not_come_says_what_was_seen(self):
        pods = PodObserver(None, "bench")
        pods.note("ADDED", "a", "Pending", 1)
        with self.assertRaisesRegex(RuntimeError, "for two pods: 1 pods were created, 0 run"):
            pods.until("two pods", lambda: len(pods.created) == 2, limit_s=0)

    def test_a_watch_that_cannot_be_had_ends_the_wait(self):
        with PodObserver(Script(), "bench") as pods:
            with self.assertRaisesRegex(RuntimeError, "refused"):
                pods.until("a pod", lambda: pods.created)

    def test_after_a_watch_that_the_server_ended_the_next_goes_on_where_it_ended(self):
        script = Script([Event("ADDED", [row("a", "Pending")], 5)],
                        [Event("ADDED", [row("b", "Pending")], 6), Event("ERROR", [], 0)],
                        [Event("ADDED", [row("a", "Running"), row("b", "Pending")], 7)])
        with PodObserver(script, "bench") as pods:
            pods.thread.join()
        self.assertEqual(script.versions, [0, 5, 0, 7])
        self.assertEqual(pods.breaks, 3)
        self.assertLess(pods.created["a"], pods.created["b"])
        self.assertLess(pods.created["b"], pods.running["a"])
        self.assertEqual(set(pods.running), {"a"})

    def test_a_wait_ends_when_the_one_under_test_has_died(self):
        def died():
            raise RuntimeError("the operator has ended")

        pods = PodObserver(None, "bench")
        with self.assertRaisesRegex(RuntimeError, "the operator has ended"):
            pods.until("a pod", lambda: False, unless=died)


if __name__ == "__main__":
    unittest.main()
