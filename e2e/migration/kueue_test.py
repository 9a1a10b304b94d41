"""TFJobs under Kueue: the test does what Kueue's integration of TFJob does, on a real cluster.

Kueue suspends a job when it is created, puts a node selector, labels and annotations of the flavor
that it chose into the templates and lets it go in one update; takes it back by suspending it and
restoring the templates; and reads conditions, counts and pods by the labels that TFJobs have.
"""

import json

from cluster import SHELL_IMAGE
from kubectl import CommandFailed
from scenario import Scenario

TFJOB = "tfjobs.kubeflow.org"
# Labels that every node has: two flavors that the same node is of.
FLAVORS = ({"kubernetes.io/os": "linux"}, {"kubernetes.io/arch": "amd64"})
WORKLOAD = "kueue.x-k8s.io/workload"
PODSET = "kueue.x-k8s.io/podset"
MANAGED_BY = "kueue.x-k8s.io/multikueue"
# Kueue orders its queue by it, so the class is there.
PRIORITY = "taas-e2e-high"
PODS = ["queued-ps-0", "queued-worker-0", "queued-worker-1"]
REPLICAS = {"PS": 1, "Worker": 2}


def tf_job(name, program, **run_policy):
    template = {"spec": {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "tensorflow", "image": SHELL_IMAGE,
                        "command": ["sh", "-c", program]}],
    }}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "team-a"}},
        "spec": {
            "runPolicy": {
                # What the webhook of Kueue sets.
                "suspend": True,
                "schedulingPolicy": {"priorityClass": PRIORITY, "queue": "team-a"},
                **run_policy,
            },
            "tfReplicaSpecs": {
                role: {"replicas": count, "restartPolicy": "OnFailure", "template": template}
                for role, count in REPLICAS.items()
            },
        },
    }


class KueueTest(Scenario):

    pod_security = "baseline"

    @classmethod
    def setUpClass(cls):
        cls.cluster.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                   "metadata": {"name": PRIORITY}, "value": 1})

    @classmethod
    def tearDownClass(cls):
        cls.cluster.kubectl("delete", "priorityclass", PRIORITY)

    def submit(self, job):
        self.kubectl.create({**job, "metadata": {**job["metadata"],
                                                 "namespace": self.namespace}})

    def update(self, name, change):
        """Reads, changes and writes the whole object, as a controller with typed objects does."""
        for _ in range(20):
            job = self.job(name, "tfjob")
            change(job)
            try:
                self.k("replace", "-f", "-", stdin=json.dumps(job))
                return
            except CommandFailed as error:
                # Somebody wrote it meanwhile.
                if "Conflict" not in error.stderr and "modified" not in error.stderr:
                    raise
        self.fail(f"{name} could not be written")

    def admit(self, name, flavor):
        def change(job):
            job["spec"]["runPolicy"]["suspend"] = False
            for role, spec in job["spec"]["tfReplicaSpecs"].items():
                metadata = spec["template"].setdefault("metadata", {})
                metadata.setdefault("labels", {})[PODSET] = role.lower()
                metadata.setdefault("annotations", {})[WORKLOAD] = "tfjob-" + name
                spec["template"]["spec"]["nodeSelector"] = flavor
        self.update(name, change)

    def evict(self, name):
        def change(job):
            job["spec"]["runPolicy"]["suspend"] = True
            for spec in job["spec"]["tfReplicaSpecs"].values():
                del spec["template"]["metadata"]
                del spec["template"]["spec"]["nodeSelector"]
        self.update(name, change)

    # What Kueue reads.

    def pods(self, name):
        return self.json("get", "pods", "-l", "training.kubeflow.org/operator-name="
                         f"tfjob-controller,training.kubeflow.org/job-name={name}")["items"]

    def holds(self, name, condition):
        return any(found["type"] == condition and found["status"] == "True"
                   for found in self.status(name, "tfjob").get("conditions", []))

    def is_active(self, name):
        counts = self.status(name, "tfjob").get("replicaStatuses", {})
        return any(count.get("active", 0) for count in counts.values())

    def check_running(self, name, flavor):
        self.wait_for("all pods to be ready, as Kueue sees it", lambda: self.holds(name, "Running"))
        self.assertFalse(self.holds(name, "Suspended"))
        self.wait_for("active replicas", lambda: self.is_active(name))
        found = self.pods(name)
        self.assertEqual(sorted(pod["metadata"]["name"] for pod in found), PODS)
        for pod in found:
            role = pod["metadata"]["labels"]["training.kubeflow.org/replica-type"]
            self.assertEqual(pod["metadata"]["labels"][PODSET], role)
            self.assertEqual(pod["metadata"]["annotations"][WORKLOAD], "tfjob-" + name)
            self.assertEqual(pod["spec"]["nodeSelector"], flavor)
            self.assertNotIn("schedulingGates", pod["spec"])

    def test_a_queued_job_waits_runs_where_it_is_told_is_taken_back_and_ends(self):
        # A shell that is process 1 must ask for a signal.
        self.submit(tf_job("queued", "trap 'exit 0' TERM; while :; do sleep 0.2; done"))
        self.wait_for("it to be suspended", lambda: self.holds("queued", "Suspended"))
        self.assertEqual(self.pods("queued"), [])
        self.assertFalse(self.is_active("queued"))
        self.admit("queued", FLAVORS[0])
        self.check_running("queued", FLAVORS[0])
        first = {pod["metadata"]["uid"] for pod in self.pods("queued")}

        self.evict("queued")
        self.wait_for("it to be suspended again", lambda: self.holds("queued", "Suspended"))
        self.wait_for("the end of its pods", lambda: not self.pods("queued"))
        self.wait_for("nothing to be active", lambda: not self.is_active("queued"))
        self.assertFalse(self.holds("queued", "Running"))
        self.admit("queued", FLAVORS[1])
        self.check_running("queued", FLAVORS[1])
        self.assertFalse(first & {pod["metadata"]["uid"] for pod in self.pods("queued")})

        self.k("exec", "queued-worker-0", "--", "kill", "1")
        self.wait_for("its end", lambda: self.holds("queued", "Succeeded"))

    def test_a_job_of_another_cluster_is_left_to_multikueue(self):
        self.submit(tf_job("remote", "true", managedBy=MANAGED_BY, suspend=False))
        self.submit(tf_job("local", "true", suspend=False))
        # It mirrors the status of the cluster where the job runs.
        status = {"conditions": [{"type": "Created", "status": "True", "reason": "TFJobCreated",
                                  "message": "elsewhere"}],
                  "replicaStatuses": {"Worker": {"active": 2}}}
        self.k("patch", TFJOB, "remote", "--subresource=status", "--type=merge", "-p",
               json.dumps({"status": status}))
        self.wait_for("the end of a job that came later", lambda: self.holds("local", "Succeeded"))
        self.assertEqual(self.pods("remote"), [])
        self.assertEqual(self.status("remote", "tfjob"), status)

    def test_a_job_may_not_change_who_manages_it(self):
        self.submit(tf_job("remote", "true", managedBy=MANAGED_BY, suspend=False))
        with self.assertRaises(CommandFailed) as refused:
            self.k("patch", TFJOB, "remote", "--type=merge", "-p", json.dumps(
                {"spec": {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}}}))
        self.assertIn("spec.runPolicy.managedBy", refused.exception.stderr)
