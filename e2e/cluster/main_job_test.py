"""The main job and all examples in real pods: what they learn, what they say, what they survive."""

import glob
import json
import os
import signal
import time

import programs
import taas
from main_job import (ACCURACY, ENDLESS_STEPS, LONG_LIMIT_S, LONG_STEPS, REPLICAS, SHARE, LongJob,
                      MainJobUnderFault)
from scenario import Scenario
from waiting import LIMIT_S

# Twice as long as a lease lasts.
OUTAGE_S = 30
LEASE_LOST_EXIT_CODE = 75
STEP_LINE = r"step \d+, loss = \d+\.\d+ \(\d+\.\d examples/sec; \d+\.\d+ sec/batch\)"
# Images of users and TFJobs keep their own security context, which may be none.
OWN_SECURITY = {"own-image", "tfjob"}
# Gives its reader time to scale it: as many steps as it learns in.
SHORTER = {"all-reduce-elastic": ("maxSteps: 50000", "maxSteps: 500")}
# It trains nothing.
WITHOUT_ACCURACY = {"own-image"}


class MainJobTest(Scenario):

    lane = "training"

    def test_learns_over_dns_names_and_answers_kubectl(self):
        self.make_example_claims()
        self.apply_example("mnist")
        # A second apply of the same file changes nothing.
        generation = self.job("mnist")["metadata"]["generation"]
        self.apply_example("mnist")
        self.assertEqual(self.job("mnist")["metadata"]["generation"], generation)
        self.k("wait", "--for=condition=Succeeded", "tj/mnist", f"--timeout={LIMIT_S}s")
        status = self.await_success("mnist")
        self.assertEqual(status["progress"]["step"], 2000)
        self.assertGreaterEqual(status["progress"]["evaluation"]["accuracy"], ACCURACY)
        self.assertNotIn("restarts", status)
        environment = self.k("get", "pod", "mnist-worker-1", "-o",
                             "jsonpath={.spec.containers[0].env[?(@.name=='TF_CONFIG')].value}")
        for replica in REPLICAS:
            self.assertIn(f'"mnist-{replica}.mnist.{self.namespace}.svc:2222"', environment)
        self.assertRegex(self.k("logs", "mnist-chief-0"), STEP_LINE)
        described = self.k("describe", "tj", "mnist")
        self.assertRegex(described, "PodsCreated .* created 5 pods \\(1 chief, 2 ps, 2 worker\\)")
        self.assertRegex(self.k("get", "tj"), r"mnist +Succeeded")
        with self.mounted("mnist-out") as pod:
            self.assertIn("model.ckpt-2000.index", pod.run("ls", "/claim/checkpoints"))
            self.use("export", "--format", "safetensors", "--to", "/out/model.safetensors")
            self.assertIn("model.safetensors", pod.run("ls", "/claim"))
        result = json.loads(self.use("eval", "-o", "json"))
        self.assertEqual(result["step"], 2000)
        self.assertAlmostEqual(result["accuracy"], status["progress"]["evaluation"]["accuracy"],
                               places=5)
        rows = "".join(json.dumps([0.5] * 784) + "\n" for _ in range(3))
        said = self.use("predict", "--input", "-", stdin=rows).splitlines()
        self.assertEqual([len(json.loads(line)["probabilities"]) for line in said], [10] * 3)
        # Pods under the strictest Pod Security, which no operator took for replicas.
        self.assertEqual(self.status("mnist")["attempt"], status["attempt"])
        self.assertNotIn("restarts", self.status("mnist"))
        self.wait_for("the end of what was made", lambda: not self.json(
            "get", "pods,configmaps", "-l", "taas.dev/use-of=mnist")["items"])

    def use(self, verb, *arguments, stdin=None):
        """What a verb of `taas` says of the job's trained model."""
        return self.kubectl.run(programs.ours("taas"), verb, "mnist", "-n", self.namespace,
                                *arguments, stdin=stdin).stdout

    def test_every_example_succeeds_and_learns(self):
        self.make_example_claims()
        names = {os.path.splitext(os.path.basename(path))[0]
                 for path in glob.glob(os.path.join(programs.TREE, "examples", "*.yaml"))}
        self.assertGreaterEqual(len(names), 9)
        for name in sorted(names - OWN_SECURITY - {"mnist"}):
            with self.subTest(name):
                self.apply_shorter(name)
                self.check_learned(name, self.await_success(name))
                if name == "evaluator":
                    # The chief measures the last step, too; this is who measured it besides.
                    self.assertIn("evaluation at step 2000", self.k("logs", name + "-evaluator-0"))
                # Its claim is free for the next, and so are the cores.
                self.k("delete", "tj", name)

    def apply_shorter(self, name):
        with open(self.example(name), encoding="utf-8") as file:
            text = file.read()
        old, new = SHORTER.get(name, ("", ""))
        self.assertIn(old, text)
        self.k("apply", "-f", "-", stdin=text.replace(old, new) if old else text)

    def check_learned(self, name, status):
        if name not in WITHOUT_ACCURACY:
            accuracy = status["progress"]["evaluation"]["accuracy"]
            self.assertGreaterEqual(accuracy, ACCURACY)


