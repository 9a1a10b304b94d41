"""A cluster with training-operator and its jobs moves to TaaS, and back, by the words of the guide.

What moves is at work: its pods keep their uids, no replica is started twice, what has ended stays
as it ended. The cluster is one of its own, since definitions and webhooks belong to all of one.
"""

import os
import tempfile

import audit
import peer
import programs
import rights
import taas
from cluster import SHELL_IMAGE, Cluster
from guide import Guide
from scenario import Scenario
from waiting import LIMIT_S

GUIDE = "docs/migrate-from-kubeflow.md"
CLAIM = "state"
# Says who started, then runs until the file is there: a job is let go when the test wants it.
STARTED = "hostname >>/state/started"
WORK = STARTED + "; until [ -e /state/go-{job} ]; do sleep 0.2; done"
SERVE = STARTED + "; while :; do sleep 1; done"
TFJOB = "tfjobs.kubeflow.org"
TFJOB_WEBHOOK = "validator.tfjob.training-operator.kubeflow.org"


def template(program, job, container_name="tensorflow"):
    container = {
        "name": container_name,
        "image": SHELL_IMAGE,
        "command": ["sh", "-c", program.format(job=job)],
        "volumeMounts": [{"name": CLAIM, "mountPath": "/state"}],
    }
    volume = {"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}
    return {"spec": {"containers": [container], "volumes": [volume],
                     "terminationGracePeriodSeconds": 1}}


def tf_job(name, roles, suspend=False, policy="Never", **spec):
    """`roles` has for each how many, and what they run."""
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running", "suspend": suspend},
            "tfReplicaSpecs": {
                role: {"replicas": count, "restartPolicy": policy,
                       "template": template(program, name)}
                for role, (count, program) in roles.items()
            },
            **spec,
        },
    }


def pytorch_job(name):
    """Of a kind that stays with the other controller."""
    master = {"replicas": 1, "restartPolicy": "Never",
              "template": template(WORK, name, "pytorch")}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"pytorchReplicaSpecs": {"Master": master}}}


# Worker 1 has completed when the job moves; worker 0, at whose end the job ends, has not.
FIRST_WORKER_WORKS = 'case $(hostname) in *-0) ' + WORK + ";; *) " + STARTED + ";; esac"
# The first of each fails, in a way that is tried again, when it is told to; the next works.
FAIL_ONCE = ("if [ -e /state/$(hostname) ]; then " + WORK.partition("; ")[2] + "; exit 0; fi; "
             "touch /state/$(hostname); until [ -e /state/fail-{job} ]; do sleep 0.2; done; "
             "exit 130")
# What happens to it while nobody looks at TFJobs is not what happens to the others.
GAP = "gap"
GAP_JOB = tf_job(GAP, {"Chief": (1, WORK), "Worker": (2, STARTED + "; " + FAIL_ONCE)},
                 policy="ExitCode")
# Taken, and run, by training-operator; TaaS would refuse it.
ODD = GAP + "-odd"
ODD_JOB = tf_job(ODD, {"Worker": (1, WORK)}, successPolicy="ChiefOnly")
JOBS = (
    tf_job("steady", {"Chief": (1, WORK), "PS": (1, SERVE), "Worker": (2, WORK)}),
    tf_job("partly", {"Worker": (2, FIRST_WORKER_WORKS)}, successPolicy="AllWorkers"),
    tf_job("done", {"Worker": (1, STARTED)}),
    tf_job("failed", {"Worker": (1, STARTED + "; exit 1")}),
    tf_job("paused", {"Worker": (1, STARTED)}, suspend=True),
)
STEADY = {"steady-chief-0", "steady-ps-0", "steady-worker-0", "steady-worker-1"}
AT_WORK = STEADY | {"partly-worker-0"}
STATES = {"steady": "Running", "partly": "Running", "done": "Succeeded", "failed": "Failed",
          "paused": "Suspended"}
REPLICAS = STEADY | {"partly-worker-0", "partly-worker-1", "done-worker-0", "failed-worker-0"}


