"""Reading an audit log: whose requests count, each once, and by what they were for."""

import json
import tempfile
import unittest

import audit

OURS = "system:serviceaccount:bench:operator"


def event(verb, resource, user=OURS, stage="ResponseComplete", second=10, **ref):
    """A line as kube-apiserver 1.34 writes it."""
    return json.dumps({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": stage,
        "requestURI": "/api/v1/namespaces/bench/" + resource, "verb": verb,
        "user": {"username": user, "groups": ["system:serviceaccounts"]},
        "objectRef": {"resource": resource, "namespace": "bench", "apiVersion": "v1", **ref},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestReceivedTimestamp": f"2026-11-21T10:00:{second:02d}.250000Z",
        "stageTimestamp": f"2026-11-21T10:00:{second:02d}.253500Z",
    }, separators=(",", ":")) + "\n"


class AuditTest(unittest.TestCase):

    def read(self, *lines, since=0.0):
        with tempfile.NamedTemporaryFile("w", suffix=".log", encoding="utf-8") as log:
            log.write("".join(lines))
            log.flush()
            return audit.requests(log.name, OURS, since)

    def test_requests_of_others_are_not_counted(self):
        found = self.read(event("create", "pods"), event("create", "pods", user="kube-scheduler"),
                          event("create", "pods", user=OURS + "-2"))
        self.assertEqual(audit.by_resource(found), {("create", "pods"): 1})

    def test_a_subresource_is_told_from_its_resource(self):
        found = self.read(event("patch", "tfjobs", subresource="status"), event("patch", "tfjobs"))
        self.assertEqual(audit.by_resource(found),
                         {("patch", "tfjobs/status"): 1, ("patch", "tfjobs"): 1})

    def test_a_watch_counts_once_when_it_starts_and_others_when_they_end(self):
        found = self.read(event("watch", "pods", stage="ResponseStarted"),
                          event("watch", "pods"), event("list", "pods", stage="ResponseStarted"),
                          event("list", "pods"))
        self.assertEqual(audit.by_resource(found), {("watch", "pods"): 1, ("list", "pods"): 1})
        self.assertTrue(all(map(audit.is_watching, found)))

    def test_only_what_came_since_then_counts(self):
        lines = [event("create", "events", second=second) for second in (1, 2, 3)]
        second = audit.seconds("2026-11-21T10:00:02.250000Z")
        self.assertEqual(len(self.read(*lines, since=second)), 1)

    def test_requests_are_in_the_order_of_their_arrival(self):
        found = self.read(event("create", "pods", second=9), event("patch", "tfjobs", second=3))
        self.assertEqual([request.verb for request in found], ["patch", "create"])

    def test_times_have_microseconds(self):
        (request,) = self.read(event("create", "pods"))
        self.assertAlmostEqual(request.ended - request.received, 0.0035, places=5)

    def test_a_line_that_is_still_being_written_is_left_for_later(self):
        whole = event("create", "pods")
        self.assertEqual(len(self.read(whole, whole[:-20])), 1)

    def test_deletions_are_told_apart(self):
        found = self.read(event("delete", "pods"), event("create", "pods"))
        self.assertEqual([audit.is_deletion(request) for request in found], [True, False])

    def test_the_policy_records_users_and_groups_and_nobody_else(self):
        policy = audit.policy(groups=["team"], users=[OURS])
        self.assertEqual(policy["omitStages"], ["RequestReceived"])
        rules = policy["rules"]
        self.assertEqual([rule["level"] for rule in rules],
                         ["Request", "Metadata", "Metadata", "None"])
        self.assertEqual(rules[1]["userGroups"], ["team"])
        self.assertEqual(rules[2:], [{"level": "Metadata", "users": [OURS]}, {"level": "None"}])
        for nobody in ((), iter(())):
            self.assertEqual(audit.policy(users=nobody)["rules"], [{"level": "None"}])

    def test_a_page_of_the_server_is_told_from_a_resource(self):
        page = json.loads(event("get", "x"))
        page["requestURI"] = "/version"
        del page["objectRef"]
        found = self.read(json.dumps(page) + "\n", event("get", "pods"))
        self.assertEqual([(request.resource, audit.is_of_resource(request)) for request in found],
                         [("/version", False), ("pods", True)])
