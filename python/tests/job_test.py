"""What a job says, is waited for and is changed to, against an API server of written answers."""

import unittest

from fake_connection import (ATTEMPT, JOBS, PODS, FakeConnection, event, job_object, listed,
                             pod_object)
from taas.client import Client
from taas.errors import ApiError, JobEnded, JobFailed, NotFound, WaitTimeout
from taas.job import CONFLICTS_MAX, Job
from taas.kinds import TF_JOB, TRAINING_JOB

JOB = JOBS + "/mnist"


def job_of(connection, state="Running", **status):
    return Job(connection, TRAINING_JOB, job_object(state, **status))


class WaitTest(unittest.TestCase):

    def test_each_change_is_told_and_the_end_returned(self):
        connection = FakeConnection(
            {"GET " + JOBS: [listed(job_object("Pending"))]},
            {JOBS: [[event("MODIFIED", job_object("Running")),
                     event("MODIFIED", job_object("Running")),  # Of its labels.
                     event("MODIFIED", job_object("Succeeded"))]]})
        told = []
        status = job_of(connection).wait(timeout=60, on_change=lambda seen: told.append(seen.state))
        self.assertEqual(status.state, "Succeeded")
        self.assertEqual(told, ["Pending", "Running", "Succeeded"])
        self.assertIn("metadata.name=mnist", connection.asked[0][2]["fieldSelector"])

    def test_a_failure_has_the_job_s_message_and_the_ends_of_the_logs(self):
        ended = {"name": "trainer", "state": {"terminated": {
            "exitCode": 1, "message": '{"message": "open /data/x: No such file", "step": 0}'}}}
        connection = FakeConnection(
            {"GET " + JOBS: [listed(job_object("Failed", message="worker-0 failed for good"))],
             "GET " + PODS: [listed(pod_object(phase="Failed", containerStatuses=[ended]),
                                    pod_object(index=1, phase="Succeeded"))]},
            {PODS + "/mnist-worker-0/log": [[b"2026-11-25T04:00:00Z step 1", b"no file"]]})
        with self.assertRaises(JobFailed) as caught:
            job_of(connection).wait()
        self.assertIn("worker-0 failed for good", str(caught.exception))
        self.assertEqual([failure.replica for failure in caught.exception.failures], ["worker-0"])
        self.assertEqual(str(caught.exception).splitlines()[1:],
                         ["worker-0 exited with code 1: open /data/x: No such file",
                          "  step 1", "  no file"])

    def test_a_failure_is_told_though_pods_cannot_be_read(self):
        connection = FakeConnection({"GET " + JOBS: [listed(job_object("Failed", message="no"))]})
        with self.assertRaises(JobFailed) as caught:
            job_of(connection).wait()
        self.assertEqual(caught.exception.failures, ())

    def test_a_time_out_says_what_the_job_waits_for(self):
        cases = ((job_object("Pending", message="0/2 nodes are available"), "0/2 nodes"),
                 (job_object(""), "taas-operator"))
        for found, word in cases:
            connection = FakeConnection({"GET " + JOBS: [listed(found)]}, {JOBS: [[]]})
            with self.subTest(word), self.assertRaises(WaitTimeout) as caught:
                job_of(connection, "").wait(timeout=0.1)
            self.assertIn(word, str(caught.exception))
            self.assertIsInstance(caught.exception, TimeoutError)

    def test_states_functions_and_what_is_past(self):
        cases = (("Ended", "Failed"), ("Suspended", "Suspended"), ("Running", "Succeeded"),
                 (lambda status: status.restart_count == 0, "Pending"))
        for until, state in cases:
            connection = FakeConnection({"GET " + JOBS: [listed(job_object(state))]})
            self.assertEqual(job_of(connection).wait(until, timeout=9).state, state)
        with self.assertRaisesRegex(ValueError, "Succeded.*Succeeded"):
            job_of(FakeConnection()).wait("Succeded")
        connection = FakeConnection({"GET " + JOBS: [listed(job_object("Succeeded"))]})
        with self.assertRaisesRegex(JobEnded, "ended as Succeeded"):
            job_of(connection).wait("Suspended")

    def test_a_job_that_is_deleted_or_made_anew_is_gone(self):
        for answer in (listed(), listed(job_object(uid="another"))):
            connection = FakeConnection({"GET " + JOBS: [answer]})
            with self.assertRaises(NotFound):
                job_of(connection).wait(timeout=9)
            job_of(connection).wait("Deleted", timeout=9)
        connection = FakeConnection({"GET " + JOBS: [listed(job_object())]},
                                    {JOBS: [[event("DELETED", job_object())]]})
        job_of(connection).wait("Deleted", timeout=9)


