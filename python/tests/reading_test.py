"""Whatever an API server or a program of a user's says is read, and nothing of it crashes."""

import json
import socket
import threading
import unittest

from fake_connection import FakeConnection, job_object, pod_object
from taas.connection import api_error
from taas.errors import (AlreadyExists, ApiError, Attempt, Forbidden, NotFound, SeriesUnavailable)
from taas.kinds import TF_JOB, TRAINING_JOB
from taas.pods import read_pod
from taas.series import CURVES_MAX, POINTS_MAX, Point, fetch_series, read_page, rows
from taas.status import read_status

ATTEMPT = Attempt("read", "x")
# Of every type; each member of an object is replaced by each of them.
STRANGE = (None, True, 7, -1.5, 10**400, "", "x", [], [7], {}, {"x": 7})


def spoilt(value, path=()):
    """Copies of `value` in which one member is of another type."""
    if isinstance(value, dict):
        for key, found in value.items():
            for copy in spoilt(found, (*path, key)):
                yield {**value, key: copy}
    elif isinstance(value, list) and value:
        for copy in spoilt(value[0], (*path, 0)):
            yield [copy, *value[1:]]
    if path:
        yield from STRANGE


class StatusTest(unittest.TestCase):

    def whole(self):
        return job_object(
            ready="1/2", message="m", attempt=2, restarts={"killed": 1}, restartCount=1,
            startTime="2026-11-25T04:00:00Z", progress={
                "step": 5, "maxSteps": 10, "loss": 0.5,
                "evaluation": {"step": 5, "accuracy": 0.75}},
            replicaStatuses={"worker": {"desired": 1, "active": 1, "ready": 1}},
            conditions=[{"type": "Running", "status": "True", "reason": "r"}],
            history=[{"role": "worker", "index": 1, "cause": "killed", "exitCode": 137}])

    def test_all_of_a_status(self):
        status = read_status(TRAINING_JOB, self.whole())
        self.assertEqual(str(status), "Running, 1/2 ready, step 5/10: m")
        self.assertEqual(status.evaluation.accuracy, 0.75)
        self.assertEqual(status.history[0].replica, "worker-1")
        self.assertEqual((status.replicas["worker"].desired, status.replicas["worker"].ready),
                         (2, 1))  # The manifest's 2: a job that is scaled up has not caught up.
        self.assertEqual(status.start_time.isoformat(), "2026-11-25T04:00:00+00:00")
        self.assertTrue(status.conditions[0].status)

    def test_a_status_of_anything_is_read(self):
        for count, job in enumerate(spoilt(self.whole())):
            status = read_status(TRAINING_JOB, job)
            str(status), status._repr_html_(), repr(status)
        self.assertGreater(count, 300)

    def test_a_tfjob_whose_definition_keeps_conditions_only(self):
        job = {"metadata": {}, "spec": {"tfReplicaSpecs": {"Master": {}, "PS": {"replicas": 0}}},
               "status": {"conditions": [{"type": "Created", "status": "True"},
                                         {"type": "Running", "status": "False"},
                                         {"type": "Failed", "status": "True"}],
                          "replicaStatuses": {"Master": {"failed": 1}}}}
        status = read_status(TF_JOB, job)
        self.assertEqual(status.state, "Failed")
        self.assertEqual((status.replicas["chief"].desired, status.replicas["chief"].failed),
                         (1, 1))
        self.assertEqual(status.replicas["ps"].desired, 0)

    def test_a_pod_of_anything_is_read(self):
        ended = {"name": "trainer", "restartCount": 2, "state": {"terminated": {
            "exitCode": 3, "message": '{"message": "words"}'}}}
        pod = pod_object(containerStatuses=[ended])
        read = read_pod(TRAINING_JOB, pod)
        self.assertEqual((read.replica, read.exit_code, read.message, read.status_port),
                         ("worker-0", 3, "words", 2223))
        for found in spoilt(pod):
            read_pod(TRAINING_JOB, found)


