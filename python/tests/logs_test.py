"""Lines are read whole, in the order of their times, and once."""

import unittest

from fake_connection import PODS, FakeConnection, listed, pod_object
from taas.errors import ApiError, Attempt, Unreachable
from taas.following import SeenLines
from taas.kinds import TRAINING_JOB
from taas.lines import lines_of
from taas.logs import REPLICAS_MAX, LogQuery, check_count, merged, read_line
from taas.pods import pods_of


class LinesTest(unittest.TestCase):

    def test_lines_of_pieces_that_end_anywhere(self):
        text = b"one\n\ntwo\nthree"
        for size in range(1, len(text) + 1):
            pieces = [text[i:i + size] for i in range(0, len(text), size)]
            self.assertEqual(list(lines_of(pieces, 100)), [b"one", b"", b"two", b"three"], size)

    def test_a_line_that_is_too_long_is_cut_and_the_next_one_whole(self):
        for size in (1, 3, 100):
            text = b"0123456789\nnext\n"
            pieces = [text[i:i + size] for i in range(0, len(text), size)]
            self.assertEqual(list(lines_of(pieces, 4)), [b"0123", b"next"])


class ReadLineTest(unittest.TestCase):

    def test_time_and_text(self):
        read = read_line("ps-0", b"2026-11-25T04:47:17.5Z hello  there ", None)
        self.assertEqual(read.line.text, "hello  there ")
        self.assertEqual(read.line.time.isoformat(), "2026-11-25T04:47:17.500000+00:00")
        self.assertEqual(read.nanoseconds % 1_000_000_000, 500_000_000)

    def test_a_node_s_own_zone(self):
        here = read_line("ps-0", b"2026-11-25T12:47:17.000000001+08:00 x", None)
        there = read_line("ps-0", b"2026-11-25T04:47:17.000000001Z x", None)
        self.assertEqual(here, there)

    def test_a_line_without_a_time_or_with_an_impossible_one_keeps_its_text(self):
        before = read_line("ps-0", b"2026-11-25T04:47:17Z x", None)
        for raw in (b"failed to open the log", b"2026-13-45T99:00:00Z x", b"", b"\xff"):
            read = read_line("ps-0", raw, before)
            self.assertEqual(read.nanoseconds, before.nanoseconds)
            self.assertEqual(read.line.text, raw.decode(errors="replace"))

    def test_a_clock_that_jumps_back_does_not_turn_lines_around(self):
        before = read_line("ps-0", b"2026-11-25T04:47:17Z x", None)
        self.assertEqual(read_line("ps-0", b"2026-11-25T03:00:00Z y", before).nanoseconds,
                         before.nanoseconds)


class MergedTest(unittest.TestCase):

    def merge(self, logs, pods=None, **query):
        pods = pods or [pod_object(index=index) for index in range(len(logs))]
        connection = FakeConnection(
            {"GET " + PODS: [listed(*pods)]},
            {f"{PODS}/mnist-worker-{i}/log": [log] for i, log in enumerate(logs) if log})
        self.connection = connection
        found = pods_of(connection, TRAINING_JOB, "default", "mnist", "u1")
        return list(merged(connection, found, LogQuery(**query)))

    def test_in_the_order_of_time_to_the_nanosecond(self):
        lines = self.merge([[b"2026-11-25T04:00:00.000000002Z b", b"2026-11-25T04:00:01Z d"],
                            [b"2026-11-25T04:00:00.000000001Z a", b"2026-11-25T04:00:00.5Z c"]])
        self.assertEqual("".join(line.text for line in lines), "abcd")
        self.assertEqual([line.replica for line in lines],
                         ["worker-1", "worker-0", "worker-1", "worker-0"])

    def test_the_container_that_trains_is_asked_and_only_for_what_is_wanted(self):
        self.merge([[b"x"]], tail=3, previous=True)
        query = next(query for verb, _, query in self.connection.asked if verb == "STREAM")
        self.assertEqual(query, {"container": "trainer", "timestamps": "true", "tailLines": "3",
                                 "previous": "true"})

    def test_a_replica_without_a_log_is_told_and_the_others_are_read(self):
        with self.assertLogs("taas", "WARNING") as logged:
            lines = self.merge([None, [b"2026-11-25T04:00:00Z here"]])
        self.assertEqual([line.text for line in lines], ["here"])
        self.assertIn("mnist-worker-0", logged.output[0])

    def test_logs_that_nobody_may_read_are_an_error(self):
        refused = ApiError(Attempt("read", "x"), "no", code=500)
        with self.assertLogs("taas", "WARNING"), self.assertRaises(ApiError):
            self.merge([refused])

    def test_pods_of_an_earlier_job_of_the_name_are_no_replicas(self):
        other = pod_object(index=1)
        other["metadata"]["ownerReferences"][0]["uid"] = "another"
        lines = self.merge([[b"own"], [b"other"]], pods=[pod_object(), other])
        self.assertEqual([line.text for line in lines], ["own"])

    def test_more_replicas_than_can_be_read_at_once_are_refused_with_what_to_do(self):
        with self.assertRaisesRegex(ValueError, "role and index"):
            check_count([None] * (REPLICAS_MAX + 1))


class SeenLinesTest(unittest.TestCase):

    def new(self, seen, *texts):
        return [text for text in texts
                if seen.is_new(read_line("ps-0", b"2026-11-25T04:00:0" + text.encode(), None))]

    def test_a_log_that_is_read_again_from_its_last_second_gives_only_what_is_new(self):
        seen = SeenLines()
        self.assertEqual(len(self.new(seen, "1.1Z a", "1.2Z b", "1.2Z c")), 3)
        self.assertEqual(seen.since(), "2026-11-25T04:00:01Z")
        seen.restart()
        self.assertEqual(self.new(seen, "1.1Z a", "1.2Z b", "1.2Z c", "1.2Z d", "2Z e"),
                         ["1.2Z d", "2Z e"])
        seen.restart()
        self.assertEqual(self.new(seen, "2Z e", "3Z f"), ["3Z f"])

    def test_broken_off_twice_within_one_moment(self):
        seen = SeenLines()
        self.new(seen, "1Z a", "1Z b")
        seen.restart()
        self.assertEqual(self.new(seen, "1Z a"), [])
        seen.restart()
        self.assertEqual(self.new(seen, "1Z a", "1Z b", "1Z c"), ["1Z c"])


class BrokenLogTest(unittest.TestCase):

    def test_a_log_that_breaks_in_the_middle_is_an_error_after_its_lines(self):
        broken = Unreachable(Attempt("read", "x"), "reset")
        pods = [pod_object()]
        connection = FakeConnection({"GET " + PODS: [listed(*pods)]},
                                    {f"{PODS}/mnist-worker-0/log": [[b"one", broken]]})
        lines = merged(connection, pods_of(connection, TRAINING_JOB, "default", "mnist", "u1"),
                       LogQuery())
        self.assertEqual(next(lines).text, "one")
        with self.assertRaises(Unreachable):
            next(lines)


if __name__ == "__main__":
    unittest.main()
