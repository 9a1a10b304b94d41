"""The end of a job: whose completion it is, what it waits for, and what stays of its pods."""

import collections
import datetime
import json
import re

from acceptance import Acceptance, moment, now
from job_kinds import KINDS, TFJOB, TRAINING_JOB, of_both_kinds
from taas import LEDGER

LONG_AGO_S = 60
# Of those that wait for nothing when the job has what it was for.
GRACE_S = 10
EVALUATOR_GRACE_S = 600
# In the past as soon as the job has begun.
PAST_DEADLINE_S = 1

# Who is there, who has completed, and what the job is then.
Success = collections.namedtuple("Success", "name kind roles extra completed state")
CHIEF = {"chief": 1, "ps": 1, "worker": 2}
WORKERS = {"ps": 1, "worker": 2}
ALL_WORKERS = {"successPolicy": "AllWorkers"}
FIRST_WORKER = (("worker", 0),)
BOTH_WORKERS = (("worker", 0), ("worker", 1))
SUCCESSES = (
    *(Success("chief", kind, CHIEF, {}, (("chief", 0),), "Succeeded") for kind in KINDS),
    *(Success("not-chief", kind, CHIEF, {}, BOTH_WORKERS, "Running") for kind in KINDS),
    *(Success("worker-0", kind, WORKERS, {}, FIRST_WORKER, "Succeeded") for kind in KINDS),
    *(Success("worker-1", kind, WORKERS, {}, (("worker", 1),), "Running") for kind in KINDS),
    *(Success("all", kind, WORKERS, ALL_WORKERS, BOTH_WORKERS, "Succeeded") for kind in KINDS),
    *(Success("not-all", kind, WORKERS, ALL_WORKERS, FIRST_WORKER, "Running") for kind in KINDS),
    # A master is a chief by another name.
    Success("master", TFJOB, {"master": 1, "worker": 1}, {}, (("master", 0),), "Succeeded"),
    # Where there is a chief, its completion is a TFJob's whatever the policy says.
    Success("chief-of-all", TFJOB, CHIEF, ALL_WORKERS, (("chief", 0),), "Succeeded"),
    Success("chief-and-all", TRAINING_JOB, CHIEF, ALL_WORKERS, (("chief", 0),), "Running"),
    Success("worker-0-of-chief", TRAINING_JOB, CHIEF, {"successPolicy": "Worker0"},
            FIRST_WORKER, "Succeeded"),
)

# What is left of ps-0, which runs, of worker-1, which has completed, and of worker-0, by whose
# completion or failure the job ends, if it does not end by its deadline.
PS, ENDING, COMPLETED = "ps-0", "worker-0", "worker-1"
LEFT = {
    ("All", "Succeeded"): (),
    ("All", "Failed"): (),
    ("All", "deadline"): (),
    ("Running", "Succeeded"): (ENDING, COMPLETED),
    ("Running", "Failed"): (ENDING, COMPLETED),
    ("Running", "deadline"): (COMPLETED,),
    ("None", "Succeeded"): (PS, ENDING, COMPLETED),
    ("None", "Failed"): (PS, ENDING, COMPLETED),
    # A deadline that left everything running would be none.
    ("None", "deadline"): (COMPLETED,),
}


def completed(roles):
    return sum(role.get("succeeded", 0) for role in roles.values())