class OwnSecurityTest(Scenario):

    lane = "training"
    pod_security = "baseline"

    def test_own_image_and_tfjob_run_where_their_security_context_is_admitted(self):
        self.make_example_claims()
        self.apply_example("own-image")
        self.await_success("own-image")
        self.apply_example("tfjob")
        status = self.await_success("tfjob", "tfjob")
        self.assertEqual(status["conditions"][-1]["type"], "Succeeded")
        self.assertGreaterEqual(status["progress"]["evaluation"]["accuracy"], ACCURACY)


class RefusedByAdmissionTest(Scenario):

    def test_a_refusal_stands_in_the_message_of_both_kinds(self):
        self.make_example_claims()
        for name, kind in (("own-image", "tj"), ("tfjob", "tfjob")):
            with self.subTest(name):
                self.apply_example(name)
                self.wait_for("the words of Pod Security", lambda: "violates PodSecurity" in
                              self.status(name, kind).get("message", ""))


class LiveTest(LongJob):

    steps = ENDLESS_STEPS

    def test_progress_and_message_are_live(self):
        # Without one of its claims the pods wait, and the job says for what.
        self.make_claim("mnist-data", self.data_folder)
        self.submit(self.long_job())
        self.wait_for("a message that names the claim",
                      lambda: "mnist-out" in self.status("mnist").get("message", ""))
        self.make_claim("mnist-out")
        first = self.wait_for("the first progress", lambda: self.step("mnist"))
        self.wait_for("more progress", lambda: self.step("mnist") > first)
        status = self.status("mnist")
        self.assertEqual((status["state"], status["ready"]), ("Running", "5/5"))
        self.assertEqual(status.get("message", ""), "")
        self.end_soon()
        self.await_success("mnist", limit_s=LONG_LIMIT_S)

    def end_soon(self):
        """No machine is done with so many steps while somebody looks: now they are made fewer."""
        self.change({"suspend": True})
        self.wait_for("the job to rest", lambda: self.status("mnist")["state"] == "Suspended")
        self.change({"suspend": False, "trainer": {"maxSteps": self.step("mnist") + LONG_STEPS}})

    def change(self, spec):
        self.k("patch", "tj", "mnist", "--type=merge", "-p", json.dumps({"spec": spec}))


