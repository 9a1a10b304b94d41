"""An operator without one of its rights says which one it lacks, and goes on when it has it.

Each right is missing in a namespace of its own. One operator works in all of these; those that may
not list something or lead cannot begin, so each of them is an operator of its own.
"""

import dataclasses

import taas
from direct_api import core, jobs
from fault_jobs import ended, foreign_pod, foreign_service, job_of, replicas_patch
from fault_scenario import FaultScenario

RBAC = "/apis/rbac.authorization.k8s.io/v1"
LEASES_OF = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
# Workers whose list is too long for each pod.
LARGE = 170
CONTAINER = {"tj": "trainer", "tfjob": "tensorflow"}


@dataclasses.dataclass
class Right:
    """One that is missing, and how that comes to light."""

    verb: str
    resource: str
    kind: str  # Of the job that needs it.
    where: str = "message"  # Or "log".
    # Its workers: when it was made, and when the right is missed.
    workers: int = 1
    then: int = 1
    ends: bool = False  # And is to be deleted then.
    in_the_way: object = None
    namespace: str = ""

    @property
    def words(self):
        return f'cannot {self.verb} resource "{self.resource}"'

    def left_out_of(self, rules):
        """Of each rule that gives it: all that it gives beside."""
        left = []
        for rule in rules:
            others = [name for name in rule["resources"] if name != self.resource]
            verbs = [verb for verb in rule["verbs"] if verb != self.verb]
            if len(others) == len(rule["resources"]) or len(verbs) == len(rule["verbs"]):
                left.append(rule)
                continue
            left.append({**rule, "resources": others})
            left.append({**rule, "resources": [self.resource], "verbs": verbs})
        # The API takes no rule without a resource or a verb.
        return [rule for rule in left if rule["resources"] and rule["verbs"]]


MISSING = [
    Right("create", "pods", "tj"),
    Right("create", "pods", "tfjob"),
    Right("create", "services", "tj"),
    Right("create", "services", "tfjob"),
    Right("patch", "trainingjobs", "tj"),
    Right("patch", "tfjobs", "tfjob"),
    Right("patch", "trainingjobs/status", "tj", "log"),
    Right("patch", "tfjobs/status", "tfjob", "log"),
    Right("create", "configmaps", "tj", then=LARGE),
    Right("create", "events", "tj", "log"),
    Right("watch", "pods", "tj", "log"),
    Right("watch", "services", "tj", "log"),
    Right("watch", "trainingjobs", "tj", "log"),
    Right("watch", "tfjobs", "tfjob", "log"),
    Right("delete", "pods", "tj", workers=2),
    Right("delete", "services", "tfjob", workers=2),
    Right("delete", "trainingjobs", "tj", "log", ends=True),
    Right("delete", "tfjobs", "tfjob", "log", ends=True),
    Right("get", "pods", "tj", in_the_way=foreign_pod("job-worker-0")),
    Right("get", "services", "tj", in_the_way=foreign_service("job")),
]
# Who loses its lease ends, and nobody starts it again here: a busy server must not cost it.
PATIENT = ["--lease-seconds=90", "--lease-renew-seconds=80"]
LISTS = [Right("list", resource, "tfjob" if resource == "tfjobs" else "tj", "log")
         for resource in ("pods", "services", "trainingjobs", "tfjobs")]
# To lead is to begin.
LEASES = [Right(verb, "leases", "tj", "log") for verb in ("get", "create", "update")]