class MigrationTest(Scenario):

    needs = ("components", "node")
    shared = False
    # It takes two minutes, most of which it waits, and so begins among the first.
    lane = "migration"
    pod_security = "baseline"

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        try:
            peer.install(cls.cluster)
            taas.load_images(cls.cluster.node)
            peer.await_ready(cls.cluster.kubectl)
        except BaseException:
            cls.cluster.keep_logs()
            raise

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="taas-e2e-guide-"))
        self.guide = Guide(GUIDE, self.cluster.kubeconfig, folder)
        self.make_claim(CLAIM)
        self.shell = self.enterContext(self.mounted(CLAIM))

    def keep_traces(self):
        super().keep_traces()
        self.cluster.keep_logs()

    # What is seen of jobs and pods.

    def submit(self, job):
        text = self.kubectl.create({**job, "metadata": {**job["metadata"],
                                                        "namespace": self.namespace}})
        self.assertIn("created", text)

    def let_go(self, job):
        self.shell.run("touch", f"/claim/go-{job}")

    def conditions(self, job):
        return self.status(job, "tfjob").get("conditions", [])

    def state(self, job):
        """As the SDK and other tools read it: the last condition."""
        return self.conditions(job)[-1]["type"] if self.conditions(job) else None

    def states(self):
        return {job["metadata"]["name"]: job.get("status", {}).get(
            "conditions", [{"type": None}])[-1]["type"] for job in self.json("get", TFJOB)["items"]}

    def await_state(self, job, state):
        self.wait_for(f"{job} to be {state}", lambda: self.state(job) == state)

    def pods(self):
        """By name, uid and phase of the jobs' pods."""
        found = self.json("get", "pods", "-l", "training.kubeflow.org/job-name")["items"]
        return {pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["status"]["phase"])
                for pod in found}

    def started(self, gap=False):
        """Names of replicas, one for each time that one was started: of jobs of GAP, or of all
        others."""
        return sorted(name for name in self.shell.run("cat", "/claim/started").split()
                      if name.startswith(GAP + "-") == gap)

    def labelled(self):
        """Pods and services with our labels."""
        names = self.k("get", "pods,services", "-l", "taas.dev/job-name", "-o", "name").split()
        return {name.partition("/")[2] for name in names}

    def metric(self, name):
        """Its sum over all operators, by the API server's way to their pods."""
        path = f"/api/v1/namespaces/{taas.NAMESPACE}/pods/{{}}:8080/proxy/metrics"
        lines = [line for pod in taas.operators(self.kubectl)
                 for line in self.kubectl("get", "--raw", path.format(pod)).splitlines()]
        return sum(float(line.split()[1]) for line in lines if line.startswith(name + " "))

    # The way.

    def begin_under_the_old_controller(self):
        for job in JOBS:
            self.submit(job)
        self.wait_for("all jobs to be where they shall be", lambda: self.states() == STATES)
        self.wait_for("the end of a worker", lambda: self.pods()["partly-worker-1"][1] ==
                      "Succeeded")
        self.wait_for("all to have started", lambda: self.started() == sorted(REPLICAS))
        self.before = self.pods()
        self.assertLessEqual(REPLICAS, set(self.before))

    def check_undisturbed(self):
        """All pods are those of the beginning, and as far as they were."""
        self.assertEqual(self.pods(), self.before)
        self.assertEqual(self.states(), STATES)
        self.assertEqual(self.started(), sorted(REPLICAS))

    def give_taas_tfjobs_too(self):
        self.kubectl.run(programs.path("helm"), "upgrade", taas.RELEASE, taas.CHART,
                         "--namespace", taas.NAMESPACE, "--reuse-values", "--wait", "--set",
                         "operator.kinds={TrainingJob,TFJob}")

    def refused(self, job):
        return any(condition["type"] == "Refused" for condition in self.conditions(job))

    def check_kept_off(self):
        """With TFJobs given to both controllers, ours touches none that the other began."""
        self.give_taas_tfjobs_too()
        unfinished = ("steady", "partly", "paused")
        self.wait_for("the refusals", lambda: all(
            self.conditions(job)[0]["type"] == "Refused" for job in unfinished))
        self.assertEqual(self.conditions("steady")[0]["reason"], "AnotherController")
        self.wait_for("the metric", lambda: self.metric("taas_tfjobs_of_another_controller") ==
                      len(unfinished))
        self.check_a_new_job_goes_to_the_other_one()
        self.assertEqual(self.labelled(), set())
        self.check_undisturbed()

    def check_a_new_job_goes_to_the_other_one(self):
        self.submit(tf_job("fresh", {"Worker": (1, "true")}))
        self.await_state("fresh", "Succeeded")
        self.assertEqual(self.labelled(), set())
        fresh = self.json("get", TFJOB, "fresh")
        self.assertNotIn(taas.LEDGER, fresh["metadata"].get("annotations", {}))
        self.k("delete", TFJOB, "fresh", "--cascade=foreground")

    def begin_what_will_fail(self):
        self.submit(GAP_JOB)
        self.submit(ODD_JOB)
        self.replicas_of_gap = [f"{GAP}-chief-0", f"{ODD}-worker-0", f"{GAP}-worker-0",
                                f"{GAP}-worker-1"]
        self.wait_for("their replicas", lambda: self.started(gap=True) == self.replicas_of_gap)
        for job in (GAP, ODD):
            self.await_state(job, "Running")
        self.stay = {pod: self.pod_uid(pod) for pod in (f"{GAP}-chief-0", f"{ODD}-worker-0")}

    def fail_while_nobody_looks(self):
        """One ends, another is deleted; both wait."""
        self.k("delete", "pod", f"{GAP}-worker-1")
        self.shell.run("touch", f"/claim/fail-{GAP}")
        self.wait_for("the end of a worker", lambda: self.pods()[f"{GAP}-worker-0"][1] == "Failed")
        self.assertEqual(self.started(gap=True), self.replicas_of_gap)

    def check_what_failed_goes_on(self):
        again = [f"{GAP}-worker-0", f"{GAP}-worker-1"]
        self.wait_for("successors of both", lambda: self.started(gap=True) ==
                      sorted(self.replicas_of_gap + again))
        self.let_go(GAP)
        self.await_state(GAP, "Succeeded")

    def check_what_cannot_be_read_stays(self):
        """The old definition has no place for a message, so the log tells of it."""
        self.wait_for("a word about it", lambda: f"{self.namespace}/{ODD}" in self.log_lines(
            "job cannot be read"))
        self.assertEqual({pod: self.pod_uid(pod) for pod in self.stay}, self.stay)
        self.assertEqual(self.state(ODD), "Running")
        self.k("delete", TFJOB, GAP, ODD, "--cascade=foreground")

    def log_lines(self, message):
        log = self.kubectl("logs", "-l", taas.OPERATOR, "-n", taas.NAMESPACE, "--tail=-1")
        return "\n".join(line for line in log.splitlines() if f'"{message}"' in line)

    def check_taken_over(self):
        # Each has a service of its name.
        self.wait_for("our labels on what is at work",
                      lambda: AT_WORK <= self.labelled() and self.services_labelled())
        self.wait_for("the end of the refusals",
                      lambda: not any(self.refused(job) for job in STATES))
        self.check_undisturbed()
        self.assertEqual(self.metric("taas_tfjobs_of_another_controller"), 0)

    def services_labelled(self):
        names = self.k("get", "services", "-l", "taas.dev/job-name", "-o", "name").split()
        return {f"service/{name}" for name in AT_WORK} <= set(names)

    def check_handed_over(self):
        definition = self.kubectl.json("get", "crd", TFJOB)
        notes = definition["metadata"]["annotations"]
        self.assertEqual(notes["meta.helm.sh/release-name"], taas.RELEASE)
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        self.assertIn("state", schema["properties"]["status"]["properties"])
        # Of the old one's schema nothing is left.
        replica = schema["properties"]["spec"]["properties"]["tfReplicaSpecs"]
        pod = replica["additionalProperties"]["properties"]["template"]["properties"]["spec"]
        self.assertEqual(set(pod["properties"]), {"containers"})
        self.check_undisturbed()

    def check_they_end_well(self):
        self.let_go("steady")
        self.let_go("partly")
        self.k("patch", TFJOB, "paused", "--type=merge", "-p",
               '{"spec": {"runPolicy": {"suspend": false}}}')
        for job in ("steady", "partly", "paused"):
            self.await_state(job, "Succeeded")
        self.assertEqual(self.states(), {**STATES, "steady": "Succeeded", "partly": "Succeeded",
                                         "paused": "Succeeded"})
        self.assertEqual(self.started(), sorted(REPLICAS | {"paused-worker-0"}))
        after = self.pods()
        for pod in ("steady-chief-0", "steady-worker-0", "steady-worker-1", "partly-worker-0"):
            self.assertEqual(after[pod], (self.before[pod][0], "Succeeded"))
        self.wait_for("the parameter server to be cleaned up",
                      lambda: "steady-ps-0" not in self.pods())
        self.assertEqual(self.status("steady", "tfjob")["state"], "Succeeded")

    def begin_under_taas(self, name):
        self.submit(tf_job(name, {"Chief": (1, WORK), "Worker": (1, WORK)}))
        self.await_state(name, "Running")
        self.wait_for("its replicas", lambda: self.started().count(f"{name}-chief-0") == 1 and
                      self.started().count(f"{name}-worker-0") == 1)
        return {pod: uid for pod, (uid, _) in self.pods().items() if pod.startswith(name)}

    def check_back(self, name, uids):
        """The old controller has a job of ours, and ends it."""
        self.let_go(name)
        self.await_state(name, "Succeeded")
        writers = [entry["manager"] for entry in self.k_fields(name)
                   if entry.get("subresource") == "status"]
        self.assertIn(peer.FIELD_MANAGER, writers)
        for pod in uids:
            self.assertEqual(self.started().count(pod), 1)
        chief = f"{name}-chief-0"
        self.assertEqual(self.pods()[chief], (uids[chief], "Succeeded"))

    def check_pytorch_job(self, name):
        """The other controller ends it."""
        self.let_go(name)
        self.k("wait", "pytorchjobs.kubeflow.org/" + name, "--for=condition=Succeeded",
               f"--timeout={LIMIT_S}s")

    def check_an_idle_one_is_noticed(self):
        """Without a TFJob nothing tells ours of the other one: both begin the first, and ours
        leaves it to the other as soon as that one writes its status."""
        self.k("delete", TFJOB, "--all", "--cascade=foreground")
        self.give_taas_tfjobs_too()
        self.submit(tf_job("first", {"Chief": (1, WORK), "Worker": (1, WORK)}))
        self.wait_for("the refusal", lambda: self.refused("first"))
        replicas = ["first-chief-0", "first-worker-0"]
        self.wait_for("both replicas", lambda: set(replicas) <= set(self.started()))
        self.let_go("first")
        self.await_state("first", "Succeeded")
        self.assertEqual([name for name in self.started() if name.startswith("first")], replicas)

    def check_rights(self):
        """What the operator asked for on the whole way, and what `operator.adopt` is for."""
        requests = audit.requests(self.cluster.plane.audit_log, taas.USER)
        granted = rights.of_release(self.kubectl)
        self.assertEqual(rights.uncovered(granted, requests), [], "asked for without a right")
        adopting = (rights.of_chart(self.kubectl, "--set", "operator.adopt=true") -
                    rights.of_chart(self.kubectl))
        self.assertTrue(adopting)
        self.assertEqual(rights.unused(adopting, requests), [], "granted and never needed")
        # Whoever was not told to adopt did not try.
        refused = [request for request in requests if not request.allowed and
                   any(right.covers(request) for right in adopting)]
        self.assertEqual(refused, [])

    def k_fields(self, name):
        return self.json("get", TFJOB, name, "--show-managed-fields")["metadata"]["managedFields"]

    def test_the_guide_leads_there_and_back_with_jobs_at_work(self):
        self.begin_under_the_old_controller()
        self.guide.follow("Before you begin")
        self.guide.follow("1. Install TaaS without TFJobs")
        self.assertNotIn(taas.RELEASE, self.k("get", "crd", TFJOB, "-o", "yaml"))
        self.check_undisturbed()
        self.check_kept_off()
        self.begin_what_will_fail()
        self.guide.follow("2. Stop the old controller")
        self.fail_while_nobody_looks()
        self.guide.follow("3. Take the jobs over")
        self.check_what_failed_goes_on()
        self.check_what_cannot_be_read_stays()
        self.check_taken_over()
        self.guide.follow("4. Hand the definition over")
        self.check_handed_over()
        self.guide.follow("5. Check")
        self.check_undisturbed()
        self.check_they_end_well()
        uids = self.begin_under_taas("returns")
        self.guide.follow("Back")
        peer.await_ready(self.kubectl)
        self.check_back("returns", uids)
        self.submit(tf_job("once-more", {"Worker": (1, STARTED)}))
        self.await_state("once-more", "Succeeded")
        self.submit(pytorch_job("torch-before"))
        self.guide.follow("Training-operator stays for other kinds")
        self.guide.follow("3. Take the jobs over")
        self.submit(pytorch_job("torch-after"))
        uids = self.begin_under_taas("beside")
        for name in ("torch-before", "torch-after"):
            self.check_pytorch_job(name)
        self.guide.follow("Back")
        self.guide.follow("Back from there")
        peer.await_ready(self.kubectl)
        self.check_back("beside", uids)
        self.check_an_idle_one_is_noticed()
        self.assertEqual(self.guide.left(), [])
        self.check_rights()
