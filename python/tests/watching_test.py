"""Watches go on over everything that passes, and say what does not."""

import json
import unittest

from fake_connection import ATTEMPT, JOBS, FakeConnection, event, job_object, listed
from taas.errors import ApiError, Forbidden, Unreachable
from taas.watching import RETRY_FIRST_S, Collection, changes

GONE = json.dumps({"type": "ERROR", "object": {"code": 410, "message": "too old"}}).encode()


class FakeTiming:
    """Time passes in pauses only; it is over after `limit` of them."""

    class Stopped:
        def __init__(self):
            self.value = False

        def is_set(self):
            return self.value

    def __init__(self, limit=3):
        self.at, self.pauses, self.limit = 0.0, [], limit
        self.stopped = self.Stopped()

    def now(self):
        return self.at

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.at += seconds
        self.stopped.value = len(self.pauses) >= self.limit


class WatchingTest(unittest.TestCase):

    def seen(self, connection, timing=None, deadline=None):
        self.timing = timing or FakeTiming()
        source = Collection(connection, JOBS, ATTEMPT, {"fieldSelector": "metadata.name=mnist"})
        return list(changes(source, self.timing, deadline))

    def states(self, seen):
        objects = [found for each in seen
                   for found in (each.listed if each.listed is not None else [each.object])]
        return [found["status"].get("state") for found in objects]

    def test_a_list_then_events_from_its_version_on(self):
        connection = FakeConnection({"GET " + JOBS: [listed(job_object("Pending"))]},
                                    {JOBS: [[event("MODIFIED", job_object("Running"))], []]})
        self.assertEqual(self.states(self.seen(connection)), ["Pending", "Running"])
        watches = [query for verb, _, query in connection.asked if verb == "STREAM"]
        self.assertEqual([query["resourceVersion"] for query in watches][:2], ["5", "6"])

    def test_pages_of_a_list_are_one_list(self):
        first = listed(job_object("Pending"))
        first["metadata"]["continue"] = "next"
        connection = FakeConnection({"GET " + JOBS: [first, listed(job_object("Running"))]},
                                    {JOBS: [[]]})
        self.assertEqual(len(self.seen(connection)[0].listed), 2)
        self.assertEqual(connection.asked[1][2]["continue"], "next")

    def test_a_version_that_is_too_old_is_followed_by_a_new_list(self):
        for refusal in ([GONE], ApiError(ATTEMPT, "too old", code=410)):
            with self.subTest(str(refusal)):
                connection = FakeConnection(
                    {"GET " + JOBS: [listed(job_object("Pending")),
                                     listed(job_object("Succeeded"), version="90")]},
                    {JOBS: [refusal, []]})
                self.assertEqual(self.states(self.seen(connection)), ["Pending", "Succeeded"])

    def test_a_lost_connection_is_made_again_from_the_last_version_and_ever_later(self):
        lost = Unreachable(ATTEMPT, "reset")
        connection = FakeConnection(
            {"GET " + JOBS: [listed(job_object("Pending"))]},
            {JOBS: [[event("MODIFIED", job_object("Running"), "9"), lost], lost, lost, []]})
        with self.assertLogs("taas", "WARNING"):
            self.seen(connection)
        watches = [query for verb, _, query in connection.asked if verb == "STREAM"]
        self.assertEqual([query["resourceVersion"] for query in watches], ["5", "9", "9"])
        self.assertEqual(self.timing.pauses,
                         [RETRY_FIRST_S, 2 * RETRY_FIRST_S, 4 * RETRY_FIRST_S])

    def test_half_an_event_is_a_lost_connection(self):
        connection = FakeConnection({"GET " + JOBS: [listed(job_object("Pending"))]},
                                    {JOBS: [[b'{"type": "MODI'], []]})
        with self.assertLogs("taas", "WARNING") as logged:
            self.seen(connection)
        self.assertIn("no JSON", logged.output[0])

    def test_what_the_first_list_meets_is_said_at_once(self):
        with self.assertRaises(Unreachable):
            self.seen(FakeConnection({"GET " + JOBS: [Unreachable(ATTEMPT, "refused")]}))

    def test_a_right_that_is_taken_away_is_no_matter_of_time(self):
        connection = FakeConnection({"GET " + JOBS: [listed()]},
                                    {JOBS: [Forbidden(ATTEMPT, "no", code=403)]})
        with self.assertRaises(Forbidden):
            self.seen(connection)

    def test_a_server_that_ends_each_watch_at_once_is_asked_at_a_measured_pace(self):
        connection = FakeConnection({"GET " + JOBS: [listed()]}, {JOBS: [[]]})
        self.seen(connection, FakeTiming(limit=99), deadline=10.0)
        self.assertLessEqual(len(connection.asked), 10 / RETRY_FIRST_S + 2)
        self.assertGreaterEqual(self.timing.at, 10)


if __name__ == "__main__":
    unittest.main()