class RightsTest(FaultScenario):

    def setUp(self):
        super().setUp()
        # It has all rights everywhere.
        self.operator.freeze()
        self.addCleanup(self.operator.thaw)
        roles = (f"{RBAC}/clusterroles/taas-operator",
                 f"{RBAC}/namespaces/{taas.NAMESPACE}/roles/taas-operator-lease")
        self.rules = [rule for role in roles for rule in self.api.get(role)["rules"]]
        self.rights = [dataclasses.replace(right, namespace=f"{self.namespace}-{i}")
                       for i, right in enumerate(MISSING + LISTS + LEASES)]
        for right in self.rights:
            self.make_namespace(right)
        several = self.rights[:len(MISSING)]
        self.operators = {}
        shared = self.start("several", several)
        for right in several:
            self.operators[right.namespace] = shared
        for right in self.rights[len(several):]:
            flags = []
            if right.resource == "leases":
                flags = ["--leader-elect", "--lease-namespace=" + right.namespace, *PATIENT]
                if right.verb == "update":
                    # Nobody holds it, so it is taken, not made.
                    self.api.done("POST", LEASES_OF.format(right.namespace),
                                  {"metadata": {"name": "taas-operator"}, "spec": {}})
            self.operators[right.namespace] = self.start(
                f"no-{right.verb}-{right.resource}", [right], *flags)

    def make_namespace(self, right):
        self.api.done("POST", "/api/v1/namespaces", taas.namespace(right.namespace, "baseline"))
        self.addCleanup(self.api, "DELETE", "/api/v1/namespaces/" + right.namespace)
        path = f"{RBAC}/namespaces/{right.namespace}"
        self.api.done("POST", path + "/roles", {
            "metadata": {"name": "operator"}, "rules": right.left_out_of(self.rules)})
        self.api.done("POST", path + "/rolebindings", {
            "metadata": {"name": "operator"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                        "name": "operator"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": self.namespace}]})

    def start(self, name, rights, *flags):
        operator = self.cluster.start_operator(
            name, "--namespaces=" + ",".join(right.namespace for right in rights), *flags,
            account=self.namespace)
        self.addCleanup(operator.stop)
        return operator

    def submit_all(self):
        for right in self.rights:
            if right.in_the_way is not None:
                path = core(right.namespace, right.in_the_way["kind"].lower() + "s")
                self.wait_for("the account of its pods", lambda: self.api(
                    "POST", path, right.in_the_way).code in (201, 409))
            more = {"ttlSecondsAfterFinished": 0} if right.ends else {}
            self.submit(right.kind, job_of(right.kind, "job", right.workers, **more),
                        right.namespace)

    def need_the_right(self, right):
        """Brings a job that runs to where its operator wants what it may not do."""
        if right.workers != right.then:
            self.await_running(right.kind, "job", right.workers, right.namespace)
            self.api.done("PATCH", jobs(right.namespace, right.kind, "job"),
                          replicas_patch(right.kind, right.then))
        if right.ends:
            self.await_running(right.kind, "job", 1, right.namespace)
            self.api.done("PATCH", core(right.namespace, "pods", "job-worker-0", "status"),
                          ended(CONTAINER[right.kind], 0))

    def says(self, right):
        if right.where == "message":
            return right.words in self.message_of(right.kind, "job", right.namespace)
        lines = self.operators[right.namespace].log_text().replace("\\", "").splitlines()
        return any(right.words in line and right.namespace in line for line in lines)

    def has_what_it_wants(self, right):
        if right.ends:
            return self.get_job(right.kind, "job", right.namespace) is None
        status = self.status_of(right.kind, "job", right.namespace)
        return (status.get("ready") == f"{right.then}/{right.then}" and
                status.get("message", "") == "" and
                len(self.uids(right.namespace)) == right.then)

    def test_each_right_that_is_missing_is_named_and_used_when_it_is_granted(self):
        self.submit_all()
        for right in self.rights:
            self.need_the_right(right)
        for right in self.rights:
            with self.subTest(f"{right.verb} {right.resource} for {right.kind}"):
                self.wait_for(f"the words {right.words} in the {right.where}",
                              lambda: self.says(right))
        for right in self.rights:
            path = f"{RBAC}/namespaces/{right.namespace}/roles/operator"
            self.api.done("PATCH", path, {"rules": self.rules})
            if right.in_the_way is not None:
                resource = right.in_the_way["kind"].lower() + "s"
                name = right.in_the_way["metadata"]["name"]
                self.api.done("DELETE", core(right.namespace, resource, name) +
                              "?gracePeriodSeconds=0")
        for right in self.rights:
            with self.subTest(f"{right.verb} {right.resource} for {right.kind}, granted"):
                self.wait_for("what the right is for", lambda: self.has_what_it_wants(right))
        for operator in self.operators.values():
            self.assertTrue(operator.check())
