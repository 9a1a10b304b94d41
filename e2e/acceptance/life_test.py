"""A job while it lives: suspended and resumed, scaled, deleted in each way, left to others."""

import copy
import re

from acceptance import Acceptance
from job_kinds import KINDS, TFJOB, of_both_kinds

ROLES = {"ps": 1, "worker": 2}
HOW = ("Foreground", "Background", "Orphan")


class SuspendTest(Acceptance):

    def test_a_suspended_job_has_no_pods_and_goes_on_when_it_is_resumed(self):
        jobs = [kind.job(f"{kind.short}-paused", ROLES, suspend=True, cleanPodPolicy="None")
                for kind in KINDS]
        self.start(*jobs)
        self.await_status({job: {"state": "Suspended", "startTime": None} for job in jobs})
        self.assertEqual(self.api.list("pods"), {})
        for job in jobs:
            self.change(job, suspend=False)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.end(job.pod("worker", 1), 0)
        self.await_status({job: {"replicaStatuses": lambda roles, job=job: roles[
            job.kind.role_key("worker")].get("succeeded") == 1} for job in jobs})
        began = {job: self.status_of(job)["startTime"] for job in jobs}
        for job in jobs:
            self.change(job, suspend=True)
        # Whatever cleanPodPolicy says.
        self.await_status({job: {"state": "Suspended"} for job in jobs})
        self.await_true("the pods to be gone", lambda: not self.api.list("pods"))
        self.check_conditions(jobs[1], ["Created", "Running", "Suspended"],
                              "TFJobSuspended", "TFJob tf-paused is suspended.")
        for job in jobs:
            self.change(job, suspend=False)
        self.await_running(*jobs, completed=1)
        self.check_conditions(jobs[1], ["Created", "Suspended", "Running"],
                              "TFJobRunning", f"TFJob {self.namespace}/tf-paused is running.")
        resumed = self.status_of(jobs[1])["conditions"][1]
        self.assertEqual((resumed["status"], resumed["reason"], resumed["message"]),
                         ("False", "TFJobResumed", "TFJob tf-paused is resumed."))
        for job in jobs:
            status = self.status_of(job)
            self.assertGreater(status["startTime"], began[job])
            self.assertEqual((status["attempt"], status.get("restarts", {})), (2, {}))
        # The worker that had completed has not run again.
        made = self.pods_made()
        for job in jobs:
            self.assertEqual([made[pod] for pod in job.pods()], [2, 2, 1], job.name)

    def check_conditions(self, job, types, reason, message):
        """Of a TFJob: in the order of their history."""
        conditions = self.status_of(job)["conditions"]
        self.assertEqual([condition["type"] for condition in conditions], types)
        last = conditions[-1]
        self.assertEqual((last["status"], last["reason"], last["message"]),
                         ("True", reason, message))

    def test_a_job_that_another_controller_manages_is_not_touched(self):
        others = TFJOB.job("elsewhere", {"worker": 1}, managedBy="kueue.x-k8s.io/multikueue")
        named = TFJOB.job("here", {"worker": 1}, managedBy="kubeflow.org/training-operator")
        self.start(others, named)
        # The later one was looked at, so the earlier one was too.
        self.await_running(named)
        self.change(others, suspend=True)
        self.change(others, suspend=False)
        later = self.start(TFJOB.job("later", {"worker": 1}))
        self.await_running(later)
        self.assertNotIn("status", self.stored(others))
        self.assertEqual(set(self.left()), {"here", "later"})
        self.assertEqual(set(self.api.list("services")), {"here-worker-0", "later-worker-0"})