class SurvivalTest(MainJobUnderFault):

    def test_eviction_of_a_worker(self):
        self.start()
        before = self.pod_uid("mnist-worker-0")
        self.kubectl("create", "--raw",
                     f"/api/v1/namespaces/{self.namespace}/pods/mnist-worker-0/eviction",
                     "-f", "-", stdin='{"apiVersion": "policy/v1", "kind": "Eviction", '
                     f'"metadata": {{"name": "mnist-worker-0", "namespace": "{self.namespace}"}}}}')
        self.await_successor("mnist-worker-0", before)
        self.check_survived({"preempted": 1})

    def test_deletion_of_a_pod_of_each_role(self):
        self.start()
        for number, replica in enumerate(("mnist-worker-1", "mnist-ps-1", "mnist-chief-0"), 1):
            before = self.pod_uid(replica)
            self.k("delete", "pod", replica, "--wait=false")
            self.await_successor(replica, before)
            self.wait_for("the count", lambda n=number: self.status("mnist").get("restarts") ==
                          {"preempted": n})
        self.check_survived({"preempted": 3})

    def test_scaling_up_and_down(self):
        self.start()
        self.k("scale", "tj/mnist", "--replicas=3")
        self.wait_for("the third worker", lambda: self.is_running("mnist-worker-2"))
        self.wait_for("its readiness", lambda: self.status("mnist").get("ready") == "6/6")
        self.k("scale", "tj/mnist", "--replicas=2")
        self.wait_for("the end of its pod", lambda: not self.pod_uid("mnist-worker-2"))
        self.check_survived({})


class RestartOfTheJobTest(MainJobUnderFault):

    def test_all_begin_again_from_the_last_checkpoint(self):
        job = self.long_job()
        job["spec"]["restartScope"] = "Job"
        job["spec"]["trainer"]["checkpoint"]["everySeconds"] = 1
        self.submit(job)
        self.await_training("mnist")
        with self.mounted("mnist-out") as pod:
            self.wait_for("a checkpoint", lambda: "model.ckpt-" in pod.run(
                "sh", "-c", "ls /claim/checkpoints/*.index 2>&1 || true"))
        before = self.pod_uids()
        self.k("delete", "pod", "mnist-worker-1", "--wait=false")
        for replica in REPLICAS:
            self.await_successor("mnist-" + replica, before[replica])
        self.await_training("mnist")
        self.assertRegex(self.k("logs", "mnist-chief-0"), r"resuming from checkpoint.*step=[1-9]")
        self.check_survived({"preempted": 1})
        self.assertEqual(self.status("mnist")["attempt"], 2)


class WithoutOperatorTest(MainJobUnderFault):

    alone = True

    def test_deletion_of_the_operator(self):
        self.start()
        pods = self.pod_uids()
        self.kubectl("delete", "pod", "-l", taas.OPERATOR, "-n", taas.NAMESPACE)
        before = self.step("mnist")
        self.wait_for("progress that the next operator writes",
                      lambda: self.step("mnist") > before)
        self.assertEqual(self.pod_uids(), pods)
        self.check_survived({})


class WithoutApiServerTest(MainJobUnderFault):

    needs = ("components", "node")
    alone = True
    steps = ENDLESS_STEPS

    def test_an_outage_beyond_the_lease_costs_the_leader_its_process_and_no_pod_anything(self):
        self.start()
        self.wait_for("progress", lambda: self.step("mnist"))
        pods, operators, before = self.pod_uids(), self.operators(), self.step("mnist")
        server = self.cluster.plane.components["kube-apiserver"]
        server.kill()
        over = time.monotonic() + OUTAGE_S
        self.wait_for("the outage", lambda: time.monotonic() >= over)
        server.start()
        self.cluster.plane.await_ready()
        back = time.monotonic()
        step = self.step("mnist")  # Nobody could write it meanwhile, or a last time at the end.
        self.wait_for("progress that the next leader writes", lambda: self.step("mnist") > step)
        print(f"a leader {time.monotonic() - back:.1f} s after an outage of {OUTAGE_S} s, in which "
              f"the job made {self.step('mnist') - before} steps", flush=True)
        self.assertEqual(self.pod_uids(), pods)
        self.assertEqual(self.status("mnist").get("restarts", {}), {})
        (ended,) = self.wait_for("a kubelet's word of the one that ended",
                                 lambda: self.started_again_since(operators))
        self.assertEqual(ended["lastState"]["terminated"]["exitCode"], LEASE_LOST_EXIT_CODE)

    def started_again_since(self, before):
        return [state for name, state in self.operators().items()
                if state["restartCount"] != before[name]["restartCount"]]

    def operators(self):
        """The state of each operator's container, by pod."""
        found = self.kubectl.json("get", "pods", "-n", taas.NAMESPACE, "-l", taas.OPERATOR)
        return {pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]
                for pod in found["items"]}


