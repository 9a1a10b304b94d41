"""Programs that their node ends, or that fail: what both kinds make of it, and say of it."""

import copy
import json

from cluster import SHELL_IMAGE
from main_job import ENDLESS_STEPS, LONG_LIMIT_S, MainJobUnderFault
from scenario import CONTAINER_SECURITY, POD_SECURITY, Scenario

# With it a trainer takes some 60 MB; without its first batch it has 25.
LARGE_BATCH = 5000
TOO_LITTLE, ENOUGH = "32Mi", "1Gi"
KILLED_FOR_MEMORY = "exit code 137 (OOMKilled)"


class OutOfMemoryTest(MainJobUnderFault):
    """The kernel kills workers of the bundled trainer at their first step."""

    pod_security = "baseline"
    # The chief, which trains alone while its workers are killed, makes few of them with its share.
    steps = 500
    chiefs_share = {"requests": {"cpu": "10m"}, "limits": {"cpu": "50m"}}

    def limits(self, memory):
        return {"spec": {"containers": [
            {"name": "trainer", "resources": {"limits": {"memory": memory}}}]}}

    def check_history(self, status, *causes):
        ends = {(end["role"], end["cause"], end["exitCode"]) for end in status["history"]}
        self.assertTrue(ends & {("worker", cause, 137) for cause in causes}, ends)

    def told(self):
        """The status, once both workers have come back and their end stands in the message."""
        status = self.status("mnist")
        often = status.get("restarts", {}).get("outOfMemory", 0) > 2
        return status if often and KILLED_FOR_MEMORY in status.get("message", "") else None

    def has_enough(self, worker):
        return self.k("get", "pod", worker, "--ignore-not-found", "-o", "jsonpath={.status.phase} "
                      "{.spec.containers[0].resources.limits.memory}") == "Running " + ENOUGH

    def test_workers_come_back_until_they_are_given_enough_and_no_budget_is_used(self):
        job = self.read("mnist")
        trainer, roles = job["spec"]["trainer"], job["spec"]["roles"]
        # What takes the memory is the batch; the layer only takes time.
        trainer.update(batchSize=LARGE_BATCH, maxSteps=self.steps)
        trainer["model"]["hidden"] = [100]
        trainer["optimizer"]["learningRate"] = 0.5
        roles["chief"]["resources"] = self.chiefs_share
        roles["worker"]["template"] = self.limits(TOO_LITTLE)
        job["spec"]["backoffLimit"] = 0
        self.submit(job)
        status = self.wait_for("the cause in the message", self.told)
        self.assertRegex(status["message"], r"^worker-[01] .* times in a row and starts again at")
        self.assertEqual(status["state"], "Restarting")
        self.check_history(status, "outOfMemory")
        self.wait_for("steps that the chief makes without them", lambda: self.step("mnist"))
        change = {"spec": {"roles": {"worker": {"template": self.limits(ENOUGH)}}}}
        self.k("patch", "tj", "mnist", "--type=merge", "-p", json.dumps(change))
        self.wait_for("workers with enough", lambda: self.has_enough("mnist-worker-0") and
                      self.has_enough("mnist-worker-1"))
        status = self.wait_for("all to run", self.all_run)
        self.check_survived(status["restarts"])

    def all_run(self):
        status = self.status("mnist")
        return status if (status["state"], status["ready"]) == ("Running", "5/5") else None

    def test_a_tfjob_s_budget_is_used_up_and_it_fails_with_the_cause(self):
        job = self.read("tfjob")
        replicas = job["spec"]["tfReplicaSpecs"]
        # One text in the file is the template of all.
        worker = replicas["Worker"]["template"] = copy.deepcopy(replicas["Worker"]["template"])
        (container,) = worker["spec"]["containers"]
        container["resources"] = {"limits": {"memory": TOO_LITTLE}}
        (variable,) = container["env"]
        trainer = {**json.loads(variable["value"]), "batchSize": LARGE_BATCH,
                   "maxSteps": ENDLESS_STEPS}
        trainer["model"]["hidden"] = [500]
        for each in replicas.values():
            (own,) = each["template"]["spec"]["containers"]
            own["env"] = [{**variable, "value": json.dumps(trainer)}]
        job["spec"]["runPolicy"]["backoffLimit"] = 2
        self.submit(job)
        status = self.await_end("tfjob", "tfjob", LONG_LIMIT_S)
        # Of a container that is killed as soon as it starts containerd may not hear the reason, and
        # nobody else after it.
        causes = ("outOfMemory", "killed")
        self.assertRegex(status["message"], r"^worker-[01] failed again after 1 restart .* "
                         "backoffLimit is 2: exit code 137")
        self.assertIn((status["state"], status["restarts"]),
                      [("Failed", {cause: 1}) for cause in causes])
        self.assertEqual(status["conditions"][-1]["type"], "Failed")
        self.check_history(status, *causes)
        self.wait_for("the others to be gone", lambda: not self.pod_uid("tfjob-chief-0") and
                      not self.pod_uid("tfjob-ps-0"))