class ChangeTest(unittest.TestCase):

    def test_suspend_and_scale_are_of_the_object_that_was_looked_at(self):
        connection = FakeConnection({"GET " + JOB: [job_object()], "PATCH " + JOB: [job_object()]})
        job = job_of(connection)
        job.suspend()
        job.scale(4)
        patches = [body for body in connection.bodies if body]
        meta = {"resourceVersion": "7"}
        self.assertEqual(patches, [
            {"spec": {"suspend": True}, "metadata": meta},
            {"spec": {"roles": {"worker": {"replicas": 4}}}, "metadata": meta}])

    def test_a_tfjob_s_places_and_its_own_spelling_of_roles(self):
        path = "/apis/kubeflow.org/v1/namespaces/default/tfjobs/mnist"
        found = {**job_object(), "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
                 "spec": {"tfReplicaSpecs": {"WORKER": {}}}}
        connection = FakeConnection({"GET " + path: [found], "PATCH " + path: [found]})
        job = Job(connection, TF_JOB, found)
        job.suspend()
        job.scale(4)
        patches = [body["spec"] for body in connection.bodies if body]
        self.assertEqual(patches, [{"runPolicy": {"suspend": True}},
                                   {"tfReplicaSpecs": {"WORKER": {"replicas": 4}}}])

    def test_what_is_so_already_is_not_written(self):
        connection = FakeConnection({"GET " + JOB: [job_object()]})
        job_of(connection).resume()
        job_of(connection).scale(2)
        self.assertEqual({verb for verb, _, _ in connection.asked}, {"GET"})

    def test_a_conflict_is_worth_another_look_but_not_for_ever(self):
        conflict = ApiError(ATTEMPT, "changed", code=409)
        connection = FakeConnection({"GET " + JOB: [job_object()],
                                     "PATCH " + JOB: [conflict, conflict, job_object()]})
        job_of(connection).suspend()
        connection = FakeConnection({"GET " + JOB: [job_object()], "PATCH " + JOB: [conflict]})
        with self.assertRaises(ApiError):
            job_of(connection).suspend()
        self.assertEqual(len([1 for verb, _, _ in connection.asked if verb == "PATCH"]),
                         CONFLICTS_MAX + 1)

    def test_an_ended_job_is_not_suspended_and_a_missing_role_not_scaled(self):
        connection = FakeConnection({"GET " + JOB: [job_object("Failed")]})
        with self.assertRaisesRegex(JobEnded, "ended as Failed"):
            job_of(connection).suspend()
        with self.assertRaisesRegex(NotFound, "no evaluator"):
            job_of(connection).scale(1, role="evaluator")

    def test_another_job_of_the_name_is_not_touched(self):
        connection = FakeConnection({"GET " + JOB: [job_object(uid="another")],
                                     "DELETE " + JOB: [{}]})
        with self.assertRaises(NotFound):
            job_of(connection).suspend()
        job_of(connection).delete()
        self.assertEqual(connection.bodies[-1]["preconditions"], {"uid": "u1"})

    def test_arguments_that_make_no_sense(self):
        job = job_of(FakeConnection())
        for arguments in ({"role": "wroker"}, {"tail": -1}, {"index": -1},
                          {"follow": True, "previous": True}):
            with self.subTest(arguments), self.assertRaises(ValueError):
                job.logs(**arguments)


class NotebookTest(unittest.TestCase):

    def test_a_table_in_which_all_is_escaped(self):
        words = "<script>alert(1)</script> & more"
        found = job_object("Failed", message=words, restarts={words: 1})
        found["spec"]["roles"] = {words: {}}
        job = job_of(FakeConnection({"GET " + JOB: [found]}))
        shown = job._repr_html_()
        self.assertNotIn("<script", shown)
        self.assertEqual(shown.count("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"), 3)

    def test_without_the_cluster_the_last_status_and_why(self):
        job = job_of(FakeConnection(), message="<b>")
        shown = job._repr_html_()
        self.assertIn("Running", shown)
        self.assertIn("&lt;b&gt;", shown)
        self.assertIn("not found", shown)


class ClientTest(unittest.TestCase):

    def client(self, connection):
        client = Client.__new__(Client)
        client._connection = connection
        return client

    def test_a_name_of_both_kinds_needs_its_kind(self):
        path = "/apis/kubeflow.org/v1/namespaces/default/tfjobs/mnist"
        client = self.client(FakeConnection({"GET " + JOB: [job_object()], "GET " + path: [
            job_object()]}))
        with self.assertRaisesRegex(ValueError, "kind="):
            client.job("mnist")
        self.assertEqual(client.job("mnist", kind="tfjob").kind, TF_JOB)
        with self.assertRaises(NotFound):
            client.job("other")

    def test_a_cluster_with_one_of_the_kinds_is_listed_and_one_without_both_is_told(self):
        client = self.client(FakeConnection({"GET " + JOBS: [listed(job_object())]}))
        self.assertEqual([job.name for job in client.jobs()], ["mnist"])
        with self.assertRaisesRegex(NotFound, "installed"):
            self.client(FakeConnection()).jobs()


if __name__ == "__main__":
    unittest.main()
