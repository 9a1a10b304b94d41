"""Jobs whose list of replicas is kept in a ConfigMap: what a program on a real node sees of it."""

import json

from fake_nodes import ON_A_REAL_NODE, ON_FAKE_NODES
from fault_jobs import suspend_patch
from scenario import CONTAINER_SECURITY, POD_SECURITY, SHELL_IMAGE, Scenario

WORKERS = 100
# Of a length with which the list of so many is too long for each pod.
PADDING = "-" + "x" * 44
SAYS_WHAT_IT_SEES = ["sh", "-c", 'echo "$TF_CONFIG"; exec sleep 3600']


class LargeJobTest(Scenario):

    needs = ("fake nodes",)

    def template(self, container, place, command):
        # With none the pod would be gone before its node has forgotten what it refers to.
        return {"spec": {**place, "securityContext": POD_SECURITY,
                         "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": container, "image": SHELL_IMAGE,
                                         "command": command,
                                         "securityContext": CONTAINER_SECURITY}]}}

    def roles(self, container, *keys):
        chief, worker = keys
        return {
            chief: {"replicas": 1, "restartPolicy": "ExitCode", "template": self.template(
                container, ON_A_REAL_NODE, SAYS_WHAT_IT_SEES)},
            worker: {"replicas": WORKERS, "restartPolicy": "ExitCode", "template": self.template(
                container, ON_FAKE_NODES, ["true"])},
        }

    def hosts(self, job, role, count, domain):
        return [f"{job}-{role}-{index}.{domain}.svc:2222" for index in range(count)]

    def text(self, job, domain):
        """TF_CONFIG of the chief, to the letter."""
        return json.dumps({
            "cluster": {"chief": self.hosts(job, "chief", 1, domain),
                        "worker": self.hosts(job, "worker", WORKERS, domain)},
            "task": {"type": "chief", "index": 0}, "environment": "cloud"}, separators=(",", ":"))

    def await_seen(self, job, wanted):
        pod = job + "-chief-0"
        self.wait_for(f"{pod} to run", lambda: self.is_running(pod))
        self.wait_for(f"TF_CONFIG in the log of {pod}",
                      lambda: self.k("logs", pod, check=False).strip() == wanted)

    def config_map(self, job):
        (found,) = self.json("get", "configmap", "-l", "taas.dev/job-name=" + job)["items"]
        return found["metadata"]

    def suspend(self, job, kind, suspended):
        self.k("patch", kind, job, "--type=merge", "-p", json.dumps(
            suspend_patch(kind, suspended)))

    def lose_list(self, job, kind, wanted):
        """The node of a job without pods has forgotten its ConfigMap; then nobody has it."""
        before = self.config_map(job)
        pod = job + "-chief-0"
        self.suspend(job, kind, True)
        self.wait_for(f"the end of {pod}", lambda: not self.pod_uid(pod))
        self.k("delete", "configmap", before["name"])
        self.suspend(job, kind, False)
        self.await_seen(job, wanted)
        after = self.config_map(job)
        self.assertEqual(after["name"], before["name"])
        self.assertNotEqual(after["uid"], before["uid"])

    def test_the_program_sees_the_whole_text_and_also_after_the_list_was_lost(self):
        own, theirs = "own" + PADDING, "tf" + PADDING
        self.kubectl.create(
            {"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
             "metadata": {"name": own, "namespace": self.namespace},
             "spec": {"roles": self.roles("trainer", "chief", "worker")}},
            {"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
             "metadata": {"name": theirs, "namespace": self.namespace},
             "spec": {"tfReplicaSpecs": self.roles("tensorflow", "Chief", "Worker")}})
        wanted = {own: self.text(own, f"{own}.{self.namespace}"),
                  theirs: self.text(theirs, self.namespace)}
        for job, text in wanted.items():
            self.await_seen(job, text)
            for pod in (job + "-chief-0", job + "-worker-7"):
                self.assertNotIn(job + "-worker-11", self.k("get", "pod", pod, "-o", "yaml"))
        self.lose_list(own, "tj", wanted[own])
        self.lose_list(theirs, "tfjob", wanted[theirs])
        self.k("delete", "tj,tfjob", "--all")
        self.wait_for("the garbage collector", lambda: not self.json(
            "get", "configmap", "-l", "taas.dev/job-name")["items"])
