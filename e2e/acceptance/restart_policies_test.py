"""Which ends of a container bring its replica a new pod, which its node mends, and which fail the
job: policies, exit codes and what is counted."""

import collections
import re

from acceptance import Acceptance
from job_kinds import TFJOB, TRAINING_JOB, of_both_kinds

# Of the replica that decides: the job need not wait for the others any more.
LONG_AGO_S = 60

# What becomes of ps-0 when its container ends: what its node is told, how many pods it has had in
# the end, how the job ends once worker 0 has completed, and what the job counts.
Policy = collections.namedtuple("Policy", "policy code node_policy pods outcome restarts")
POLICIES = (
    Policy("Always", 0, "Always", 1, "Succeeded", {}),
    Policy("Always", 1, "Always", 1, "Succeeded", {"userError": 1}),
    Policy("OnFailure", 0, "OnFailure", 1, "Succeeded", {}),
    Policy("OnFailure", 1, "OnFailure", 1, "Succeeded", {"userError": 1}),
    Policy("Never", 0, "Never", 1, "Succeeded", {}),
    Policy("Never", 1, "Never", 1, "Failed", {}),
    Policy("ExitCode", 1, "Never", 1, "Failed", {}),
    Policy("ExitCode", 130, "Never", 2, "Succeeded", {"killed": 1}),
)

# Of restartPolicy ExitCode: what each code that is retried counts as, and those that are not.
ExitCodes = collections.namedtuple("ExitCodes", "name kind written retried permanent")
EXIT_CODES = (
    ExitCodes("tfjob", TFJOB, {},
              {128: "userError", 130: "killed", 134: "userError", 137: "killed",
               138: "userError", 139: "userError", 143: "killed", 255: "userError"},
              (1, 2, 3, 126, 127)),
    ExitCodes("signals", TRAINING_JOB, {},
              {130: "killed", 137: "killed", 138: "userError", 143: "killed"},
              (1, 2, 3, 126, 127, 128, 129, 134, 139, 255)),
    ExitCodes("at-least-128", TRAINING_JOB, {"preset": "AtLeast128"},
              {128: "userError", 137: "killed", 138: "userError", 139: "userError"},
              (1, 127)),
    ExitCodes("lists", TRAINING_JOB, {"retryable": [3, 42, 139], "permanent": [137]},
              {3: "badNode", 42: "userError", 139: "userError", 143: "killed"},
              (1, 137)),
)

# Failures of worker 0 with backoffLimit: after how many the job fails (none: it goes on), how many
# pods there have been then, and what is counted.
Backoff = collections.namedtuple("Backoff", "kind policy limit code failures pods restarts")
BACKOFFS = (
    # A TrainingJob fails as a batch Job when it would need one more, a TFJob when it has as many.
    Backoff(TRAINING_JOB, "ExitCode", 2, 138, 3, 3, {"userError": 2}),
    Backoff(TFJOB, "ExitCode", 2, 138, 2, 2, {"userError": 1}),
    Backoff(TFJOB, "ExitCode", 2, 137, 2, 2, {"killed": 1}),
    Backoff(TRAINING_JOB, "ExitCode", 0, 138, 1, 1, {}),
    Backoff(TFJOB, "ExitCode", 0, 138, 1, 1, {}),
    Backoff(TRAINING_JOB, "OnFailure", 2, 1, 3, 1, {"userError": 2}),
    Backoff(TFJOB, "OnFailure", 2, 1, 2, 1, {"userError": 1}),
    # A program that was killed has not erred.
    Backoff(TRAINING_JOB, "ExitCode", 0, 137, None, 4, {"killed": 3}),
)
BACKOFF_ROUNDS = 3