class OwnProgramTest(Scenario):
    """A program that a node ends once, as a replica of both kinds."""

    def template(self, program, **more):
        container = {
            "image": SHELL_IMAGE,
            # The second pod of a replica has nothing to do.
            "command": ["sh", "-c", f'[ "$TAAS_POD_NUMBER" = 1 ] && {{ {program}; }}; echo enough'],
            "securityContext": CONTAINER_SECURITY,
            **more,
        }
        return {"spec": {"securityContext": POD_SECURITY, "containers": [container]}}

    def check_both_kinds_come_back(self, template, restarts):
        self.kubectl.create(self.job_of_kind("tj", template), self.job_of_kind("tfjob", template))
        for kind in ("tj", "tfjob"):
            with self.subTest(kind):
                self.assertEqual(self.await_success("own-" + kind, kind)["restarts"], restarts)

    def job_of_kind(self, kind, template):
        """A job of one worker."""
        (container,) = template["spec"]["containers"]
        container = {**container, "name": "trainer" if kind == "tj" else "tensorflow"}
        worker = {"replicas": 1,
                  "template": {"spec": {**template["spec"], "containers": [container]}}}
        meta = {"name": "own-" + kind, "namespace": self.namespace}
        if kind == "tj":
            return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": meta,
                    "spec": {"roles": {"worker": worker}}}
        worker["restartPolicy"] = "ExitCode"
        return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": meta,
                "spec": {"tfReplicaSpecs": {"Worker": worker}}}

    def test_that_ran_out_of_memory(self):
        # containerd looks out for it a moment after the start, and may tell of a container's end
        # before it has heard of the reason; then the kubelet gives none.
        self.check_both_kinds_come_back(
            self.template("sleep 1; tail /dev/zero; code=$?; sleep 1; exit $code",
                          resources={"limits": {"memory": "32Mi"}}),
            {"outOfMemory": 1})

    def test_that_failed_for_good_is_read_with_kubectl_afterwards(self):
        words = "no such file: /data/train"
        template = self.template(f"echo {words}; exit 1")
        self.kubectl.create(self.job_of_kind("tj", template), self.job_of_kind("tfjob", template))
        for kind in ("tj", "tfjob"):
            with self.subTest(kind):
                self.k("wait", f"{kind}/own-{kind}", "--for=jsonpath={.status.state}=Failed",
                       f"--timeout={LONG_LIMIT_S}s")
                self.assertEqual(self.k("logs", f"own-{kind}-worker-0").strip(), words)
                described = self.k("describe", kind, "own-" + kind)
                self.assertRegex(described, r"(?s)Status:.*exit code 1.*Events:.*Failed")

    def test_that_wrote_more_than_its_volume_may_hold(self):
        template = self.template(
            "dd if=/dev/zero of=/scratch/file bs=1M count=8; exec sleep 3600",
            volumeMounts=[{"name": "scratch", "mountPath": "/scratch"}])
        template["spec"]["volumes"] = [{"name": "scratch", "emptyDir": {"sizeLimit": "1Mi"}}]
        self.check_both_kinds_come_back(template, {"preempted": 1})