class EndsTest(Acceptance):

    def test_whose_completion_is_the_jobs(self):
        jobs = {case.kind.job(f"{case.kind.short}-{case.name}", case.roles, extra=case.extra): case
                for case in SUCCESSES}
        self.start(*jobs)
        self.await_running(*jobs)
        for job, case in jobs.items():
            for role, index in case.completed:
                self.kubelet.end(job.pod(role, index), 0, ago_s=LONG_AGO_S)
        # What is still Running is so although the operator knows of all that have completed.
        self.await_status({job: {"state": case.state, "replicaStatuses": lambda roles, case=case:
                                 completed(roles) == len(case.completed)}
                           for job, case in jobs.items()})
        for job in jobs:
            if job.kind is TFJOB:
                with self.subTest(job.name):
                    self.assertEqual(self.last_condition(job)["type"], jobs[job].state)

    def test_a_worker_that_fails_after_the_end_does_not_change_it(self):
        jobs = [kind.job(f"{kind.short}-over", CHIEF, cleanPodPolicy="None") for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("chief"), 0, ago_s=LONG_AGO_S)
        self.await_status({job: {"state": "Succeeded"} for job in jobs})
        for job in jobs:
            self.kubelet.end(job.pod("worker"), 1)
        self.await_status({job: {"state": "Succeeded", "replicaStatuses": lambda roles, job=job:
                                 roles[job.kind.role_key("worker")]["active"] == 1}
                           for job in jobs})
        for job in jobs:
            conditions = self.status_of(job)["conditions"]
            self.assertNotIn("Failed", [condition["type"] for condition in conditions])

    def test_clean_pod_policy_says_what_stays_after_each_end(self):
        jobs = {kind.job(f"{kind.short}-{policy.lower()}-{end.lower()}", WORKERS,
                         cleanPodPolicy=policy): (policy, end)
                for kind, (policy, end) in of_both_kinds(*LEFT)}
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("worker", 1), 0)
        self.await_status({job: {"replicaStatuses": lambda roles: completed(roles) == 1}
                           for job in jobs})
        for job, (_, end) in jobs.items():
            if end == "deadline":
                self.change(job, activeDeadlineSeconds=PAST_DEADLINE_S)
            else:
                self.kubelet.end(job.pod("worker"), 0 if end == "Succeeded" else 1,
                                 ago_s=LONG_AGO_S)
        self.await_status({job: {"state": "Succeeded" if end == "Succeeded" else "Failed"}
                           for job, (_, end) in jobs.items()})
        wanted = {job: [f"{job.name}-{replica}" for replica in LEFT[case]]
                  for job, case in jobs.items()}
        self.await_pods_left(wanted)
        # Of a TFJob the services go with the pods.
        services = {name for job, names in wanted.items()
                    for name in (names if job.kind is TFJOB else [job.name])}
        self.await_true("the services to go",
                        lambda: set(self.api.list("services")) == services)

    def test_an_evaluator_that_does_not_end_is_waited_for_ten_minutes(self):
        roles = {"chief": 1, "worker": 1, "evaluator": 1}
        jobs = [kind.job(f"{kind.short}-stuck", roles, cleanPodPolicy="Running") for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("chief"), 0)
        for job in jobs:
            self.make_it_long_ago(job)
        self.await_status({job: {"state": "Succeeded"} for job in jobs})
        # A TFJob's conditions have the words that its tools know.
        of_it = f"did not end within {EVALUATOR_GRACE_S // 60} minutes"
        self.assertIn(of_it, self.last_condition(jobs[KINDS.index(TRAINING_JOB)])["message"])
        self.await_pods_left({job: [job.pod("chief")] for job in jobs})

    def make_it_long_ago(self, job):
        """That it has had what it was for, in its ledger: times of kubelets are not trusted so."""
        ledger = self.await_true(f"the end of {job.name}'s training in its ledger",
                                 lambda: self.finishing(job))
        since = moment(ledger["finishingSince"]) - datetime.timedelta(seconds=EVALUATOR_GRACE_S)
        ledger["finishingSince"] = since.isoformat().replace("+00:00", "Z")
        self.api.patch(job.kind.resource, job.name,
                       {"metadata": {"annotations": {LEDGER: json.dumps(ledger)}}})

    def finishing(self, job):
        ledger = json.loads(self.stored(job)["metadata"].get("annotations", {}).get(LEDGER, "{}"))
        return ledger if "finishingSince" in ledger else None

    def test_others_have_ten_seconds_to_end_and_the_evaluator_as_long_as_it_needs(self):
        roles = {"chief": 1, "ps": 1, "worker": 1, "evaluator": 1}
        jobs = [kind.job(f"{kind.short}-evaluated", roles, cleanPodPolicy="Running")
                for kind in KINDS]
        # Without an evaluator nobody is waited for.
        plain = [kind.job(f"{kind.short}-plain", CHIEF, cleanPodPolicy="Running")
                 for kind in KINDS]
        self.start(*jobs, *plain)
        self.await_running(*jobs, *plain)
        for job in (*jobs, *plain):
            self.kubelet.end(job.pod("chief"), 0)
        # A TFJob has ended by then, as its users know it; its evaluator has its time all the same.
        during = {TRAINING_JOB: {"state": "Running", "message": re.compile(
            "training is done; evaluator-0 still evaluates the last checkpoint")},
                  TFJOB: {"state": "Succeeded"}}
        self.await_status({job: during[job.kind] for job in jobs})
        self.await_pods_left({job: [job.pod("chief"), job.pod("evaluator")] for job in jobs})
        for job in jobs:
            chief = self.api.get("pods", job.pod("chief"))["status"]["containerStatuses"][0]
            ended = moment(chief["state"]["terminated"]["finishedAt"])
            self.assertGreaterEqual((now() - ended).total_seconds(), GRACE_S)
        self.await_status({job: {"state": "Succeeded"} for job in plain})
        self.await_status({job: {"state": during[job.kind]["state"]} for job in jobs})
        for job in jobs:
            self.kubelet.end(job.pod("evaluator"), 0)
        self.await_status({job: {"state": "Succeeded"} for job in jobs})
        made = self.pods_made()
        self.assertEqual({name: made[name] for job in jobs for name in job.pods()},
                         {name: 1 for job in jobs for name in job.pods()})