class RestartPoliciesTest(Acceptance):

    def test_each_restart_policy_of_both_kinds(self):
        cases = {kind.job(f"{kind.short}-{case.policy.lower()}-{case.code}",
                          {"ps": 1, "worker": 2}, {"ps": case.policy}): case
                 for kind, case in of_both_kinds(*POLICIES)}
        self.start(*cases)
        self.await_running(*cases)
        pods = self.api.list("pods")
        replaced = {}
        for job, case in cases.items():
            pod = pods[job.pod("ps")]
            self.assertEqual(pod["spec"]["restartPolicy"], case.node_policy, job.name)
            self.kubelet.end(job.pod("ps"), case.code)
            if case.pods > 1:
                replaced[job.pod("ps")] = pod["metadata"]["uid"]
        self.await_successors(replaced)
        for job, case in cases.items():
            if case.outcome == "Succeeded":
                self.kubelet.end(job.pod("worker"), 0, ago_s=LONG_AGO_S)
        self.await_status({job: {"state": case.outcome, "restarts": case.restarts}
                           for job, case in cases.items()})
        made = self.pods_made()
        for job, case in cases.items():
            with self.subTest(job.name):
                self.assertEqual(made[job.pod("ps")], case.pods)
                if job.kind is TFJOB:
                    self.assertEqual(self.last_condition(job)["type"], case.outcome)

    def test_each_exit_code_by_preset_and_by_list(self):
        jobs = {}
        for rules in EXIT_CODES:
            extra = {"exitCodes": rules.written} if rules.written else {}
            for code in (*rules.retried, *rules.permanent):
                job = rules.kind.job(f"{rules.name}-{code}", {"worker": 1}, "ExitCode",
                                     extra=extra)
                jobs[job] = (code, rules.retried.get(code))
        self.start(*jobs)
        self.await_running(*jobs)
        before = self.uids(*(job.pod("worker") for job in jobs))
        for job, (code, _) in jobs.items():
            self.kubelet.end(job.pod("worker"), code)
        retried = [job for job, (_, cause) in jobs.items() if cause]
        self.await_successors({job.pod("worker"): before[job.pod("worker")] for job in retried})
        for job in retried:
            self.kubelet.end(job.pod("worker"), 0, ago_s=LONG_AGO_S)
        self.await_status({job: (
            {"state": "Succeeded", "restarts": {cause: 1}} if cause else
            {"state": "Failed", "restarts": {}, "message": re.compile(rf"exit code {code}\b")}
        ) for job, (code, cause) in jobs.items()})
        made = self.pods_made()
        self.assertEqual({job.name: made[job.pod("worker")] for job in jobs},
                         {job.name: 2 if cause else 1 for job, (_, cause) in jobs.items()})

    def test_out_of_memory_is_counted_and_told_whoever_starts_the_container_again(self):
        jobs = {kind.job(f"{kind.short}-{policy.lower()}", {"worker": 1}, policy): policy
                for kind, policy in of_both_kinds("ExitCode", "OnFailure")}
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("worker"), 137, reason="OOMKilled")
        self.await_status({job: {"state": "Running", "restarts": {"outOfMemory": 1}}
                           for job in jobs})
        for job in jobs:
            last = self.status_of(job)["history"][-1]
            self.assertEqual((last["cause"], last["exitCode"], last["message"]),
                             ("outOfMemory", 137, "exit code 137 (OOMKilled)"))
        made = self.pods_made()
        self.assertEqual({job.name: made[job.pod("worker")] for job in jobs},
                         {job.name: 2 if policy == "ExitCode" else 1
                          for job, policy in jobs.items()})

    def test_backoff_limit_counts_pods_that_were_made_again(self):
        jobs = {case.kind.job(f"{case.kind.short}-{case.policy.lower()}-{case.code}-{case.limit}",
                              {"worker": 1}, case.policy, backoffLimit=case.limit): case
                for case in BACKOFFS}
        self.start(*jobs)
        self.await_running(*jobs)
        for number in range(1, BACKOFF_ROUNDS + 1):
            failing = {job: case for job, case in jobs.items()
                       if case.failures is None or case.failures >= number}
            self.await_true(f"failing pods number {number}", lambda wanted=number, some=failing:
                            all(self.has_pod(job, case, wanted) for job, case in some.items()))
            for job, case in failing.items():
                self.kubelet.end(job.pod("worker"), case.code)
        self.await_status({job: {"restarts": case.restarts,
                                 "state": "Failed" if case.failures else "Running"}
                           for job, case in jobs.items()})
        made = self.pods_made()
        for job, case in jobs.items():
            with self.subTest(job.name):
                self.assertEqual(made[job.pod("worker")], case.pods)
                if case.failures is not None:
                    self.check_told(job, case)

    def has_pod(self, job, case, number):
        pod = self.api.get("pods", job.pod("worker"))
        if pod is None or pod["status"].get("phase") != "Running":
            return False
        if case.policy == "ExitCode":
            return pod["metadata"]["labels"]["taas.dev/pod-number"] == str(number)
        return pod["status"]["containerStatuses"][0]["restartCount"] == number - 1

    def check_told(self, job, case):
        failed = self.last_condition(job)
        if job.kind is TFJOB:
            self.assertEqual((failed["type"], failed["reason"]), ("Failed", "TFJobFailed"))
            self.assertRegex(failed["message"],
                f"^Job {job.name} has failed because it has reached the specified backoff limit: "
                f".*worker-0 failed.*backoffLimit is {case.limit}: exit code")
        else:
            self.assertEqual((failed["type"], failed["reason"]),
                             ("Failed", "BackoffLimitExceeded"))
            self.assertIn(f"backoffLimit is {case.limit}", failed["message"])