class ProcessTest(MainJobUnderFault):

    needs = ("node",)
    steps = 3 * LONG_STEPS

    def process_of(self, role, index):
        (pid,) = self.cluster.sandbox.processes(
            TAAS_JOB=f"{self.namespace}/mnist", TAAS_ROLE=role, TAAS_INDEX=str(index))
        return pid

    def test_kill_9_of_a_process_of_each_role(self):
        self.start()
        for number, (role, index) in enumerate((("worker", 1), ("ps", 1), ("chief", 0)), 1):
            pod = f"mnist-{role}-{index}"
            before = self.pod_uid(pod)
            os.kill(self.process_of(role, index), signal.SIGKILL)
            self.await_successor(pod, before)
            self.wait_for("the count", lambda n=number: self.status("mnist").get("restarts") ==
                          {"killed": n})
        self.check_survived({"killed": 3})


class TfJobUnderFaultTest(MainJobUnderFault):

    needs = ("node",)
    pod_security = "baseline"

    def long_job(self):
        """With a checkpoint in each second."""
        job = self.read("tfjob")
        template = job["spec"]["tfReplicaSpecs"]["Chief"]["template"]  # That of all, in the file.
        (container,) = template["spec"]["containers"]
        container["resources"] = SHARE
        container["volumeMounts"].append({"name": "out", "mountPath": "/out"})
        template["spec"]["volumes"].append(
            {"name": "out", "persistentVolumeClaim": {"claimName": "mnist-out"}})
        (variable,) = container["env"]
        trainer = json.loads(variable["value"])
        trainer.update(maxSteps=self.steps, checkpoint={"dir": "/out/tfjob", "everySeconds": 1})
        variable["value"] = json.dumps(trainer)
        return job

    def test_kill_9_of_a_worker_and_deletion_of_the_parameter_server(self):
        self.submit(self.long_job())
        # The chief waits for no worker.
        self.wait_for("steps of a worker", lambda: self.steps_logged("tfjob-worker-1"))
        before = self.pod_uid("tfjob-worker-1")
        (process,) = self.cluster.sandbox.processes(
            TAAS_JOB=f"{self.namespace}/tfjob", TAAS_ROLE="worker", TAAS_INDEX="1")
        os.kill(process, signal.SIGKILL)
        self.await_successor("tfjob-worker-1", before)
        self.wait_for("the count", lambda: self.status("tfjob", "tfjob").get("restarts") ==
                      {"killed": 1})
        before = self.pod_uid("tfjob-ps-0")
        self.k("delete", "pod", "tfjob-ps-0", "--wait=false")
        self.await_successor("tfjob-ps-0", before)
        status = self.await_success("tfjob", "tfjob", LONG_LIMIT_S)
        self.assertEqual(status["restarts"], {"killed": 1, "preempted": 1})
        self.assertEqual(status["progress"]["step"], self.steps)
        self.assertEqual(status["conditions"][-1]["type"], "Succeeded")


class DrainTest(MainJobUnderFault):

    needs = ("node",)
    alone = True

    def test_drain_of_the_node(self):
        self.start()
        node = self.k("get", "pod", "mnist-chief-0", "-o", "jsonpath={.spec.nodeName}")
        try:
            self.k("drain", node, "--pod-selector=taas.dev/job-name=mnist", "--ignore-daemonsets",
                   "--delete-emptydir-data", "--timeout=120s")
            self.wait_for("the scheduler's words in the message", lambda: "unschedulable" in
                          self.status("mnist").get("message", ""))
        finally:
            self.kubectl("uncordon", node)
        self.check_survived({"preempted": 5})
