"""Jobs that the API server refuses, with the field that is wrong, and manifests of earlier days
that it takes."""

import copy
import re

from acceptance import Acceptance
from job_kinds import KINDS, TFJOB, TRAINING_JOB, pod_template
from namespace_api import Refused

INVALID, UNDECODABLE = 422, 400
LONG_AGO_S = 60
RETRYABLE = 138
# With "-worker-0" it has the 63 characters that a pod's name may have; "-worker-10" is too long.
LONGEST_NAME = "a" * 54


def tfjob_with(**spec):
    def change(manifest):
        manifest["spec"].update(spec)
    return change


def worker_with(field, **values):
    """A change of the first worker's template or, by field, of something in it."""
    def change(manifest):
        roles = manifest["spec"].get("tfReplicaSpecs") or manifest["spec"]["roles"]
        worker = roles.get("Worker") or roles["worker"]
        part = {"role": worker, "pod": worker["template"]["spec"],
                "container": worker["template"]["spec"]["containers"][0]}[field]
        part.update(values)
    return change


def named(name):
    def change(manifest):
        manifest["metadata"]["name"] = name
    return change


def chief_and_master(manifest):
    roles = manifest["spec"]["tfReplicaSpecs"]
    roles["Chief"] = roles["Master"] = copy.deepcopy(roles["Worker"])


def without_roles(manifest):
    manifest["spec"].pop("tfReplicaSpecs", None)
    manifest["spec"].pop("roles", None)


TOO_LONG = "the name is too long for pods NAME-ROLE-N, which have at most 63 characters"
# A word for the case, what is done to a job that is right, the code, and what the answer says.
BOTH_REFUSE = (
    ("name", named("0-mnist.old"), INVALID, "metadata.name"),
    ("no roles", without_roles, INVALID, "Required value"),
    ("empty image", worker_with("container", image=""), INVALID, "image"),
    ("policy", worker_with("role", restartPolicy="Sometimes"), INVALID, "Sometimes"),
    ("negative replicas", worker_with("role", replicas=-1), INVALID, "replicas"),
    ("unknown field", tfjob_with(notTheActualField={}), UNDECODABLE, "spec.notTheActualField"),
    ("long name", named("a" * 55), INVALID, TOO_LONG),
)
TFJOB_REFUSES = (
    ("no containers", worker_with("pod", containers=[]), INVALID,
     "spec.tfReplicaSpecs.Worker.template.spec.containers"),
    ("no tensorflow", worker_with("container", name="main"), INVALID,
     "must have a container named tensorflow"),
    ("chief and master", chief_and_master, INVALID, "more than 1 Chief or Master"),
    ("managed by", tfjob_with(runPolicy={"managedBy": "example.org/mine"}), INVALID,
     "runPolicy.managedBy"),
)
TRAINING_JOB_REFUSES = (
    ("no containers", worker_with("pod", containers=[]), INVALID,
     "a container named trainer, or only one, is needed"),
    ("two containers", worker_with("pod", containers=[
        {"name": name, "image": "example.org/own:1"} for name in ("a", "b")]), INVALID,
     "a container named trainer, or only one, is needed"),
    ("managed by", tfjob_with(managedBy="example.org/mine"), UNDECODABLE, "spec.managedBy"),
)


class RefusedJobsTest(Acceptance):

    def test_a_wrong_job_is_refused_with_what_is_wrong(self):
        for kind, cases in ((TFJOB, BOTH_REFUSE + TFJOB_REFUSES),
                            (TRAINING_JOB, BOTH_REFUSE + TRAINING_JOB_REFUSES)):
            for word, change, code, said in cases:
                with self.subTest(f"{kind.name}: {word}"):
                    manifest = copy.deepcopy(kind.job("mnist", {"ps": 1, "worker": 2}).manifest)
                    change(manifest)
                    with self.assertRaises(Refused) as refused:
                        self.api.create(kind.resource, manifest)
                    self.assertEqual(refused.exception.code, code)
                    self.assertIn(said, refused.exception.message)
        self.assertEqual([self.api.list(kind.resource) for kind in KINDS], [{}, {}])

    def test_a_wrong_change_is_refused_and_the_job_runs_on(self):
        jobs = {kind: kind.job(LONGEST_NAME if kind is TFJOB else "b" * 54,
                               {"ps": 1, "worker": 2}) for kind in KINDS}
        self.start(*jobs.values())
        self.await_running(*jobs.values())
        for job in jobs.values():
            with self.assertRaisesRegex(Refused, re.escape(TOO_LONG)):
                self.scale(job, "worker", 11)
        evaluator = {"template": pod_template("tensorflow")}
        for kind, spec, said in (
                (TFJOB, {"tfReplicaSpecs": {"Evaluator": evaluator}}, "may not come or go"),
                (TFJOB, {"runPolicy": {"managedBy": "kubeflow.org/training-operator"}},
                 "may not change while the job exists"),
                (TRAINING_JOB, {"roles": {"ps": {"replicas": 2}}},
                 "may change only while it is suspended"),
                (TRAINING_JOB, {"backoffLimit": 1}, "may change only while the job is suspended")):
            with self.subTest(said), self.assertRaisesRegex(Refused, said):
                self.api.patch(kind.resource, jobs[kind].name, {"spec": spec})
        for job in jobs.values():
            self.scale(job, "worker", 3)
        self.await_status({job: {"state": "Running", "ready": "4/4", "restarts": {}}
                           for job in jobs.values()})


class FlatFieldsTest(Acceptance):

    def test_policies_that_stand_flat_in_spec_count_unless_run_policy_says_otherwise(self):
        def flat(name, policy="Never", run_policy=None, **fields):
            return TFJOB.job(name, {"worker": 2}, policy, extra=fields, **(run_policy or {}))

        clean = flat("clean", cleanPodPolicy="All")
        both = flat("both", cleanPodPolicy="All", run_policy={"cleanPodPolicy": "None"})
        limit = flat("limit", "ExitCode", backoffLimit=1)
        late = flat("late", activeDeadlineSeconds=3600)
        short = flat("short", ttlSecondsAfterFinished=0)
        jobs = (clean, both, limit, late, short)
        self.start(*jobs)
        self.await_running(*jobs)
        for job in (clean, both, short):
            self.kubelet.end(job.pod("worker"), 0, ago_s=LONG_AGO_S)
        self.kubelet.end(limit.pod("worker"), RETRYABLE)
        self.api.patch("tfjobs", late.name, {"spec": {"activeDeadlineSeconds": 1}})
        self.await_status({
            clean: {"state": "Succeeded"},
            both: {"state": "Succeeded"},
            limit: {"state": "Failed", "message": re.compile("backoffLimit is 1")},
            late: {"state": "Failed", "message": re.compile("activeDeadlineSeconds")},
        })
        self.await_true("the end of the job with no time to live", lambda:
                        "short" not in self.api.list("tfjobs"))
        self.await_pods_left({clean: [], both: both.pods()})
