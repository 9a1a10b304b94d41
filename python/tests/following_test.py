"""Logs are followed to the end of the job, and no longer."""

import unittest

from fake_connection import (ATTEMPT, JOBS, PODS, FakeConnection, event, job_object, listed,
                             pod_object)
from taas.errors import NotFound, Unreachable
from taas.job import Job
from taas.kinds import TRAINING_JOB

LOG = PODS + "/mnist-worker-0/log"
POD = "GET " + PODS + "/mnist-worker-0"
FIRST = b"2026-11-25T04:00:00.1Z first"


class FollowingTest(unittest.TestCase):

    def follow(self, connection, **arguments):
        self.connection = connection
        job = Job(connection, TRAINING_JOB, job_object())
        return job.logs(follow=True, **arguments)

    def texts(self, connection, **arguments):
        return [line.text for line in self.follow(connection, **arguments)]

    def ended(self, logs, pods=None, job=None):
        """A job of one replica that has ended."""
        over = pod_object(phase="Succeeded")
        return FakeConnection(
            {"GET " + JOBS: [job or listed(job_object("Succeeded"))],
             "GET " + PODS: [listed(*(pods or [over]))], POD: [over]},
            {JOBS: [[]], PODS: [[]], LOG: logs})

    def test_to_the_end_of_the_job(self):
        self.assertEqual(self.texts(self.ended([[FIRST]])), ["first"])

    def test_a_log_that_breaks_is_read_on_from_its_last_line(self):
        broken = [FIRST, Unreachable(ATTEMPT, "reset")]
        connection = self.ended([broken, [FIRST, b"2026-11-25T04:00:02Z second"]])
        self.assertEqual(self.texts(connection, tail=5), ["first", "second"])
        asked = [query for _, path, query in connection.asked if path == LOG]
        self.assertEqual((asked[0]["tailLines"], asked[1]["sinceTime"]),
                         ("5", "2026-11-25T04:00:00Z"))
        self.assertNotIn("tailLines", asked[1])

    def test_a_thread_that_fails_is_told_and_not_waited_for(self):
        with self.assertRaisesRegex(ZeroDivisionError, "a bug"):
            self.texts(self.ended([[FIRST, ZeroDivisionError("a bug")]]))

    def test_a_pod_that_comes_later_is_read_whole_and_one_of_another_role_not(self):
        new = pod_object(phase="Succeeded", uid="new")
        connection = self.ended([[FIRST]], pods=[pod_object("ps", phase="Succeeded")])
        connection.streams[PODS] = [[event("ADDED", new)], []]
        connection.answers[POD] = [new]
        self.assertEqual(self.texts(connection, role="worker", tail=0), ["first"])
        (asked,) = [query for _, path, query in connection.asked if path.endswith("/log")]
        self.assertNotIn("tailLines", asked)

    def test_a_job_that_is_deleted_ends_it_with_an_error(self):
        connection = self.ended([[FIRST]], job=listed())
        lines = self.follow(connection)
        self.assertEqual(next(lines).text, "first")
        with self.assertRaisesRegex(NotFound, "deleted before its end"):
            next(lines)

    def test_who_stops_reading_stops_its_threads(self):
        lines = self.follow(self.ended([[FIRST] * 5_000], job=listed(job_object())))
        next(lines)
        lines.close()
        asked = len(self.connection.asked)
        self.assertLess(asked, 20)


if __name__ == "__main__":
    unittest.main()