class ErrorTest(unittest.TestCase):

    def test_codes_become_classes_with_the_server_s_words(self):
        cases = ((403, "Forbidden", Forbidden), (404, "NotFound", NotFound),
                 (409, "AlreadyExists", AlreadyExists), (409, "Conflict", ApiError))
        for code, reason, kind in cases:
            error = api_error(ATTEMPT, code, json.dumps(
                {"reason": reason, "message": "the words"}).encode())
            self.assertIs(type(error), kind)
            self.assertEqual(error.code, code)
            self.assertIn("read x: the words (", str(error))

    def test_what_a_proxy_says_is_quoted_in_part(self):
        for body in (b"<html>" + b"x" * 100_000, b"\xff\xfe", b"[]", b"", b"[" * 100_000, b"7"):
            error = api_error(ATTEMPT, 502, body)
            self.assertLess(len(str(error)), 3_000)


class Page:
    """One answer of a status page, on a port of this machine."""

    def __init__(self, answer):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.asked, self.answer = b"", answer
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        connection, _ = self.server.accept()
        with connection, self.server:
            self.asked = connection.recv(4096)
            connection.sendall(self.answer)


def page(body, head="HTTP/1.1 200 OK"):
    return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class SeriesTest(unittest.TestCase):

    def pods(self, port, role="worker", phase="Running"):
        pod = pod_object(role, phase=phase)
        pod["spec"]["containers"][1]["env"][0]["value"] = str(port)
        return [read_pod(TRAINING_JOB, pod)]

    def fetch(self, pods, since=None):
        return fetch_series(FakeConnection(), pods, "worker-0", since, ATTEMPT)

    def test_curves_of_a_local_pod_are_asked_of_it(self):
        served = Page(page(b'{"series": {"loss": [[1, 2.5, 0.5]]}}'))
        series = self.fetch(self.pods(served.port), since=100)
        self.assertEqual(series, {"loss": [Point(1, 2.5, 0.5)]})
        self.assertTrue(served.asked.startswith(b"GET /series?since=100 "), served.asked)
        self.assertEqual(rows(series), [{"series": "loss", "step": 1, "wall": 2.5, "value": 0.5}])

    def test_the_evaluator_s_curves_have_its_name(self):
        served = Page(page(b'{"series": {"accuracy": [[1, 2, 0.5]]}}'))
        self.assertEqual(list(self.fetch(self.pods(served.port, "evaluator"))),
                         ["evaluator/accuracy"])

    def test_who_does_not_answer_or_not_with_curves_is_an_error_that_says_so(self):
        cases = ((b"", "Remote end closed"), (b"no http\r\n\r\n", "no http"),
                 (page(b"no", "HTTP/1.1 404 Not Found"), "404 Not Found"),
                 (page(b"[]"), "no object `series`"), (page(b"{"), "Expecting"),
                 (page(b"[" * 100_000), "nested"))
        for answer, cause in cases:
            with self.subTest(cause), self.assertRaises(SeriesUnavailable) as caught:
                self.fetch(self.pods(Page(answer).port))
            self.assertIn(cause, str(caught.exception))
            self.assertIn("default/mnist-worker-0", str(caught.exception))

    def test_a_job_that_has_ended_has_no_curves_any_more(self):
        with self.assertRaisesRegex(SeriesUnavailable, "event files"):
            self.fetch(self.pods(1, phase="Succeeded"))

    def test_what_is_no_point_is_left_out_and_too_much_as_well(self):
        points = [[1, 2, 3], [1, 2], ["1", 2, 3], [1, None, 3], 7, [True, 2, 3], [4, 5, 6.5]]
        body = json.dumps({"series": {"loss": points, "x": 7, "y": [[10**400, 1, 1]]}}).encode()
        self.assertEqual(read_page(body), {"loss": [Point(1, 2, 3), Point(4, 5, 6.5)], "y": []})
        many = {str(i): [[1, 2, 3]] * (POINTS_MAX + 1) for i in range(CURVES_MAX + 1)}
        read = read_page(json.dumps({"series": many}).encode())
        self.assertEqual((len(read), len(read["0"])), (CURVES_MAX, POINTS_MAX))


if __name__ == "__main__":
    unittest.main()