class ScaleTest(Acceptance):

    def test_workers_come_and_go_while_the_others_run_on(self):
        jobs = [kind.job(f"{kind.short}-scaled", ROLES) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        stay = self.uids(*(job.pod(role) for job in jobs for role in ("ps", "worker")))
        # As users do it, where there is a scale subresource.
        self.k("scale", f"tj/{jobs[0].name}", "--replicas=4")
        self.scale(jobs[1], "worker", 4)
        self.await_status({job: {"state": "Running", "ready": "5/5"} for job in jobs})
        for job in jobs:
            self.assertIn(job.pod("worker", 3), self.variables(job.pod("worker", 3))["TF_CONFIG"])
        self.k("scale", f"tj/{jobs[0].name}", "--replicas=1")
        self.scale(jobs[1], "worker", 1)
        self.await_pods_left({job: [job.pod("ps"), job.pod("worker")] for job in jobs})
        self.await_status({job: {"state": "Running", "ready": "2/2", "restarts": {}}
                           for job in jobs})
        self.assertEqual(self.uids(*stay), stay)
        services = {jobs[0].name, jobs[1].pod("ps"), jobs[1].pod("worker")}
        self.await_true("the services to go with the pods",
                        lambda: set(self.api.list("services")) == services)


class DeletionTest(Acceptance):

    def test_a_job_goes_as_it_is_deleted_and_nothing_is_made_meanwhile(self):
        jobs = {kind.job(f"{kind.short}-{how.lower()}", ROLES): how
                for kind, how in of_both_kinds(*HOW)}
        self.start(*jobs)
        self.await_running(*jobs)
        orphaned = [job.name for job, how in jobs.items() if how == "Orphan"]
        orphans = {key: item for key, item in self.objects().items()
                   if item["metadata"]["labels"]["taas.dev/job-name"] in orphaned}
        # Three pods each, and one service or three.
        self.assertEqual(len(orphans), 3 + 1 + 3 + 3)
        for job, how in jobs.items():
            self.api.delete(job.kind.resource, job.name, propagationPolicy=how)
        self.await_true("the jobs to be gone", lambda: not any(
            self.api.list(kind.resource) for kind in KINDS))
        self.await_true("all but the orphans to be gone",
                        lambda: set(self.objects()) == set(orphans))
        for key, item in self.objects().items():
            self.assertEqual(item["metadata"]["uid"], orphans[key]["metadata"]["uid"])
            self.assertNotIn("ownerReferences", item["metadata"])
        made = self.pods_made()
        self.assertEqual(set(made.values()), {1}, made)

    def test_orphans_of_an_earlier_job_are_told_of_and_never_touched(self):
        jobs = [kind.job(f"{kind.short}-again", ROLES) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.api.delete(job.kind.resource, job.name, propagationPolicy="Orphan")
        self.await_true("the jobs to be gone", lambda: not any(
            self.api.list(kind.resource) for kind in KINDS))
        before = self.versions()
        self.start(*jobs)
        self.await_status({jobs[0]: {"message": re.compile(
            r"the service tj-again does not belong to this job \(owner: none\).*delete it")},
            jobs[1]: {"message": re.compile(
                r"the pod tf-again-\S+ does not belong to this job \(owner: none\).*delete it")}})
        self.assertEqual(self.versions(), before)
        # As the message says.
        for resource, name in before:
            self.api.delete(resource, name)
        self.await_running(*jobs)

    def versions(self):
        return {key: (item["metadata"]["uid"], item["metadata"]["resourceVersion"])
                for key, item in self.objects().items()}

    def test_a_pod_of_somebody_else_under_our_name_is_told_of_and_never_touched(self):
        owner = self.api.create("configmaps", {"metadata": {"name": "somebody"}})["metadata"]
        jobs = [kind.job(f"{kind.short}-taken", ROLES) for kind in KINDS]
        for job in jobs:
            spec = job.manifest["spec"][job.kind.roles_field()][job.kind.role_key("worker")]
            pod = copy.deepcopy(spec["template"])
            pod["metadata"].update(name=job.pod("worker", 1), ownerReferences=[{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "somebody",
                "uid": owner["uid"], "controller": True}])
            self.api.create("pods", pod)
        self.await_pods(*(job.pod("worker", 1) for job in jobs))
        theirs = self.uids(*(job.pod("worker", 1) for job in jobs))
        self.start(*jobs)
        self.await_status({job: {"ready": "2/3", "message": re.compile(
            f"^worker-1 cannot be made: the pod {job.pod('worker', 1)} does not belong to this "
            rf"job \(owner: ConfigMap, uid {owner['uid']}\); delete it or rename the job")}
            for job in jobs})
        self.assertEqual(self.uids(*theirs), theirs)
        for job in jobs:
            self.api.delete(job.kind.resource, job.name)
        # The garbage collector goes by owners too.
        self.await_true("the end of ours", lambda: set(self.api.list("pods")) == set(theirs))
        self.assertEqual(self.uids(*theirs), theirs)


class TroubleTest(Acceptance):

    def test_an_image_that_cannot_be_pulled_stands_in_the_message(self):
        jobs = [kind.job(f"{kind.short}-pull", ROLES) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        for job in jobs:
            self.kubelet.hold_up(job.pod("worker", 1), "ImagePullBackOff",
                                 'Back-off pulling image "example.org/own-image:1"')
        self.await_status({job: {"ready": "2/3", "message": re.compile(
            '^worker-1 cannot start: ImagePullBackOff: Back-off pulling image "example.org/')}
            for job in jobs})


class EventsTest(Acceptance):

    MADE = {"PodsCreated", "SuccessfulCreatePod", "SuccessfulCreateService"}

    def test_the_creation_of_forty_pods_is_told_in_five_events_at_most(self):
        jobs = [kind.job(f"{kind.short}-many", {"worker": 40}) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        events = self.api.list("events").values()
        for job in jobs:
            told = [event for event in events if event["reason"] in self.MADE
                    and event["involvedObject"]["name"] == job.name]
            self.assertIn(len(told), range(1, 6), told)
            self.assertEqual({event["count"] for event in told}, {1})
